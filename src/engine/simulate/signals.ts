// Signals: what a close asks for. Exits first, then the time stop, then at most one entry order.
import { countBits, hasBit } from '../kernels/bits.ts';
import { fillDueExits, fillEntry } from './fills.ts';
import { readPrice, readSignalLevels, updateStopPrices } from './levels.ts';
import { NO_LEVELS, type EntryOrder } from './orders.ts';
import { expireEntry, logExit, placePending, rejectEntry } from './orderLog.ts';
import type { Position } from './position.ts';
import type { ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { reversalExit } from '../definitions/exitReasons/reversalExit.ts';
import { signalExit } from '../definitions/exitReasons/signalExit.ts';
import { timeStopExit } from '../definitions/exitReasons/timeStopExit.ts';
import type { ConditionSource, StateMemory } from '../evaluate/tradingRules.ts';
import { atClose, type Run } from './run.ts';
import { partialQuantity } from './sizing.ts';

/**
 * Reads the close of `row`; orders go to the next open, or fill at this close under bar_close. True when any filled.
 */
export function readClose(run: Run, row: number): boolean {
  readExitSignals(run, row);
  const rule = readEntries(run, row);
  if (rule >= 0) enter(run, row, rule);
  const { orderTiming } = run.input.config.execution;
  if (run.dueExits.count === 0 && run.dueEntry === null) return false;
  if (row === run.end - 1) expireDueOrders(run);
  else if (orderTiming === 'bar_close') {
    fillAtClose(run, row);
    return true;
  }
  return false;
}

/** Records history over state at the close of `row`, moves stop prices, and orders the exits that it asks for. */
export function readExitSignals(run: Run, row: number): void {
  for (const { node, memory, view } of run.history) {
    if (node.hasAccountHistory) node.recordAccount(row, run.state.forEntries(row), memory);
    if (node.hasPositionHistory && view === 'entries') node.recordPosition(row, run.state.forEntries(row), memory);
  }
  if (run.positions.length > 0) {
    updateStopPrices(run, row);
    readExits(run, row);
    readTimeStops(run, row);
  }
}

/** Acts on the entry rule that makes the one entry order of a close. */
function enter(run: Run, row: number, rule: number): void {
  if (reversesNow(run, rule)) orderReversal(run, row);
  const order = prepareEntry(run, row, rule);
  if (order !== null) placeEntry(run, order);
}

/** bar_close: the orders of a close fill at it, exits first. */
function fillAtClose(run: Run, row: number): void {
  const at = atClose(run, row);
  const close = run.bars.close[row];
  fillDueExits(run, close, at);
  const order = run.dueEntry;
  run.dueEntry = null;
  if (order !== null) fillEntry(run, order, close, at);
}

/** Orders of the last bar have no bar to fill on. */
export function expireDueOrders(run: Run): void {
  for (let index = 0; index < run.dueExits.count; index++) {
    const { id, signalRow, position, quantity, reason, rule } = run.dueExits.at(index);
    const { exitOrderRole } = run.input.config.execution;
    const ruleId = rule === null ? reason : run.input.exits[rule].id;
    logExit(
      run,
      position,
      { orderId: id, row: signalRow, type: 'market', role: exitOrderRole, reason, rule: ruleId },
      { status: 'expired', quantity },
    );
  }
  run.dueExits.count = 0;
  if (run.dueEntry !== null) expireEntry(run, run.dueEntry);
  run.dueEntry = null;
}

function isTrue(
  run: Run,
  source: ConditionSource,
  row: number,
  position: Position | null,
  memory: StateMemory | null,
): boolean {
  if (source.kind === 'bits') return hasBit(source.isTrue, row);
  const { condition } = source;
  if (condition.gate !== null && !hasBit(condition.gate, row)) return false;
  const view = position === null ? run.state.forEntries(row) : run.state.forPosition(row, position);
  return condition.test(row, view, memory ?? run.memories.get(condition)!) === 1;
}

/** Exit rules by priority, then listing; each acts on what the ones before it leave (semantics §2.8). */
function readExits(run: Run, row: number): void {
  for (const position of run.positions) {
    position.plannedQuantity = position.isLeaving ? 0 : position.quantity;
    if (run.watch.hasStatefulExits) updateExitMemories(run, row, position);
  }
  for (const { rule, index, size } of run.exits) {
    for (const position of run.positions) {
      if (position.plannedQuantity === 0) continue;
      if (position.exitsFired.length > 0 && position.exitsFired.includes(index)) continue;
      if (rule.appliesTo !== 0 && rule.appliesTo !== position.side) continue;
      if (!isTrue(run, rule.when, row, position, position.exitMemories[index] ?? null)) continue;
      const left = position.plannedQuantity;
      const wanted = size.quantity(rule.action.value, left);
      const quantity = partialQuantity(left, wanted, run.input.instrument.qtyStep);
      if (quantity === 0) continue;
      if (quantity < left) position.exitsFired.push(index);
      orderExit(run, row, position, quantity, signalExit.reason, index);
    }
  }
}

function updateExitMemories(run: Run, row: number, position: Position): void {
  for (const { rule, index } of run.exits) {
    if (rule.when.kind !== 'stateful' || !rule.when.condition.hasPositionHistory) continue;
    rule.when.condition.recordPosition(row, run.state.forPosition(row, position), position.exitMemories[index]!);
  }
}

/**
 * Orders a market exit so that barsHeld = maxBars: at the previous close under next_open, at that close under
 * bar_close.
 */
function readTimeStops(run: Run, row: number): void {
  const { timeStop } = run.input.risk;
  if (timeStop === null) return;
  const exitRow = run.input.config.execution.orderTiming === 'next_open' ? row + 1 : row;
  for (const position of run.positions) {
    if (exitRow - position.entryRow >= timeStop.maxBars && position.plannedQuantity > 0) {
      orderExit(run, row, position, position.plannedQuantity, timeStopExit.reason, null);
    }
  }
}

function orderExit(
  run: Run,
  row: number,
  position: Position,
  quantity: number,
  reason: ExitReason,
  rule: number | null,
): void {
  position.plannedQuantity = quantity >= position.plannedQuantity ? 0 : position.plannedQuantity - quantity;
  run.dueExits.add(run.ledger.nextOrderId++, row, position, quantity, reason, rule);
}

/**
 * The first entry rule that is true and not blocked makes the close's one entry order; every true rule is counted
 * (semantics §2.2). Returns its index; -1: there is none, or it only closes positions.
 */
export function readEntries(run: Run, row: number): number {
  const { entries, counts } = run;
  let isTaken = false;
  let entering = -1;
  for (let rule = 0; rule < entries.length; rule++) {
    const { signal, cooldownBars } = entries[rule];
    if (!isTrue(run, signal, row, null, null)) continue;
    if (signal.kind === 'stateful') counts.statefulSignals[rule]++;
    if (isTaken || run.ledger.isOver) continue;
    if (cooldownBars > 0 && isCooling(run, row, cooldownBars)) counts.blockedCooldown++;
    else {
      const taken = takeSignal(run, row, rule);
      isTaken = taken !== 'blocked';
      if (taken === 'enters') entering = rule;
    }
  }
  return entering;
}

/**
 * An exit counts from the close that orders it: a position that this close closes wholly has its exit on this bar
 * (semantics §2.9).
 */
function isCooling(run: Run, row: number, cooldownBars: number): boolean {
  const closesOne = run.positions.some(({ plannedQuantity }) => plannedQuantity === 0);
  return closesOne || row - run.lastFullExitRow < cooldownBars;
}

/** What the orders of this close, and those that wait, leave open of one run: its side, 0 when nothing stays. */
function stayingSideOf({ positions }: Run): number {
  for (let at = positions.length - 1; at >= 0; at--) if (positions[at].plannedQuantity > 0) return positions[at].side;
  return 0;
}

/** How many positions the orders of this close, and those that wait, leave open. */
export function countStaying({ positions }: Run): number {
  let staying = 0;
  for (const { plannedQuantity } of positions) if (plannedQuantity > 0) staying++;
  return staying;
}

/** Whether an entry closes or reverses what stays open. */
const closesStaying = (run: Run, ruleIndex: number): boolean => {
  const { side, conflict } = run.entries[ruleIndex];
  return conflict !== 'ignore' && stayingSideOf(run) === -side;
};

/** Whether an entry order of this close takes a slot that no position or order of its instrument gives up for it. */
export const needsSlot = (run: Run, ruleIndex: number): boolean =>
  run.pending[ruleIndex] === null && !closesStaying(run, ruleIndex);

/** Whether an entry order of this close is a market order that reverses what stays open. */
export const reversesNow = (run: Run, ruleIndex: number): boolean =>
  run.entries[ruleIndex].order.type === 'market' && closesStaying(run, ruleIndex);

/** Acts on a true entry signal, unless it is blocked by slots or conflict. */
function takeSignal(run: Run, row: number, ruleIndex: number): 'blocked' | 'closes' | 'enters' {
  const rule = run.entries[ruleIndex];
  const { maxConcurrentPositions } = run.input;
  const staying = countStaying(run);
  const stayingSide = stayingSideOf(run);
  const isOpposed = staying > 0 && stayingSide !== rule.side;
  const closesOpposite = isOpposed && rule.conflict !== 'ignore';
  const isMarket = rule.order.type === 'market';
  if (closesOpposite && isMarket && rule.conflict === 'close') {
    orderReversal(run, row);
    return 'closes';
  }
  // Pending orders hold slots too, except the one that this signal replaces.
  const waiting = run.pendingCount - (run.pending[ruleIndex] === null ? 0 : 1);
  const takenSlots = (closesOpposite ? 0 : staying) + waiting;
  if (takenSlots >= maxConcurrentPositions) {
    if (maxConcurrentPositions === 1 && staying > 0) run.counts.blockedInPosition++;
    else run.counts.blockedMaxPositions++;
    return 'blocked';
  }
  if (isOpposed && rule.conflict === 'ignore') {
    run.counts.blockedInPosition++;
    return 'blocked';
  }
  return 'enters';
}

/** Orders the exit of every position that this close leaves open, for an entry of the other side. */
export function orderReversal(run: Run, row: number): void {
  for (const position of run.positions) {
    const { plannedQuantity } = position;
    if (plannedQuantity > 0) orderExit(run, row, position, plannedQuantity, reversalExit.reason, null);
  }
}

/** The entry order of a rule, with what it reads at the close of `row`; null when it is rejected for want of that. */
export function prepareEntry(run: Run, row: number, ruleIndex: number): EntryOrder | null {
  const { order: orderRule } = run.entries[ruleIndex];
  const levels = readSignalLevels(run, row);
  const price = orderRule.type === 'market' ? NaN : readPrice(run, orderRule.price, row);
  const isMarket = orderRule.type === 'market';
  const order: EntryOrder = isMarket ? run.marketEntry : { ...run.marketEntry };
  order.rule = ruleIndex;
  order.signalRow = row;
  order.price = price;
  order.lastRow = isMarket ? row + 1 : row + orderRule.expireBars;
  order.levels = levels ?? NO_LEVELS;
  const isPriced = isMarket || !Number.isNaN(price);
  if (levels !== null && isPriced && isSizable(run, order)) return order;
  order.id = run.ledger.nextOrderId++;
  rejectEntry(run, order, 'LEVEL_MISSING');
  return null;
}

/** Places a prepared order: a market order is due, another waits for its price. */
export function placeEntry(run: Run, order: EntryOrder): void {
  order.id = run.ledger.nextOrderId++;
  if (run.entries[order.rule].order.type === 'market') run.dueEntry = order;
  else placePending(run, order);
}

/**
 * Whether the values that sizing needs are known at the signal. An order without them must not hold a slot until its
 * price is reached.
 */
function isSizable(run: Run, { rule, levels, signalRow }: EntryOrder): boolean {
  const { atr, readsStop } = run.sizes[rule];
  if (atr !== null) return !Number.isNaN(atr[signalRow]);
  // Only a stop price with update "bar" can be missing here. Other stops are known from the fill, or the order was
  // rejected without them.
  if (readsStop && run.levels.stop?.isRead === true) return !Number.isNaN(levels.stop);
  return true;
}

/** Counts the signals of rows [from, to) that came while every slot was taken and were skipped instead of read. */
export function countSkippedSignals(run: Run, from: number, to: number): void {
  const { entries, counts, input } = run;
  for (const { signal, cooldownBars } of entries) {
    if (signal.kind !== 'bits') continue;
    const total = countBits(signal.isTrue, from, to);
    if (total === 0) continue;
    const cooledFrom = Math.min(to, Math.max(from, run.lastFullExitRow + cooldownBars));
    const cooling = countBits(signal.isTrue, from, cooledFrom);
    counts.blockedCooldown += cooling;
    if (input.maxConcurrentPositions === 1) counts.blockedInPosition += total - cooling;
    else counts.blockedMaxPositions += total - cooling;
  }
}
