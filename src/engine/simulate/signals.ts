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
  for (const { node, memory, view } of run.history) {
    if (node.hasAccountHistory) node.recordAccount(row, run.state.forEntries(row), memory);
    if (node.hasPositionHistory && view === 'entries') node.recordPosition(row, run.state.forEntries(row), memory);
  }
  if (run.positions.length > 0) {
    updateStopPrices(run, row);
    readExits(run, row);
    readTimeStops(run, row);
  }
  readEntries(run, row);
  const { orderTiming } = run.input.config.execution;
  if (run.dueExits.count === 0 && run.dueEntry === null) return false;
  if (row === run.end - 1) expireDueOrders(run);
  else if (orderTiming === 'bar_close') {
    fillAtClose(run, row);
    return true;
  }
  return false;
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
function expireDueOrders(run: Run): void {
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
    position.plannedQuantity = position.quantity;
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
  run.dueExits.add(run.nextOrderId++, row, position, quantity, reason, rule);
}

/**
 * The first entry rule that is true and not blocked makes the close's one entry order; every true rule is counted
 * (semantics §2.2).
 */
function readEntries(run: Run, row: number): void {
  const { entries, counts } = run;
  let isTaken = false;
  for (let rule = 0; rule < entries.length; rule++) {
    const { signal, cooldownBars } = entries[rule];
    if (!isTrue(run, signal, row, null, null)) continue;
    if (signal.kind === 'stateful') counts.statefulSignals[rule]++;
    if (isTaken || run.isOver) continue;
    if (cooldownBars > 0 && isCooling(run, row, cooldownBars)) counts.blockedCooldown++;
    else isTaken = takeSignal(run, row, rule);
  }
}

/**
 * An exit counts from the close that orders it: a position that this close closes wholly has its exit on this bar
 * (semantics §2.9).
 */
function isCooling(run: Run, row: number, cooldownBars: number): boolean {
  const closesOne = run.positions.some(({ plannedQuantity }) => plannedQuantity === 0);
  return closesOne || row - run.lastFullExitRow < cooldownBars;
}

/** Acts on a true entry signal; false when slots or conflict block it. */
function takeSignal(run: Run, row: number, ruleIndex: number): boolean {
  const rule = run.entries[ruleIndex];
  const { maxConcurrentPositions } = run.input;
  // What the exits of this close leave open.
  let staying = 0;
  let stayingSide = 0;
  for (const position of run.positions) {
    if (position.plannedQuantity === 0) continue;
    staying++;
    stayingSide = position.side;
  }
  const isOpposed = staying > 0 && stayingSide !== rule.side;
  const closesOpposite = isOpposed && rule.conflict !== 'ignore';
  const isMarket = rule.order.type === 'market';
  if (closesOpposite && isMarket && rule.conflict === 'close') {
    orderReversal(run, row);
    return true;
  }
  // Pending orders hold slots too, except the one that this signal replaces.
  const waiting = run.pendingCount - (run.pending[ruleIndex] === null ? 0 : 1);
  const takenSlots = (closesOpposite ? 0 : staying) + waiting;
  if (takenSlots >= maxConcurrentPositions) {
    if (maxConcurrentPositions === 1 && staying > 0) run.counts.blockedInPosition++;
    else run.counts.blockedMaxPositions++;
    return false;
  }
  if (isOpposed && rule.conflict === 'ignore') {
    run.counts.blockedInPosition++;
    return false;
  }
  if (closesOpposite && isMarket) orderReversal(run, row);
  placeEntry(run, row, ruleIndex);
  return true;
}

/** Orders the exit of every position that this close leaves open, for an entry of the other side. */
function orderReversal(run: Run, row: number): void {
  for (const position of run.positions) {
    const { plannedQuantity } = position;
    if (plannedQuantity > 0) orderExit(run, row, position, plannedQuantity, reversalExit.reason, null);
  }
}

function placeEntry(run: Run, row: number, ruleIndex: number): void {
  const { order: orderRule } = run.entries[ruleIndex];
  const levels = readSignalLevels(run, row);
  const price = orderRule.type === 'market' ? NaN : readPrice(run, orderRule.price, row);
  const isMarket = orderRule.type === 'market';
  const order: EntryOrder = isMarket ? run.marketEntry : { ...run.marketEntry };
  order.id = run.nextOrderId++;
  order.rule = ruleIndex;
  order.signalRow = row;
  order.price = price;
  order.lastRow = isMarket ? row + 1 : row + orderRule.expireBars;
  order.levels = levels ?? NO_LEVELS;
  const isPriced = isMarket || !Number.isNaN(price);
  if (levels === null || !isPriced || !isSizable(run, order)) rejectEntry(run, order, 'LEVEL_MISSING');
  else if (isMarket) run.dueEntry = order;
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
