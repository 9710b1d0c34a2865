// The close of a bar: stop prices that are read again, exit rules, time stops, and at most one entry order
// (semantics §2.1, §2.2, §2.8).
import type { Book, EntryOrder, Position } from './book.ts';
import { partialQuantity, type Side } from './levels.ts';
import { isStopUpdated, readLevels } from './signalLevels.ts';

/** What the strategy's expressions are at a close; `position` is the one an exit tests. */
export interface Signals {
  entry(rule: number, row: number): boolean;
  exit(rule: number, row: number, position: Position): boolean;
  /** A risk or order price, NaN where missing. */
  price(node: unknown, row: number, position: Position | null): number;
  atr(period: number, row: number): number;
}

export function readClose(book: Book, signals: Signals, row: number): void {
  updateStops(book, signals, row);
  const left = new Map(book.positions.map((position) => [position, position.quantity]));
  readExits(book, signals, row, left);
  readTimeStops(book, row, left);
  readEntries(book, signals, row, left);
}

/** A stop price with update "bar" moves only in the position's favor. */
export function updateStops(book: Book, signals: Signals, row: number): void {
  const { stopLoss } = book.input.strategy.risk;
  if (stopLoss?.mode !== 'price' || stopLoss.update !== 'bar') return;
  for (const position of book.positions) {
    const price = position.side * signals.price(stopLoss.value, row, position);
    if (price > position.stopLoss) position.stopLoss = price;
  }
}

export type Left = Map<Position, number>;

function order(
  book: Book,
  position: Position,
  quantity: number,
  reason: 'signal' | 'time_stop' | 'reverse',
  rule: number | null,
  left: Left,
): void {
  book.dueExits.push({ position, quantity, reason, rule });
  left.set(position, quantity >= left.get(position)! ? 0 : left.get(position)! - quantity);
}

/** By priority, then listing; each on what the ones before it leave. */
export function readExits(book: Book, signals: Signals, row: number, left: Left): void {
  const { strategy, instrument } = book.input;
  const rules = strategy.exits.map((exit, rule) => ({ exit, rule }));
  for (const { exit, rule } of rules.toSorted((a, b) => a.exit.priority - b.exit.priority)) {
    const { appliesTo, action } = exit;
    for (const position of book.positions) {
      const side = position.side === 1 ? 'long' : 'short';
      const quantity = left.get(position)!;
      if (quantity === 0 || position.doneExits.has(rule)) continue;
      if ((appliesTo !== 'any' && appliesTo !== side) || !signals.exit(rule, row, position)) continue;
      const wanted = action.mode === 'fixed' ? action.value : (quantity * action.value) / 100;
      const closing = partialQuantity(quantity, wanted, instrument.qtyStep);
      if (closing === 0) continue;
      if (closing < quantity) position.doneExits.add(rule);
      order(book, position, closing, 'signal', rule, left);
    }
  }
}

export function readTimeStops(book: Book, row: number, left: Left): void {
  const { timeStop } = book.input.strategy.risk;
  if (timeStop === undefined) return;
  const exitRow = book.input.config.execution.orderTiming === 'bar_close' ? row : row + 1;
  for (const position of book.positions) {
    if (left.get(position)! > 0 && exitRow - position.entryRow >= timeStop.maxBars)
      order(book, position, left.get(position)!, 'time_stop', null, left);
  }
}

/** Every true rule is counted; the first that is not blocked makes the one order of this close. */
function readEntries(book: Book, signals: Signals, row: number, left: Left): void {
  const found = findEntry(book, signals, row, left);
  if (found !== null) makeEntry(book, found, left);
}

/** What the entry rules ask for at a close. */
export interface FoundEntry {
  /** null: everything is closed and nothing is opened. */
  readonly order: EntryOrder | null;
  /** A level or size that it needs is missing: it will be rejected. */
  readonly isMissing: boolean;
  /** Positions that are closed with it. */
  readonly closes: readonly Position[];
  /** The other side is open, and the order closes or reverses it. */
  readonly isReversal: boolean;
}

