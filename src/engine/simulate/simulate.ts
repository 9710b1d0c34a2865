// The fill loop: bar after bar through orders, levels and signals, skipping all bars in which nothing can happen.
import { policyInForce } from '../config.ts';
import type { AmbiguityFallback } from '../config.ts';
import { endOfDataExit } from '../definitions/exitReasons/endOfDataExit.ts';
import { playInsideBar, playOpen } from './bar.ts';
import { isIdle, isRead, watchedCloses } from './closes.ts';
import { exitFill, fillExit } from './fills.ts';
import { equityAt } from './ledger.ts';
import { nextCarryRow } from './carry.ts';
import { skipOne, skipSeveral } from './heldRows.ts';
import { expireEntry, expirePending } from './orderLog.ts';
import type { Position } from './position.ts';
import type { SimulationInput, SimulationResult } from './simulation.ts';
import { GatheredResult } from './collectResult.ts';
import { createRun } from './createRun.ts';
import { atClose } from './run.ts';
import type { Run } from './run.ts';
import { countSkippedSignals, readClose } from './signals.ts';
import { TradeBudget } from './tradeBudget.ts';
import { nextWatched } from './watch.ts';
import type { WatchedCloses } from './watch.ts';
import type { FlawSearch } from '../bars/flaws.ts';
import { countBits } from '../kernels/bits.ts';

/** How often a run checks whether it is cancelled, in rows (semantics §6.4). */
const POLL_ROWS = 65_536;
/** The same where rules read state: on every row they may scan a window, which takes up to about 10 µs. */
const STATEFUL_POLL_ROWS = 1_024;

/**
 * Simulates under the policy of the config. Under `worst` it simulates both pessimistically and optimistically and
 * keeps the run with the lower final balance, the pessimistic one on a tie. The optimistic run can be the lower one,
 * because of break-even after a target.
 * @throws MemoryRefused when `input.control` allows no more trades
 */
export function simulate(input: SimulationInput): SimulationResult {
  const policy = policyInForce(input.config);
  if (policy !== 'worst') return simulateUnder(input, policy);
  const budget = new TradeBudget(input.bars.length, input.control);
  const pessimistic = simulateUnder(input, 'pessimistic', budget);
  // Where no bar was decided by the policy, every policy gives the same run.
  if (pessimistic.cancelled || pessimistic.ambiguity.fallbackBars === 0) return pessimistic;
  // The first result is in the lent memory, and is still needed.
  const { scratch: _, ...unshared } = input;
  const optimistic = simulateUnder(unshared, 'optimistic', budget);
  if (optimistic.cancelled) return optimistic;
  const readings = { pessimistic: pessimistic.finalBalance, optimistic: optimistic.finalBalance };
  const worst = optimistic.finalBalance < pessimistic.finalBalance ? optimistic : pessimistic;
  worst.readings = readings;
  return worst;
}

/**
 * Simulates rows [start, end) and closes what is open at the last close. Pure: the same input gives the same result,
 * byte for byte. Rules: semantics §2 to §4, with pictures in docs/fills.md.
 */
function simulateUnder(input: SimulationInput, policy: AmbiguityFallback, budget?: TradeBudget): SimulationResult {
  const run = createRun(input, policy, budget);
  const { control, start, end } = input;
  const pollRows = readsState(input) ? STATEFUL_POLL_ROWS : POLL_ROWS;
  let nextPoll = start + pollRows;
  const prefetch = new Prefetch(input, () => pricesOf(run), run.watch.flat);
  let row = start;
  while (row < end) {
    if (row >= prefetch.nextRow) prefetch.read(row);
    if (row >= nextPoll) {
      if (control?.isCancelled()) return new GatheredResult(run, true);
      control?.report(row - start, end - start);
      nextPoll = row + pollRows;
    }
    if (isFinished(run)) break;
    const limit = Math.min(end, nextPoll);
    row = playRows(run, row, Math.min(limit, prefetch.nextRow), limit);
  }
  if (row < end) run.marks.flat(row, end, run.ledger.balance);
  for (const order of run.pending) if (order !== null) expireEntry(run, order);
  control?.report(end - start, end - start);
  return new GatheredResult(run, false);
}

/** Whether no position can open any more and no signal needs to be counted. */
const isFinished = (run: Run): boolean => run.ledger.isOver && isIdle(run) && !run.watch.hasStatefulEntries;

/**
 * Plays rows from `from` to at least `until`, never past `limit`: a skip that starts before `until` may go beyond it.
 * Returns the next row to play. It is a function of its own because V8 compiles a function that is called often better
 * than a loop that runs once.
 */
function playRows(run: Run, from: number, until: number, limit: number): number {
  let row = from;
  while (row < until) {
    if (isIdle(run)) {
      if (isFinished(run)) return row;
      if (run.playTrades !== null) {
        row = run.playTrades(run, row, until, limit);
        if (row >= until || isFinished(run)) return row;
      }
      row = skipFlat(run, row);
      if (row < run.end) endBar(run, row++);
    } else {
      playOpen(run, row);
      // When the open has closed everything, the same row is played again as a flat one.
      if (!isIdle(run)) row = playOn(run, row, limit);
    }
  }
  return row;
}

/** The price columns that are read for nearly every bar or, when bars are passed in blocks, for every fill. */
function pricesOf({ bars, blocks, reads }: Run): Float64Array[] {
  const { open, high, low, close } = bars;
  const marked = reads.marks === null ? [close] : [];
  return blocks === null ? [open, high, low, ...marked] : [open, ...marked];
}

