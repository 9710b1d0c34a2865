// Positions as columns. A position is the sum of the trade rows with one positionId (semantics §5.2).
import { lostIn } from '../kernels/compensatedSum.ts';
import { newIntegers } from '../kernels/sharedBuffer.ts';
import { TRADE, TRADE_WIDTH, type TradeLog } from '../simulate/tradeLog.ts';
import { ReusedColumn } from '../kernels/reusedColumn.ts';

/** Positions as columns, in order of their last exit. */
export interface Positions {
  readonly count: number;
  /** 1 or -1. */
  readonly side: Int32Array;
  readonly entryRule: Int32Array;
  readonly pnl: Float64Array;
  /** pnl / (quantity · entry price). */
  readonly returnPct: Float64Array;
  readonly barsHeld: Float64Array;
  /** Not above 0: the worst mark between entry and last exit, as a fraction of the entry price. */
  readonly maePct: Float64Array;
  readonly mfePct: Float64Array;
  /** pnl in units of the initial risk of the whole position; NaN without a stop. */
  readonly pnlR: Float64Array;
}

/** The sums over the rows of each position, in the order of their first rows. */
interface Parts {
  count: number;
  readonly lastTrade: Int32Array;
  readonly quantity: Float64Array;
  readonly lostQuantity: Float64Array;
  readonly pnl: Float64Array;
  readonly lostPnl: Float64Array;
  readonly maePct: Float64Array;
  readonly mfePct: Float64Array;
}

/** Columns that are written again for each run. */
const COLUMNS = Array.from({ length: 6 }, () => new ReusedColumn());

/**
 * The positions of a run; valid until the next call.
 * @param exitInstants the instant of each exit, where trades are of several instruments; null: their rows compare
 */
export function positionsOf(log: TradeLog, exitInstants: Int32Array | null = null): Positions {
  const positions = emptyPositions(log.length);
  if (writeTrades(log, positions)) return positions;
  const parts = addParts(log);
  const added = emptyPositions(parts.count);
  writeParts(parts, log, exitInstants, added);
  return added;
}

function emptyPositions(count: number): Positions {
  const [pnl, returnPct, barsHeld, maePct, mfePct, pnlR] = COLUMNS.map((column) => column.take(count));
  const side = newIntegers(count);
  const entryRule = newIntegers(count);
  return { count, side, entryRule, pnl, returnPct, barsHeld, maePct, mfePct, pnlR };
}

/**
 * Writes each trade as a position. This is right as long as every trade closes a position of its own, in the order of
 * their entries: there is nothing to add up. Returns false, and stops, at the first trade that does not.
 */
function writeTrades({ numbers, length }: TradeLog, positions: Positions): boolean {
  const { maePct, mfePct } = positions;
  let lastId = -Infinity;
  for (let index = 0, at = 0; index < length; index++, at += TRADE_WIDTH) {
    const id = numbers[at + TRADE.positionId];
    if (id <= lastId) return false;
    lastId = id;
    // Like a sum that begins with 0, which is never -0.
    writeRow(positions, index, numbers, at, 0 + numbers[at + TRADE.quantity], 0 + numbers[at + TRADE.pnl]);
    maePct[index] = numbers[at + TRADE.maePct];
    mfePct[index] = numbers[at + TRADE.mfePct];
  }
  return true;
}

function writeParts(parts: Parts, { numbers }: TradeLog, exitInstants: Int32Array | null, positions: Positions): void {
  const order = byLastExit(parts, (trade) => exitInstants?.[trade] ?? numbers[trade * TRADE_WIDTH + TRADE.exitRow]);
  for (let index = 0; index < parts.count; index++) {
    const part = order === null ? index : order[index];
    const quantity = parts.quantity[part] + parts.lostQuantity[part];
    const pnl = parts.pnl[part] + parts.lostPnl[part];
    writeRow(positions, index, numbers, parts.lastTrade[part] * TRADE_WIDTH, quantity, pnl);
    positions.maePct[index] = parts.maePct[part];
    positions.mfePct[index] = parts.mfePct[part];
  }
}

/** @param last where the last trade of the position is in `numbers` */
function writeRow(
  { side, entryRule, pnl, returnPct, barsHeld, pnlR }: Positions,
  index: number,
  numbers: Float64Array,
  last: number,
  quantity: number,
  profit: number,
): void {
  const risk = quantity * numbers[last + TRADE.initialRisk];
  side[index] = numbers[last + TRADE.side];
  entryRule[index] = numbers[last + TRADE.entryRule];
  pnl[index] = profit;
  returnPct[index] = profit / (quantity * numbers[last + TRADE.entryPrice]);
  barsHeld[index] = numbers[last + TRADE.exitRow] - numbers[last + TRADE.entryRow];
  pnlR[index] = risk > 0 ? profit / risk : NaN;
}

/** Adds up the rows of each position, compensated. */
function addParts({ numbers, length }: TradeLog): Parts {
  const column = (): Float64Array => new Float64Array(length);
  const parts: Parts = {
    count: 0,
    lastTrade: new Int32Array(length),
    quantity: column(),
    lostQuantity: column(),
    pnl: column(),
    lostPnl: column(),
    maePct: column(),
    mfePct: column(),
  };
  let highestId = 0;
  for (let at = 0; at < length * TRADE_WIDTH; at += TRADE_WIDTH) {
    if (numbers[at + TRADE.positionId] > highestId) highestId = numbers[at + TRADE.positionId];
  }
  /** One more than the index of the part of each position; 0: it has none yet. */
  const partOf = new Int32Array(highestId + 1);
  for (let trade = 0; trade < length; trade++) {
    const at = trade * TRADE_WIDTH;
    const id = numbers[at + TRADE.positionId];
    let part = partOf[id] - 1;
    if (part < 0) {
      part = parts.count++;
      partOf[id] = part + 1;
      parts.maePct[part] = Infinity;
      parts.mfePct[part] = -Infinity;
    }
    parts.lastTrade[part] = trade;
    addTo(parts.quantity, parts.lostQuantity, part, numbers[at + TRADE.quantity]);
    addTo(parts.pnl, parts.lostPnl, part, numbers[at + TRADE.pnl]);
    parts.maePct[part] = Math.min(parts.maePct[part], numbers[at + TRADE.maePct]);
    parts.mfePct[part] = Math.max(parts.mfePct[part], numbers[at + TRADE.mfePct]);
  }
  return parts;
}

/** Adds to the compensated sum at `index`. */
export function addTo(totals: Float64Array, lost: Float64Array, index: number, value: number): void {
  const total = totals[index];
  const next = total + value;
  lost[index] += lostIn(total, value, next);
  totals[index] = next;
}

/** The parts in order of their last exit, ties in their present order; null: they are in that order already. */
function byLastExit({ count, lastTrade }: Parts, exitOf: (trade: number) => number): Int32Array | null {
  const exitRow = (part: number): number => exitOf(lastTrade[part]);
  let isOrdered = true;
  for (let part = 1; part < count && isOrdered; part++) isOrdered = exitRow(part - 1) <= exitRow(part);
  if (isOrdered) return null;
  return Int32Array.from({ length: count }, (_, part) => part).sort((a, b) => exitRow(a) - exitRow(b) || a - b);
}