/** The first rule that is true and not blocked makes the one entry order of this close; nothing is ordered yet. */
export function findEntry(book: Book, signals: Signals, row: number, left: Left): FoundEntry | null {
  const hasOrderedExit = [...left.values()].includes(0);
  const lastExit = hasOrderedExit ? row : book.lastFullExit;
  let found: FoundEntry | null = null;
  for (const [rule, entry] of book.input.strategy.entries.entries()) {
    if (!signals.entry(rule, row)) continue;
    book.counts.entrySignals++;
    if (found !== null || book.isOver) continue;
    if (row - lastExit < entry.cooldownBars) book.counts.blockedCooldown++;
    else found = takeSignal(book, signals, row, rule, left);
  }
  return found;
}

export function makeEntry(book: Book, { order: placed, isMissing, closes }: FoundEntry, left: Left): void {
  for (const position of closes) order(book, position, left.get(position)!, 'reverse', null, left);
  if (placed === null) return;
  if (isMissing) book.reject(placed, 'LEVEL_MISSING');
  else if (placed.type === 'market') book.dueEntry = placed;
  else {
    const replaced = book.pending.get(placed.rule);
    if (replaced !== undefined) book.note(replaced, 'replaced');
    book.pending.set(placed.rule, placed);
  }
}

/** null when slots or conflict block the signal. */
function takeSignal(book: Book, signals: Signals, row: number, rule: number, left: Left): FoundEntry | null {
  const { maxConcurrentPositions, entries } = book.input.strategy;
  const { action, conflict } = entries[rule];
  const side: Side = action.side === 'long' ? 1 : -1;
  const isMarket = action.order.type === 'market';
  const staying = book.positions.filter((position) => left.get(position)! > 0);
  const isOpposed = staying.some((position) => position.side !== side);
  if (isOpposed && isMarket && conflict === 'close')
    return { order: null, isMissing: false, closes: staying, isReversal: true };
  const waiting = [...book.pending.keys()].filter((other) => other !== rule).length;
  const taken = (isOpposed && conflict !== 'ignore' ? 0 : staying.length) + waiting;
  if (taken >= maxConcurrentPositions) {
    if (maxConcurrentPositions === 1 && staying.length > 0) book.counts.blockedInPosition++;
    else book.counts.blockedMaxPositions++;
    return null;
  }
  if (isOpposed && conflict === 'ignore') {
    book.counts.blockedInPosition++;
    return null;
  }
  const made = entryOrder(book, signals, row, rule, side);
  return { ...made, closes: isOpposed && isMarket ? staying : [], isReversal: isOpposed };
}

function entryOrder(
  book: Book,
  signals: Signals,
  row: number,
  rule: number,
  side: Side,
): Pick<FoundEntry, 'order' | 'isMissing'> {
  const { strategy } = book.input;
  const { sizing, order: request } = strategy.entries[rule].action;
  const atr = (period: number): number => signals.atr(period, row);
  const price = (node: unknown): number => signals.price(node, row, null);
  const levels = readLevels(strategy.risk, side, { price, atr });
  const at = request.type === 'market' ? NaN : price(request.price);
  const order: EntryOrder = {
    rule,
    signalRow: row,
    type: request.type,
    price: at,
    lastRow: request.type === 'market' ? row + 1 : row + request.expireBars,
    levels: levels ?? { stopFrom: () => NaN, targets: [], trailDistance: NaN },
  };
  const isSizeMissing =
    (sizing.mode === 'volatility_target' && Number.isNaN(atr(sizing.atrPeriod ?? 14))) ||
    (sizing.mode === 'risk_percent' && isStopUpdated(strategy.risk) && Number.isNaN(levels?.stopFrom(1) ?? NaN));
  const isMissing = levels === null || isSizeMissing || (request.type !== 'market' && Number.isNaN(at));
  return { order, isMissing };
}
