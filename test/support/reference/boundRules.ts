// Rules that are bound to columns, in the form in which the reference reads rules: the reference then runs on exactly
// the input that the engine's simulation is given.
import type { RunnableStrategy } from '../../../src/engine/language/grammar/ast.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import type {
  ConditionSource,
  EntryRule,
  RiskRules,
  TakeProfitRule,
  ValueSource,
} from '../../../src/engine/evaluate/tradingRules.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { BookInput } from './book.ts';
import type { Signals } from './close.ts';

/** The period by which slippage asks for its ATR. */
const SLIPPAGE_PERIOD = 14;

export interface BoundRules {
  readonly book: BookInput;
  readonly signals: Signals;
}

/** A rule's ATR is told by a number in place of its period; prices are value sources in place of expressions. */
export function boundRules(input: SimulationInput): BoundRules {
  const atrs = new Map<number, Float64Array>();
  if (input.slippageAtr !== null) atrs.set(SLIPPAGE_PERIOD, input.slippageAtr);
  const periodOf = (atr: Float64Array): number => {
    const period = 100 + atrs.size;
    atrs.set(period, atr);
    return period;
  };
  const atr = (period: number, row: number): number => atrs.get(period)?.[row] ?? NaN;
  const strategy = {
    timezone: 'UTC',
    maxConcurrentPositions: input.maxConcurrentPositions,
    entries: input.entries.map((entry) => ({
      conflict: entry.conflict,
      cooldownBars: entry.cooldownBars,
      action: { side: entry.side === 1 ? 'long' : 'short', sizing: sizingOf(entry, periodOf), order: entry.order },
    })),
    exits: input.exits.map(({ appliesTo, priority, action }) => ({
      appliesTo: appliesTo === 0 ? 'any' : appliesTo === 1 ? 'long' : 'short',
      priority,
      action,
    })),
    risk: riskOf(input.risk, periodOf),
  };
  const signals: Signals = {
    entry: (rule, row) => isTrue(input.entries[rule].signal, row),
    exit: (rule, row) => isTrue(input.exits[rule].when, row),
    price: (node, row) => valueAt(node as ValueSource, row),
    atr,
  };
  const { bars, fine: children, instrument, config, start, end } = input;
  // The reference reads of a strategy only what is given here, and its expressions only through `signals`.
  const runnable = strategy as unknown as RunnableStrategy;
  return { book: { strategy: runnable, bars, children, instrument, config, start, end, atr }, signals };
}

/** Generated rules read no state. */
function isTrue(source: ConditionSource, row: number): boolean {
  if (source.kind !== 'bits') throw new Error('a condition over state has no column');
  return hasBit(source.isTrue, row);
}

export function valueAt(source: ValueSource, row: number): number {
  if (source.kind === 'stateful') throw new Error('a value over state has no column');
  return source.kind === 'constant' ? source.value : source.values[row];
}

type PeriodOf = (atr: Float64Array) => number;

const sizingOf = ({ sizing: { mode, value, atr } }: EntryRule, periodOf: PeriodOf): object =>
  atr === undefined ? { mode, value } : { mode, value, atrPeriod: periodOf(atr) };

function riskOf({ stopLoss, takeProfits, trailingStop, breakeven, timeStop }: RiskRules, periodOf: PeriodOf): object {
  return {
    ...(stopLoss === null ? {} : { stopLoss: stopOf(stopLoss, periodOf) }),
    takeProfits: takeProfits.map((step) => ({ ...triggerOf(step, periodOf), ...step })),
    ...(trailingStop === null ? {} : { trailingStop: trailOf(trailingStop, periodOf) }),
    ...(breakeven === null ? {} : { breakeven }),
    ...(timeStop === null ? {} : { timeStop }),
  };
}

function stopOf(stop: NonNullable<RiskRules['stopLoss']>, periodOf: PeriodOf): object {
  if (stop.mode === 'atr') return { mode: 'atr', period: periodOf(stop.atr), multiplier: stop.multiplier };
  return stop.mode === 'price' ? { mode: 'price', value: stop.price, update: stop.update } : stop;
}

function triggerOf({ trigger }: TakeProfitRule, periodOf: PeriodOf): object {
  switch (trigger.mode) {
    case 'percent':
      return { triggerPercent: trigger.value };
    case 'r':
      return { triggerR: trigger.value };
    case 'atr':
      return { triggerAtr: { period: periodOf(trigger.atr), multiplier: trigger.multiplier } };
    case 'price':
      return { triggerPrice: trigger.price };
  }
}

function trailOf(trail: NonNullable<RiskRules['trailingStop']>, periodOf: PeriodOf): object {
  const after = trail.activateAfterPercent === null ? {} : { activateAfterPercent: trail.activateAfterPercent };
  const { distance } = trail;
  return distance.mode === 'percent'
    ? { ...after, distancePercent: distance.value }
    : { ...after, distanceAtr: { period: periodOf(distance.atr), multiplier: distance.multiplier } };
}
