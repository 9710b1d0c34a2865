// Plays round trips, from an entry signal to an exit signal or a stop, in half the time of the general loop and with
// the same numbers (test/engine/simulate/roundTrips.test.ts). Whatever is not a plain round trip is left to that loop:
// a touched target, a bar that moves the stop and touches it, a rejected or blocked order, an entry at the close of an
// exit, a liquidation, a signal at the last close.
import { hasBit, nextBit, setBits } from '../kernels/bits.ts';
import { ABOVE, BELOW, BEST, scanState, WORST } from '../kernels/simd/inPlace.ts';
import { chargeFee, feeRate, slippedPrice } from './costs.ts';
import { FUNDS_TOLERANCE } from './fills.ts';
import { passRows, trail } from './heldRows.ts';
import { initialStop, setLevels } from './levels.ts';
import { liquidationLevel } from './margin.ts';
import { NO_LEVELS } from './orders.ts';
import { hasMovingStop, resetPosition, stopAfter, type Position } from './position.ts';
import type { RoundTrips } from './roundTrips.ts';
import { countBar, type Run } from './run.ts';
import { countSkippedSignals } from './signals.ts';
import { orderQuantity } from './sizing.ts';
import { TRADE } from './tradeLog.ts';

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
  while (row < until && !run.isOver) {
    const after = playRoundTrip(run, trips, row, limit);
    if (after === row) return row;
    row = after;
  }
  return row;
}

/** The round trip being played. Prices named `raw` are without slippage. */
interface Trip {
  signalRow: number;
  entryRow: number;
  rawEntry: number;
  entryPrice: number;
  /** The fee of the entry, as a fraction of its notional. */
  entryRate: number;
  stopPrice: number;
  quantity: number;
  exitRow: number;
  rawExit: number;
  /** What ends it: an exit signal (at the next open), the stop, or the last close of the run. */
  ending: 'signal' | 'stop' | 'end_of_data';
  /** The row of the last close before the exit, or of the close at which the exit fills. */
  exitDecisionRow: number;
}
/** One object, written again for each trip, so that a trip allocates nothing. */
const trip: Trip = {
  signalRow: 0,
  entryRow: 0,
  rawEntry: NaN,
  entryPrice: NaN,
  entryRate: NaN,
  stopPrice: NaN,
  quantity: NaN,
  exitRow: 0,
  rawExit: NaN,
  ending: 'signal',
  exitDecisionRow: 0,
};

/**
 * Plays the next round trip and returns the row of its exit, or the end of the run. Returns `row`, with nothing
 * changed, when the next trade is not a plain round trip.
 */
function playRoundTrip(run: Run, trips: RoundTrips, row: number, limit: number): number {
  if (!findEntry(run, trips, row, limit) || !findExit(run, trips, limit)) return row;
  const { ledger } = run;
  const { side } = trips.entry;
  const { entryRow, exitRow, entryPrice, quantity, ending } = trip;
  const { entryOrderRole, exitOrderRole, riskOrderRole } = run.input.config.execution;

  const notional = quantity * entryPrice;
  const openBalance = ledger.balance - notional * trip.entryRate;
  run.marks.flat(row, entryRow, ledger.balance);
  ledger.cashBase = openBalance - side * notional;
  ledger.netQuantity = side * quantity;
  run.marks.held(entryRow, exitRow, ledger);
  countSkippedSignals(run, entryRow, exitRow);

  // As `fillExit` does for a position that closes wholly.
  const exitPrice = slippedPrice(run.slippage, trip.rawExit, side > 0 ? -1 : 1, trip.exitDecisionRow);
  const entryFee = chargeFee(run.fees, notional, entryOrderRole, NaN);
  const exitFee = chargeFee(run.fees, quantity * exitPrice, ending === 'stop' ? riskOrderRole : exitOrderRole, NaN);
  ledger.balance = openBalance + (side * quantity * (exitPrice - entryPrice) - exitFee);
  ledger.cashBase = ledger.balance;
  ledger.netQuantity = 0;
  if (!(ledger.balance > 0)) run.isOver = true;

  const isAtOpen = ending !== 'end_of_data' && trip.rawExit === run.bars.open[exitRow];
  setBits(run.inPosition, entryRow - run.input.start, exitRow - run.input.start + (isAtOpen ? 0 : 1));
  run.openSince = entryRow;
  run.lastFullExitRow = exitRow;
  run.counts.fillsByRule[0]++;
  run.nextOrderId += 2;
  writeTrade(run, trips, exitPrice, entryFee, exitFee);
  if (ending !== 'end_of_data') return exitRow;
  run.marks.at(exitRow, ledger.balance);
  return run.end;
}

