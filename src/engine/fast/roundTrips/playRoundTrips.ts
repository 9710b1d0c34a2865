// Plays round trips, from an entry signal to an exit signal or a stop, in half the time of the general loop and with
// the same numbers (test/engine/fast/roundTrips.test.ts). Whatever is not a plain round trip is left to that loop:
// a touched target, a bar that moves the stop and touches it, a rejected or blocked order, an entry at the close of an
// exit, a liquidation, a signal at the last close.
import { endOfDataExit } from '../../definitions/exitReasons/endOfDataExit.ts';
import { signalExit } from '../../definitions/exitReasons/signalExit.ts';
import type { EntryRule } from '../../evaluate/tradingRules.ts';
import { hasBit, nextBit, setBits } from '../../kernels/bits.ts';
import { chargeFee } from '../../simulate/costs.ts';
import { sizeEntry } from '../../simulate/fills.ts';
import { trail } from '../../simulate/heldRows.ts';
import { closedRow, type Instant } from '../../simulate/instant.ts';
import { setLevels } from '../../simulate/levels.ts';
import { liquidationLevel } from '../../simulate/margin.ts';
import { NO_LEVELS } from '../../simulate/orders.ts';
import { hasMovingStop, resetPosition, stopAfter, type Position } from '../../simulate/position.ts';
import { ABOVE, BELOW, BEST, scanState, WORST } from '../../simulate/rowScan.ts';
import { atClose, atGap, atOpen, countBar, type Run } from '../../simulate/run.ts';
import { countSkippedSignals } from '../../simulate/signals.ts';
import { writeTrade } from '../../simulate/tradeRow.ts';

const SIGNAL = signalExit.reason;
const END_OF_DATA = endOfDataExit.reason;

/** The rules of a strategy that trades in round trips. */
export interface RoundTrips {
  readonly entry: EntryRule;
  /** Reused for each trip. */
  readonly position: Position;
  /** Whether it has a stop or targets. */
  readonly hasLevels: boolean;
  readonly isTrailing: boolean;
  readonly entryWords: Uint32Array;
  /** By priority, then listing; each closes the whole position. */
  readonly exits: readonly { readonly words: Uint32Array; readonly index: number }[];
  /** The closes at which any of them is true. */
  readonly exitWords: Uint32Array;
}

/**
 * Longer trips are left to the general loop too: where exits are rare, looking for one would take longer than the
 * trade.
 */
const MOST_ROWS = 4096;

/**
 * Plays round trips until one ends at `until` or later, or at the last close. Nothing is open at `from`, and all rows
 * of a trip lie before `limit`. Returns the row at which the general loop goes on, with nothing open or due.
 */
export function playRoundTrips(run: Run, trips: RoundTrips, from: number, until: number, limit: number): number {
  let row = from;
  while (row < until && !run.ledger.isOver) {
    const after = playRoundTrip(run, trips, row, limit);
    if (after === row) return row;
    row = after;
  }
  return row;
}

/** How the round trip being played ends. */
interface Exit {
  /** An exit signal (at the next open), the stop, or the last close of the run. */
  ending: typeof SIGNAL | 'stop' | typeof END_OF_DATA;
  row: number;
  /** Without slippage. */
  rawPrice: number;
}
/** One object, written again for each trip, so that a trip allocates nothing. */
const exit: Exit = { ending: SIGNAL, row: 0, rawPrice: NaN };
/** The entry order, as `sizeEntry` reads it. */
const order = { rule: 0, signalRow: 0, levels: NO_LEVELS };

/**
 * Plays the next round trip and returns the row of its exit, or the end of the run. Returns `row`, with nothing
 * changed, when the next trade is not a plain round trip.
 */
function playRoundTrip(run: Run, trips: RoundTrips, row: number, limit: number): number {
  if (!findEntry(run, trips, row, limit) || !findExit(run, trips, limit)) return row;
  const { ledger, entryFill } = run;
  const { position } = trips;
  const { side, entryRow, entryPrice, quantity } = position;
  const { entryOrderRole, exitOrderRole, riskOrderRole } = run.input.config.execution;
  const at = instantOf(run, position);

  const notional = quantity * entryPrice;
  const openBalance = ledger.balance - entryFill.fee;
  run.marks.flat(row, entryRow, ledger.balance);
  ledger.cashBase = openBalance - side * notional;
  ledger.netQuantity = side * quantity;
  run.marks.held(entryRow, exit.row, ledger);
  countSkippedSignals(run, entryRow, exit.row);

  // As `fillExit` does for a position that closes wholly.
  const exitPrice = run.slippedPrice(exit.rawPrice, side > 0 ? -1 : 1, closedRow(at));
  const entryFee = chargeFee(run.fees, quantity, entryPrice, entryOrderRole, NaN);
  const exitRole = exit.ending === 'stop' ? riskOrderRole : exitOrderRole;
  const exitFee = chargeFee(run.fees, quantity, exitPrice, exitRole, NaN);
  const gross = side * quantity * (exitPrice - entryPrice);
  ledger.balance = openBalance + (gross - exitFee);
  ledger.cashBase = ledger.balance;
  ledger.netQuantity = 0;
  if (!(ledger.balance > 0)) ledger.isOver = true;

  const isAtOpen = exit.ending !== END_OF_DATA && exit.rawPrice === run.bars.open[exit.row];
  setBits(run.inPosition, entryRow - run.input.start, exit.row - run.input.start + (isAtOpen ? 0 : 1));
  run.openSince = entryRow;
  run.lastFullExitRow = exit.row;
  run.counts.fillsByRule[0]++;
  ledger.nextOrderId += 2;
  const entrySlippage = Math.abs(entryPrice - entryFill.rawPrice) * quantity;
  const exitSlippage = Math.abs(exitPrice - exit.rawPrice) * quantity;
  run.slippageCost += entrySlippage;
  run.slippageCost += exitSlippage;
  const { closing } = run;
  closing.price = exitPrice;
  closing.quantity = quantity;
  closing.entryFee = entryFee;
  closing.exitFee = exitFee;
  closing.slippage = entrySlippage + exitSlippage;
  closing.pnl = gross - entryFee - exitFee + 0;
  position.id = ledger.nextPositionId++;
  writeExit(run, trips, at);
  if (exit.ending !== END_OF_DATA) return exit.row;
  run.marks.at(exit.row, ledger.balance);
  return run.end;
}

