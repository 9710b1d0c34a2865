// Levels: what the risk rules say at a signal, and the prices they become at the fill.
import type { BoundLevel, BoundLevels } from './boundLevels.ts';
import { findNextTarget, tightenStop, type Position } from './position.ts';
import type { StateMemory, ValueSource } from '../evaluate/tradingRules.ts';
import { NO_LEVELS, type SignalLevels } from './orders.ts';
import type { Run } from './run.ts';

/** The value of a price expression at the close of `row`, as an entry sees the account; NaN: missing. */
export function readPrice(run: Run, price: ValueSource, row: number): number {
  switch (price.kind) {
    case 'constant':
      return price.value;
    case 'column':
      return price.values[row];
    case 'stateful': {
      return price.value.value(row, run.state.forEntries(row), run.memories.get(price.value)!);
    }
  }
}

/** Reads the risk rules at the close of `row`; null when a level they need is missing. */
export function readSignalLevels(run: Run, row: number): SignalLevels | null {
  if (!run.readsLevels) return NO_LEVELS;
  const { stop, targets, trail } = run.levels;
  const stopAmount = stop === null ? NaN : readLevel(run, stop, row);
  // A stop price that is read again at every close may begin later.
  if (stop?.isRead === true && !stop.followsBars && Number.isNaN(stopAmount)) return null;

  const amounts: number[] = [];
  for (const target of targets) {
    const amount = readLevel(run, target, row);
    if (target.isRead && Number.isNaN(amount)) return null;
    amounts.push(amount);
  }

  const trailDistance = trail === null ? NaN : readLevel(run, trail, row);
  if (trail?.isRead === true && Number.isNaN(trailDistance)) return null;
  return { stop: stopAmount, targets: amounts, trailDistance };
}

/** The distance or price that a level reads at the close of `row`; NaN: missing, or it reads nothing. */
function readLevel(run: Run, { atr, number, source }: BoundLevel, row: number): number {
  if (atr !== null) return atr[row] * number;
  return source === null ? NaN : readPrice(run, source, row);
}

/** The initial stop's price for an entry filled at `price`; NaN: no stop, or not known yet. */
export function initialStop({ stop }: BoundLevels, levels: SignalLevels, side: 1 | -1, price: number): number {
  if (stop === null) return NaN;
  return stop.formula(price, side > 0 ? -1 : 1, stop.isRead ? levels.stop : stop.number, NaN);
}

/** Sets every level of a position just filled. */
export function setLevels(run: Run, position: Position, levels: SignalLevels, stopPrice: number): void {
  const { side, entryPrice } = position;
  const { targets, trail } = run.levels;
  if (!Number.isNaN(stopPrice)) position.stopLoss = side * stopPrice;
  for (let step = 0; step < targets.length; step++) {
    const { formula, isRead, number } = targets[step];
    const price = formula(entryPrice, side, isRead ? levels.targets[step] : number, position.initialRisk);
    // An R target without a known stop has no price; it never fills.
    position.targets[step] = Number.isNaN(price) ? Infinity : side * price;
  }
  findNextTarget(position);
  const { breakeven } = run.input.risk;
  if (trail !== null) {
    const { activateAfterPercent, isRead, number } = trail;
    const amount = isRead ? levels.trailDistance : number;
    position.trailFrom =
      activateAfterPercent === null ? -Infinity : side * entryPrice * (1 + (side * activateAfterPercent) / 100);
    position.trailFactor = trail.factor(side, amount);
    position.trailOffset = trail.offset(amount);
  }
  if (breakeven !== null) {
    position.breakevenFrom = side * entryPrice * (1 + (side * breakeven.activateAfterPercent) / 100);
    position.breakevenLevel = side * entryPrice * (1 + (side * breakeven.offsetPercent) / 100);
  }
  tightenStop(position);
}

/**
 * A stop price with update "bar" is read again at every close; it moves only in the position's favor, and acts from
 * the next bar.
 */
export function updateStopPrices(run: Run, row: number): void {
  const { stop } = run.levels;
  if (stop === null || !stop.followsBars) return;
  for (const position of run.positions) {
    const price = readPositionPrice(run, stop.source!, row, position, position.stopMemory);
    const signed = position.side * price;
    if (signed > position.stopLoss) {
      position.stopLoss = signed;
      tightenStop(position);
    }
  }
}

function readPositionPrice(
  run: Run,
  price: ValueSource,
  row: number,
  position: Position,
  memory: StateMemory | null,
): number {
  if (price.kind !== 'stateful') return readPrice(run, price, row);
  const view = run.state.forPosition(row, position);
  if (price.value.hasPositionHistory) price.value.recordPosition(row, view, memory!);
  return price.value.value(row, view, memory!);
}