/**
 * Writes the entry of the next signal from `row` on to `trip`; false when the general loop must play it. The account is
 * flat. The order is sized as in `fillEntry`; one function for both makes a run of such trips 3 to 5 % slower
 * (bench/fills.ts).
 */
function findEntry(run: Run, { entry, entryWords }: RoundTrips, row: number, limit: number): boolean {
  const signalRow = nextBit(entryWords, row, limit);
  const entryRow = signalRow + 1;
  if (entryRow >= limit || signalRow - run.lastFullExitRow < entry.cooldownBars) return false;
  const { fees, slippage, sizing, input } = run;
  const { balance } = run.ledger;
  const { side } = entry;
  const { entryOrderRole, riskOrderRole } = input.config.execution;

  const rawEntry = run.bars.open[entryRow];
  const entryPrice = slippedPrice(slippage, rawEntry, side, signalRow);
  const rate = feeRate(fees, entryOrderRole, NaN);
  const stopPrice = initialStop(input.risk, NO_LEVELS, side, entryPrice);
  const isByRisk = entry.sizing.mode === 'risk_percent';
  sizing.price = entryPrice;
  sizing.stopPrice = isByRisk ? slippedPrice(slippage, stopPrice, side > 0 ? -1 : 1, signalRow) : stopPrice;
  sizing.feeRate = rate;
  sizing.stopFeeRate = isByRisk ? feeRate(fees, riskOrderRole, NaN) : NaN;
  sizing.equity = balance;
  sizing.freeCash = balance;
  sizing.signalRow = signalRow;
  const quantity = orderQuantity(entry.sizing, sizing);
  const notional = quantity * entryPrice;
  const cost = notional / input.config.leverage + notional * rate;
  if (!(quantity > 0) || notional < input.instrument.minNotional) return false;
  if (!(cost <= balance + FUNDS_TOLERANCE * Math.abs(balance))) return false;

  trip.signalRow = signalRow;
  trip.entryRow = entryRow;
  trip.rawEntry = rawEntry;
  trip.entryPrice = entryPrice;
  trip.entryRate = rate;
  trip.stopPrice = stopPrice;
  trip.quantity = quantity;
  return true;
}

/**
 * Writes to `trip` whether a signal, the stop or the last close ends it; false when the general loop must decide.
 * `scanState` then has the extremes of the rows before the exit.
 */
function findExit(run: Run, trips: RoundTrips, limit: number): boolean {
  const { entry, position } = trips;
  const { side } = entry;
  const { entryRow, entryPrice, stopPrice, quantity } = trip;
  const end = Math.min(limit, entryRow + MOST_ROWS);
  const exitSignal = nextBit(trips.exitWords, entryRow, end);
  // An entry signal at the close that orders the exit is left to the general loop: it may fill at the same open.
  const hasExit = exitSignal + 1 < end && !hasBit(trips.entryWords, exitSignal);
  const isHeldToEnd = exitSignal === run.end && !hasBit(trips.entryWords, run.end - 1);
  if (!hasExit && !isHeldToEnd && position === null) return false;
  const notional = quantity * entryPrice;
  const openBalance = run.ledger.balance - notional * trip.entryRate;
  const { maintenanceMarginRate } = run.input.config;
  const liquidation = liquidationLevel(side, openBalance, quantity, notional, maintenanceMarginRate);
  scanState[ABOVE] = Infinity;
  scanState[BELOW] = liquidation;
  if (position !== null) {
    resetPosition(position, 0, side, entryPrice, quantity);
    position.initialRisk = Math.abs(entryPrice - stopPrice);
    setLevels(position, run.input.risk, NO_LEVELS, stopPrice);
    scanState[ABOVE] = position.nextTarget;
    scanState[BELOW] = Math.max(liquidation, position.stop);
  }
  scanState[BEST] = side * entryPrice;
  scanState[WORST] = side * entryPrice;
  const last = Math.min(exitSignal + 1, end);
  const exitRow =
    position !== null && trips.isTrailing ? trail(run, position, entryRow, last) : passRows(run, side, entryRow, last);
  if (exitRow < last) return setExit('stop', exitRow, exitRow - 1, stopPriceAt(run, trips, exitRow, liquidation));
  if (hasExit) return setExit('signal', exitRow, exitRow - 1, run.bars.open[exitRow]);
  return isHeldToEnd && setExit('end_of_data', run.end - 1, run.end - 1, run.bars.close[run.end - 1]);
}