const readsState = ({ entries, exits }: SimulationInput): boolean =>
  entries.some(
    ({ signal, order }) => signal.kind === 'stateful' || (order.type !== 'market' && order.price.kind === 'stateful'),
  ) || exits.some(({ when }) => when.kind === 'stateful');

/**
 * Goes on after the open of `row`: through every bar in which nothing can happen, up to the first one before `limit`
 * that touches a level or whose close must be read, and through that one. Returns the row after it.
 */
function playOn(run: Run, row: number, limit: number): number {
  const { positions } = run;
  let last = row;
  let next = row;
  if (run.pendingCount === 0 && positions.length > 0 && (positions.length === 1 || positions.every(hasFixedStop))) {
    last = lastQuietRow(run, row, limit);
    next = positions.length === 1 ? skipOne(run, positions[0], row, last + 1) : skipSeveral(run, row, last + 1);
    const isFull = positions.length >= run.input.maxConcurrentPositions;
    if (isFull && run.reads.blocked) countSkippedSignals(run, row, Math.min(next, last));
  }
  if (next <= last) {
    playInsideBar(run, next);
    run.marks.at(next, equityAt(run.ledger, run.bars.close[next]));
    last = next;
  }
  endBar(run, last);
  return last + 1;
}

/** The first row from `row` on, before `limit`, whose close must be read or after which holding costs or earns. */
function lastQuietRow(run: Run, row: number, limit: number): number {
  const { positions, input } = run;
  const closes = watchedCloses(run);
  let last = nextWatched(closes, row, limit - 1);
  const { timeStop } = input.risk;
  if (timeStop !== null) {
    const ordered = input.config.execution.orderTiming === 'next_open' ? timeStop.maxBars - 1 : timeStop.maxBars;
    for (const { entryRow } of positions) last = Math.min(last, entryRow + ordered);
    last = Math.max(last, row);
  }
  if (run.carry !== null) last = nextCarryRow(run.bars.time, run.carry, row + 1, last + 1) - 1;
  return last;
}

/** Ends a bar that has been played and marked: expires pending orders and reads the close. */
function endBar(run: Run, row: number): void {
  if (run.pendingCount > 0) expirePending(run, row);
  let hasFilled = false;
  if (row === run.end - 1) hasFilled = closeAtEnd(run, row);
  else if (isRead(run, row)) hasFilled = readClose(run, row);
  else if (run.reads.blocked && run.positions.length >= run.input.maxConcurrentPositions)
    countSkippedSignals(run, row, row + 1);
  // The mark includes orders that filled at this close, under bar_close or at the end.
  if (hasFilled) run.marks.at(row, equityAt(run.ledger, run.bars.close[row]));
}

/** Reads the last close and closes at it what is still open (semantics §2.7). True when anything was. */
function closeAtEnd(run: Run, row: number): boolean {
  readClose(run, row);
  if (run.positions.length === 0) return false;
  const at = atClose(run, row);
  const price = run.bars.close[row];
  const role = run.input.config.execution.exitOrderRole;
  for (const position of run.positions.slice()) {
    fillExit(run, position, exitFill(run, endOfDataExit.reason, position.quantity, price, role), at);
  }
  return true;
}

/** Marks the rows up to the next entry signal, its own included, with the balance. @returns the row of that signal */
function skipFlat(run: Run, row: number): number {
  const next = nextWatched(run.watch.flat, row, run.end);
  run.marks.flat(row, Math.min(next + 1, run.end), run.ledger.balance);
  return next;
}

const hasFixedStop = ({ trailFrom, breakevenFrom }: Position): boolean =>
  trailFrom === Infinity && breakevenFrom === Infinity;

/** Four columns of this length are 128 KiB, which the L2 cache holds beside what the loop writes. */
const ROWS_AHEAD = 4096;
/** Shorter columns stay in the cache. */
const MIN_ROWS = 65_536;
/** With fewer signals than one per this many rows, waiting costs less than reading everything. */
const ROWS_PER_SIGNAL = 256;
/** Prices per line of the cache. */
const LINE = 8;

/**
 * Reads the prices of the next rows, one per cache line, before the loop needs some of them. A fill reads prices far
 * from the ones before it, and every such read waits for memory: a fifth of a run over a million bars.
 */
class Prefetch {
  readonly #columns: () => readonly Float64Array[];
  readonly #closes: WatchedCloses;
  readonly #flaws: FlawSearch | undefined;
  readonly #end: number;
  /** The row at which the next rows must be read. */
  nextRow: number;
  /** The sum of what was read, so that the reads are not optimized away. */
  total = 0;

  /**
   * @param columns returns the price columns that the loop reads for nearly every bar or fill; not called in short runs
   * @param closes the closes that may open a position
   */
  constructor({ start, end, flaws }: SimulationInput, columns: () => readonly Float64Array[], closes: WatchedCloses) {
    this.#columns = columns;
    this.#closes = closes;
    this.#flaws = flaws;
    this.#end = end;
    this.nextRow = end - start < MIN_ROWS ? Infinity : start;
  }

  /** Reads the prices of the rows from `row` on. */
  read(row: number): void {
    const end = Math.min(this.#end, row + ROWS_AHEAD);
    this.nextRow = end;
    // The search for flaws reads all prices of these rows, unless an earlier run has done so.
    if (this.#flaws?.readTo(end)) return;
    const { words } = this.#closes;
    let total = 0;
    if (words === null || countBits(words, row, end) * ROWS_PER_SIGNAL >= end - row)
      for (const column of this.#columns()) for (let at = row; at < end; at += LINE) total += column[at];
    this.total = total;
  }
}
