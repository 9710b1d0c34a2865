// Plays round trips from signal to signal or stop in half of the time of the general loop, with its numbers
// (test/engine/simulate/roundTrips.test.ts). Whatever is not a plain round trip is left to that loop: a touched target,
// a bar that moves the stop and touches it, a rejected or blocked order, an entry at the close of an exit, a
// liquidation, the ends of the range.
import { hasBit, nextBit, setBits } from '../kernels/bits.ts';
import { ABOVE, BELOW, BEST, state, WORST } from '../kernels/simd/inPlace.ts';
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

/** Longer trips are left too: where exits are rare, looking for one would take longer than the trade. */
const MOST_ROWS = 4096;

/**
 * Plays round trips whose rows are all before `limit`, while nothing is open at `from`, up to the one that ends at
 * `until` or later. Gives the row at which the general loop goes on, with nothing open and nothing due.
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

/** The next one. Gives the row of its exit; `row` when it is none, and nothing was changed. */
function playRoundTrip(run: Run, trips: RoundTrips, row: number, limit: number): number {
  const { entry, entryWords, exitWords } = trips;
  const signalRow = nextBit(entryWords, row, limit);
  const entryRow = signalRow + 1;
  if (entryRow >= limit || signalRow - run.lastFullExitRow < entry.cooldownBars) return row;
  const { ledger, fees, slippage, sizing, input, bars } = run;
  const { side } = entry;
  const { entryOrderRole, exitOrderRole, riskOrderRole } = input.config.execution;
  const { leverage, maintenanceMarginRate } = input.config;
  const { balance } = ledger;

  // As in `fillEntry`, of an account that is flat.
  const entryRaw = bars.open[entryRow];
  const entryPrice = slippedPrice(slippage, entryRaw, side, signalRow);
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
  const cost = notional / leverage + notional * rate;
  if (!(quantity > 0) || notional < input.instrument.minNotional) return row;
  if (!(cost <= balance + FUNDS_TOLERANCE * Math.abs(balance))) return row;

  const end = Math.min(limit, entryRow + MOST_ROWS);
  const exitSignal = nextBit(exitWords, entryRow, end);
  // At the last close nothing is ordered, and an entry at the close of an exit may follow it at once.
  const hasExit = exitSignal + 1 < end && !hasBit(entryWords, exitSignal);
  const { position } = trips;
  if (!hasExit && position === null) return row;
  const openBalance = balance - notional * rate;
  const signedEntry = side * entryPrice;
  const initialRisk = Math.abs(entryPrice - stopPrice);
  let above = Infinity;
  const liquidation = liquidationLevel(side, openBalance, quantity, notional, maintenanceMarginRate);
  let below = liquidation;
  if (position !== null) {
    resetPosition(position, 0, side, entryPrice, quantity);
    position.initialRisk = initialRisk;
    setLevels(position, input.risk, NO_LEVELS, stopPrice);
    above = position.nextTarget;
    below = Math.max(below, position.stop);
  }
  state[ABOVE] = above;
  state[BELOW] = below;
  state[BEST] = signedEntry;
  state[WORST] = signedEntry;
  const last = Math.min(exitSignal + 1, end);
  const exitRow =
    position !== null && trips.isTrailing ? trail(run, position, entryRow, last) : passRows(run, side, entryRow, last);
  const isStopped = exitRow < last;
  if (!isStopped && !hasExit) return row;
  const exitRaw = isStopped ? stopPriceAt(run, trips, exitRow, liquidation) : bars.open[exitRow];
  if (Number.isNaN(exitRaw)) return row;

  const entryFee = chargeFee(fees, notional, entryOrderRole, NaN);
  const entrySlippage = Math.abs(entryPrice - entryRaw) * quantity;
  run.slippageCost += entrySlippage;
  run.counts.fillsByRule[0]++;
  const id = run.nextPositionId++;
  run.nextOrderId += 2;
  run.marks.flat(row, entryRow, balance);
  ledger.cashBase = openBalance - side * notional;
  ledger.netQuantity = side * quantity;
  run.marks.held(entryRow, exitRow, ledger);
  countSkippedSignals(run, entryRow, isStopped ? exitRow : exitSignal);

  // As in `fillExit`, of all that is open.
  const exitPrice = slippedPrice(slippage, exitRaw, side > 0 ? -1 : 1, exitRow - 1);
  const exitFee = chargeFee(fees, quantity * exitPrice, isStopped ? riskOrderRole : exitOrderRole, NaN);
  const exitSlippage = Math.abs(exitPrice - exitRaw) * quantity;
  const gross = side * quantity * (exitPrice - entryPrice);
  const pnl = gross - entryFee - exitFee + 0;
  run.slippageCost += exitSlippage;
  ledger.balance = openBalance + (gross - exitFee);
  ledger.cashBase = ledger.balance;
  ledger.netQuantity = 0;
  setBits(run.inPosition, entryRow - input.start, exitRow - input.start + 1);
  run.openSince = entryRow;
  run.lastFullExitRow = exitRow;
  if (!(ledger.balance > 0)) run.isOver = true;

  const from = side * bars.open[exitRow];
  const signedExit = side * exitPrice;
  const at =
    position !== null && isStopped
      ? addStop(run, position, exitRow, exitRaw)
      : run.trades.add('signal', run.decisions.direct);
  const { numbers } = run.trades;
  numbers[at + TRADE.positionId] = id;
  numbers[at + TRADE.side] = side;
  numbers[at + TRADE.entryRow] = entryRow;
  numbers[at + TRADE.exitRow] = exitRow;
  numbers[at + TRADE.entryDecisionRow] = signalRow;
  numbers[at + TRADE.exitDecisionRow] = exitRow - 1;
  numbers[at + TRADE.entryPrice] = entryPrice;
  numbers[at + TRADE.exitPrice] = exitPrice;
  numbers[at + TRADE.quantity] = quantity;
  numbers[at + TRADE.entryFee] = entryFee;
  numbers[at + TRADE.exitFee] = exitFee;
  numbers[at + TRADE.slippage] = entrySlippage + exitSlippage;
  numbers[at + TRADE.pnl] = pnl;
  numbers[at + TRADE.returnPct] = pnl / (quantity * entryPrice);
  numbers[at + TRADE.maePct] = (Math.min(state[WORST], from, signedExit) - signedEntry) / entryPrice;
  numbers[at + TRADE.mfePct] = (Math.max(state[BEST], from, signedExit) - signedEntry) / entryPrice;
  numbers[at + TRADE.entryRule] = 0;
  numbers[at + TRADE.exitRule] = isStopped ? -1 : exitRule(trips, exitSignal);
  numbers[at + TRADE.initialRisk] = initialRisk;
  return exitRow;
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