/** Writes the exit of the trip; false when there is no price. */
function setExit(ending: Trip['ending'], exitRow: number, decisionRow: number, rawExit: number): boolean {
  trip.ending = ending;
  trip.exitRow = exitRow;
  trip.exitDecisionRow = decisionRow;
  trip.rawExit = rawExit;
  return !Number.isNaN(rawExit);
}

/** Adds the trip to the trade log and to the costs of slippage. */
function writeTrade(run: Run, trips: RoundTrips, exitPrice: number, entryFee: number, exitFee: number): void {
  const { side } = trips.entry;
  const { entryPrice, quantity, exitRow, rawExit, ending } = trip;
  const entrySlippage = Math.abs(entryPrice - trip.rawEntry) * quantity;
  const exitSlippage = Math.abs(exitPrice - rawExit) * quantity;
  run.slippageCost += entrySlippage;
  run.slippageCost += exitSlippage;
  const pnl = side * quantity * (exitPrice - entryPrice) - entryFee - exitFee + 0;
  const signedEntry = side * entryPrice;
  const exitOpen = side * run.bars.open[exitRow];
  const { position } = trips;
  const at =
    position !== null && ending === 'stop'
      ? addStop(run, position, exitRow, rawExit)
      : run.trades.add(ending === 'end_of_data' ? ending : 'signal', run.decisions.direct);
  const { numbers } = run.trades;
  numbers[at + TRADE.positionId] = run.nextPositionId++;
  numbers[at + TRADE.side] = side;
  numbers[at + TRADE.entryRow] = trip.entryRow;
  numbers[at + TRADE.exitRow] = exitRow;
  numbers[at + TRADE.entryDecisionRow] = trip.signalRow;
  numbers[at + TRADE.exitDecisionRow] = trip.exitDecisionRow;
  numbers[at + TRADE.entryPrice] = entryPrice;
  numbers[at + TRADE.exitPrice] = exitPrice;
  numbers[at + TRADE.quantity] = quantity;
  numbers[at + TRADE.entryFee] = entryFee;
  numbers[at + TRADE.exitFee] = exitFee;
  numbers[at + TRADE.slippage] = entrySlippage + exitSlippage;
  numbers[at + TRADE.pnl] = pnl;
  numbers[at + TRADE.returnPct] = pnl / (quantity * entryPrice);
  numbers[at + TRADE.maePct] = (Math.min(scanState[WORST], exitOpen, side * exitPrice) - signedEntry) / entryPrice;
  numbers[at + TRADE.mfePct] = (Math.max(scanState[BEST], exitOpen, side * exitPrice) - signedEntry) / entryPrice;
  numbers[at + TRADE.entryRule] = 0;
  numbers[at + TRADE.exitRule] = ending === 'signal' ? exitRule(trips, exitRow - 1) : -1;
  numbers[at + TRADE.initialRisk] = Math.abs(entryPrice - trip.stopPrice);
}

/**
 * Where the stop fills in the first row that touches a level: at its price, or at the open that has passed it. NaN: the
 * general loop must decide, since the row touches something else, or moves the stop that it touches.
 */
function stopPriceAt({ bars }: Run, { position }: RoundTrips, row: number, liquidation: number): number {
  if (position === null || liquidation > position.stop) return NaN;
  const { side, stop } = position;
  const best = side > 0 ? bars.high[row] : -bars.low[row];
  if (best >= position.nextTarget) return NaN;
  if (side * bars.open[row] <= stop) return bars.open[row];
  return stopAfter(position, best) <= stop ? side * stop : NaN;
}

/** Begins the row of a trade that the stop has closed at `price`. */
function addStop({ trades, bars, decisions, ambiguous }: Run, position: Position, row: number, price: number): number {
  const isGap = price === bars.open[row];
  if (!isGap && hasMovingStop(position, position.best)) countBar(ambiguous.undecided, row);
  return trades.add(position.stopReason, isGap ? decisions.gap : decisions.direct);
}

/** The exit rule whose signal closes a position. */
function exitRule({ exits }: RoundTrips, row: number): number {
  let exit = 0;
  while (!hasBit(exits[exit].words, row)) exit++;
  return exits[exit].index;
}
