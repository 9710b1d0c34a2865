// Levels: what the risk rules say at a signal, and the prices they become at the fill.
import { findNextTarget, tightenStop, type Position } from './position.ts';
import type { RiskRules, StateMemory, ValueSource } from '../evaluate/tradingRules.ts';
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
  const { stopLoss, takeProfits, trailingStop } = run.input.risk;
  let stop = NaN;
  if (stopLoss?.mode === 'atr') stop = stopLoss.atr[row] * stopLoss.multiplier;
  else if (stopLoss?.mode === 'price') stop = readPrice(run, stopLoss.price, row);
  // A stop price that is read again at every close may begin later.
  const isStopNeeded = stopLoss?.mode === 'atr' || (stopLoss?.mode === 'price' && stopLoss.update !== 'bar');
  if (isStopNeeded && Number.isNaN(stop)) return null;

  const targets: number[] = [];
  for (const { trigger } of takeProfits) {
    let level = NaN;
    if (trigger.mode === 'atr') level = trigger.atr[row] * trigger.multiplier;
    else if (trigger.mode === 'price') level = readPrice(run, trigger.price, row);
    if ((trigger.mode === 'atr' || trigger.mode === 'price') && Number.isNaN(level)) return null;
    targets.push(level);
  }

  let trailDistance = NaN;
  if (trailingStop?.distance.mode === 'atr') {
    trailDistance = trailingStop.distance.atr[row] * trailingStop.distance.multiplier;
    if (Number.isNaN(trailDistance)) return null;
  }
  return { stop, targets, trailDistance };
}

/** The initial stop's price for an entry filled at `price`; NaN: no stop, or not known yet. */
export function initialStop(risk: RiskRules, levels: SignalLevels, side: 1 | -1, price: number): number {
  const { stopLoss } = risk;
  if (stopLoss === null) return NaN;
  switch (stopLoss.mode) {
    case 'percent':
      return price * (1 - (side * stopLoss.value) / 100);
    case 'fixed':
      return price - side * stopLoss.value;
    case 'atr':
      return price - side * levels.stop;
    case 'price':
      return levels.stop;
  }
}

function targetPrice(
  rule: RiskRules['takeProfits'][number],
  step: number,
  levels: SignalLevels,
  position: Position,
): number {
  const { side, entryPrice } = position;
  switch (rule.trigger.mode) {
    case 'percent':
      return entryPrice * (1 + (side * rule.trigger.value) / 100);
    case 'r':
      return entryPrice + side * rule.trigger.value * position.initialRisk;
    case 'atr':
      return entryPrice + side * levels.targets[step];
    case 'price':
      return levels.targets[step];
  }
}

/** Sets every level of a position just filled. */
export function setLevels(position: Position, risk: RiskRules, levels: SignalLevels, stopPrice: number): void {
  const { side, entryPrice } = position;
  if (!Number.isNaN(stopPrice)) position.stopLoss = side * stopPrice;
  for (let step = 0; step < risk.takeProfits.length; step++) {
    const price = targetPrice(risk.takeProfits[step], step, levels, position);
    // An R target without a known stop has no price; it never fills.
    position.targets[step] = Number.isNaN(price) ? Infinity : side * price;
  }
  findNextTarget(position);
  const { trailingStop, breakeven } = risk;
  if (trailingStop !== null) {
    const { distance, activateAfterPercent } = trailingStop;
    position.trailFrom =
      activateAfterPercent === null ? -Infinity : side * entryPrice * (1 + (side * activateAfterPercent) / 100);
    if (distance.mode === 'percent') position.trailFactor = 1 - (side * distance.value) / 100;
    else position.trailOffset = levels.trailDistance;
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
  const { stopLoss } = run.input.risk;
  if (stopLoss?.mode !== 'price' || stopLoss.update !== 'bar') return;
  for (const position of run.positions) {
    const price = readPositionPrice(run, stopLoss.price, row, position, position.stopMemory);
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
