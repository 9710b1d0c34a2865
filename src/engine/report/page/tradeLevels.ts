// The levels of trades on the chart: the stop in force at the open of each bar, trailing and break-even included, and
// the targets.
import { exitReasonOf } from '../../definitions/exitReasons/exitReasons.ts';
import type { RiskRules, ValueSource } from '../../evaluate/tradingRules.ts';
import { bindLevels, type BoundLevel } from '../../simulate/boundLevels.ts';
import type { Trade } from '../../simulate/trade.ts';
import type { SimulationInput } from '../../simulate/simulation.ts';

/** Corners of all lines together: 16 bytes each. */
const MOST_CORNERS = 20_000;

/** One position. Rows are those of its bars. */
export interface PositionLevels {
  readonly entryRow: number;
  readonly exitRow: number;
  /** From each row on, the stop; empty without one. */
  readonly stops: readonly { readonly row: number; readonly price: number }[];
  /** One per take-profit whose price was known. */
  readonly targets: readonly number[];
}

/**
 * The levels of positions, by the index of their last trade; of very many, those of the newest.
 * @param trades all closing fills of an instrument, in order; `from`: the first that the page shows
 */
export function tradeLevels(
  input: Pick<SimulationInput, 'bars' | 'risk'>,
  trades: readonly (readonly [index: number, trade: Trade])[],
  from: number,
  budget = { corners: MOST_CORNERS },
): ReadonlyMap<number, PositionLevels> {
  const found = new Map<number, PositionLevels>();
  const { stopLoss, takeProfits, trailingStop, breakeven } = input.risk;
  if (stopLoss === null && takeProfits.length === 0 && trailingStop === null && breakeven === null) return found;
  const fills = Map.groupBy(trades, ([, { positionId }]) => positionId);
  for (const parts of [...fills.values()].reverse()) {
    const [last] = parts[parts.length - 1];
    if (last < from || budget.corners <= 0) continue;
    const levels = levelsOf(
      input,
      parts.map(([, trade]) => trade),
    );
    budget.corners -= levels.stops.length + levels.targets.length;
    if (levels.stops.length > 0 || levels.targets.length > 0) found.set(last, levels);
  }
  return found;
}

/** Semantics §2.4 and §3.4, on whole bars: a stop that a bar has moved is in force from the next one. */
function levelsOf({ bars, risk }: Pick<SimulationInput, 'bars' | 'risk'>, fills: readonly Trade[]): PositionLevels {
  const [{ side, entryRow, entryPrice, entryDecisionRow, initialRisk }] = fills;
  const { exitRow } = fills[fills.length - 1];
  const { stop, targets, trail } = bindLevels(risk);
  const read = (level: BoundLevel): number => (level.isRead ? valueAt(level, entryDecisionRow) : level.number);
  const trailing =
    trail === null ? null : { factor: trail.factor(side, read(trail)), offset: trail.offset(read(trail)) };
  const startsAt = (percent: number | null): number =>
    percent === null ? -Infinity : side * entryPrice * (1 + (side * percent) / 100);
  const trailFrom = startsAt(trail?.activateAfterPercent ?? null);
  const breakeven = risk.breakeven;
  // Signed: a short is a long with the sign of every price flipped.
  let fixed = initialRisk === null ? -Infinity : side * entryPrice - initialRisk;
  let best = side * entryPrice;
  const stops: { row: number; price: number }[] = [];
  const moveTo = (row: number, signed: number): void => {
    if (signed > -Infinity && !Number.isNaN(signed) && !(stops.at(-1)?.price === side * signed))
      stops.push({ row, price: side * signed });
  };
  for (let row = entryRow; row <= exitRow; row++) {
    let tightest = fixed;
    if (trailing !== null && best >= trailFrom) tightest = Math.max(tightest, best * trailing.factor - trailing.offset);
    if (breakeven !== null && best >= startsAt(breakeven.activateAfterPercent))
      tightest = Math.max(tightest, startsAt(breakeven.offsetPercent));
    fixed = tightest;
    moveTo(row, tightest);
    best = Math.max(best, side > 0 ? bars.high[row] : -bars.low[row]);
    if (stop?.followsBars === true) fixed = Math.max(fixed, side * valueAt(stop, row) || -Infinity);
    if (fills.some((fill) => fill.exitRow === row && movesStop(fill, risk))) fixed = Math.max(fixed, side * entryPrice);
  }
  const prices = targets.map((target) => target.formula(entryPrice, side, read(target), initialRisk ?? NaN));
  return { entryRow, exitRow, stops, targets: prices.filter((price) => Number.isFinite(price)) };
}

const movesStop = ({ exitReason, exitRule }: Trade, { takeProfits }: RiskRules): boolean =>
  exitReasonOf(exitReason).names === 'target' && takeProfits[exitRule!].moveStopToBreakeven;

/** NaN: missing, or it reads the state of the account, which only the loop knows. */
function valueAt({ atr, number, source }: BoundLevel, row: number): number {
  if (atr !== null) return atr[row] * number;
  return source === null ? NaN : sourceAt(source, row);
}

const sourceAt = (source: ValueSource, row: number): number =>
  source.kind === 'constant' ? source.value : source.kind === 'column' ? source.values[row] : NaN;