/**
 * Writes the entry of the next signal from `row` on to the position; false when the general loop must play it. The
 * account is flat.
 */
function findEntry(run: Run, { entry, entryWords, position }: RoundTrips, row: number, limit: number): boolean {
  const signalRow = nextBit(entryWords, row, limit);
  const entryRow = signalRow + 1;
  if (entryRow >= limit || signalRow - run.lastFullExitRow < entry.cooldownBars) return false;
  order.signalRow = signalRow;
  if (sizeEntry(run, order, run.bars.open[entryRow], signalRow, NaN) !== null) return false;
  const { price, stopPrice, quantity } = run.entryFill;
  resetPosition(position, 0, entry.side, price, quantity);
  position.entryRow = entryRow;
  position.entryDecisionRow = signalRow;
  position.initialRisk = Math.abs(price - stopPrice);
  return true;
}

/**
 * Writes to `exit` whether a signal, the stop or the last close ends the trip; false when the general loop must decide.
 * The position then has the extremes of the rows before the exit.
 */
function findExit(run: Run, trips: RoundTrips, limit: number): boolean {
  const { position, hasLevels } = trips;
  const { side, entryRow, entryPrice, quantity } = position;
  const end = Math.min(limit, entryRow + MOST_ROWS);
  const exitSignal = nextBit(trips.exitWords, entryRow, end);
  // An entry signal at the close that orders the exit is left to the general loop: it may fill at the same open.
  const hasExit = exitSignal + 1 < end && !hasBit(trips.entryWords, exitSignal);
  const isHeldToEnd = exitSignal === run.end && !hasBit(trips.entryWords, run.end - 1);
  if (!hasExit && !isHeldToEnd && !hasLevels) return false;
  const notional = quantity * entryPrice;
  const openBalance = run.ledger.balance - run.entryFill.fee;
  const { maintenanceMarginRate } = run.input.config;
  const liquidation = liquidationLevel(side, openBalance, quantity, notional, maintenanceMarginRate);
  scanState[ABOVE] = Infinity;
  scanState[BELOW] = liquidation;
  if (hasLevels) {
    setLevels(run, position, NO_LEVELS, run.entryFill.stopPrice);
    scanState[ABOVE] = position.nextTarget;
    scanState[BELOW] = Math.max(liquidation, position.stop);
  }
  scanState[BEST] = position.best;
  scanState[WORST] = position.trough;
  const last = Math.min(exitSignal + 1, end);
  const row = trips.isTrailing ? trail(run, position, entryRow, last) : run.scans.passRows(side, entryRow, last);
  position.peak = scanState[BEST];
  position.trough = scanState[WORST];
  if (row < last) return setExit('stop', row, stopPriceAt(run, trips, row, liquidation));
  if (hasExit) return setExit(SIGNAL, row, run.bars.open[row]);
  return isHeldToEnd && setExit(END_OF_DATA, run.end - 1, run.bars.close[run.end - 1]);
}

/** Writes the exit of the trip; false when there is no price. */
function setExit(ending: Exit['ending'], row: number, rawPrice: number): boolean {
  exit.ending = ending;
  exit.row = row;
  exit.rawPrice = rawPrice;
  return !Number.isNaN(rawPrice);
}

/** The instant of the exit. */
function instantOf(run: Run, position: Position): Instant {
  if (exit.ending === END_OF_DATA) return atClose(run, exit.row);
  if (exit.ending === SIGNAL) return atOpen(run, exit.row);
  const isGap = exit.rawPrice === run.bars.open[exit.row];
  if (!isGap && hasMovingStop(position, position.best)) countBar(run.ambiguous.undecided, exit.row);
  return isGap ? atGap(run, exit.row) : atOpen(run, exit.row);
}

function writeExit(run: Run, { exits, position }: RoundTrips, at: Instant): void {
  if (exit.ending === 'stop') writeTrade(run, position, position.stopReason, null, at);
  else writeTrade(run, position, exit.ending, exit.ending === SIGNAL ? exitRule(exits, exit.row - 1) : null, at);
}

/**
 * Where the stop fills in the first row that touches a level: at its price, or at the open that has passed it. NaN: the
 * general loop must decide, since the row touches something else, or moves the stop that it touches.
 */
function stopPriceAt({ bars }: Run, { position, hasLevels }: RoundTrips, row: number, liquidation: number): number {
  if (!hasLevels || liquidation > position.stop) return NaN;
  const { side, stop } = position;
  const best = side > 0 ? bars.high[row] : -bars.low[row];
  if (best >= position.nextTarget) return NaN;
  if (side * bars.open[row] <= stop) return bars.open[row];
  return stopAfter(position, best) <= stop ? side * stop : NaN;
}

/** The exit rule whose signal closes a position. */
function exitRule(exits: RoundTrips['exits'], row: number): number {
  let exit = 0;
  while (!hasBit(exits[exit].words, row)) exit++;
  return exits[exit].index;
}
