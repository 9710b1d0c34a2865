// The rules of a run, bound to the columns of its evaluated plan: what the fill loop trades by.
import type { EvaluatedPlan } from './evaluatePlan.ts';
import type { RunnableEntry, RunnableExit, RunnableRisk, RunnableStrategy } from '../language/grammar/ast.ts';
import type {
  ConditionSource,
  EntryRule,
  ExitRule,
  OrderRule,
  RiskRules,
  SizingRule,
  StopRule,
  TakeProfitRule,
  ValueSource,
} from './tradingRules.ts';
import type { PlannedCondition, PlannedValue, Slot } from '../plan/plan.ts';
import { bindCondition, bindValue, type RecordedCondition } from './stateful.ts';

export interface BoundRules {
  readonly entries: readonly EntryRule[];
  readonly exits: readonly ExitRule[];
  readonly risk: RiskRules;
  /** The place of each take-profit in the payload as sent. */
  readonly targetPaths: readonly string[];
  readonly slippageAtr: Float64Array | null;
  /** The answers of conditions over state, by expression. */
  readonly recorded: ReadonlyMap<object, RecordedCondition>;
}

const SIDES = { long: 1, short: -1, any: 0 } as const;

/** @param recordsConditions whether the answers of conditions over state are kept, for rule statistics. */
export function bindRules(
  strategy: RunnableStrategy,
  evaluated: EvaluatedPlan,
  recordsConditions: boolean,
): BoundRules {
  const { plan } = evaluated;
  const recorded = new Map<object, RecordedCondition>();
  const condition = (planned: PlannedCondition): ConditionSource =>
    planned.kind === 'column'
      ? { kind: 'bits', isTrue: evaluated.condition(planned.slot).isTrue }
      : { kind: 'stateful', condition: bindCondition(planned, evaluated, recordsConditions ? recorded : null) };
  const column = (slot: Slot | null): Float64Array => evaluated.value(required(slot)).values;
  const value = (planned: PlannedValue | null): ValueSource => valueSource(required(planned), evaluated);
  const entries = strategy.entries.map((entry, index): EntryRule => {
    const planned = plan.entries[index];
    return {
      id: planned.id,
      side: SIDES[entry.action.side],
      signal: condition(planned.condition),
      sizing: sizingRule(entry.action.sizing, () => column(planned.sizingAtr)),
      order: orderRule(entry.action.order, () => value(planned.price)),
      cooldownBars: entry.cooldownBars,
      conflict: entry.conflict,
    };
  });
  const exits = strategy.exits.map((exit, index) =>
    exitRule(exit, plan.exits[index].id, condition(plan.exits[index].condition)),
  );
  const risk = riskRules(strategy, evaluated, column, value);
  const slippageAtr = plan.slippageAtr === null ? null : column(plan.slippageAtr);
  const targetPaths = plan.risk.targets.map(({ path }) => path);
  return { entries, exits, risk, targetPaths, slippageAtr, recorded };
}

/** A part that validation and planning guarantee for this kind of rule. */
function required<T>(part: T | null | undefined): T {
  if (part === null || part === undefined) throw new Error('A rule was planned without a column that it reads.');
  return part;
}

function valueSource(planned: PlannedValue, evaluated: EvaluatedPlan): ValueSource {
  switch (planned.kind) {
    case 'column':
      return { kind: 'column', values: evaluated.value(planned.slot).values };
    case 'constant':
      return planned;
    case 'stateful':
      return { kind: 'stateful', value: bindValue(planned.expression, evaluated) };
  }
}

function sizingRule(sizing: RunnableEntry['action']['sizing'], atr: () => Float64Array): SizingRule {
  const { mode, value } = sizing;
  return mode === 'volatility_target' ? { mode, value, atr: atr() } : { mode, value };
}

function orderRule(order: RunnableEntry['action']['order'], price: () => ValueSource): OrderRule {
  if (order.type === 'market') return { type: 'market' };
  return { type: order.type, price: price(), expireBars: order.expireBars };
}

function exitRule(exit: RunnableExit, id: string, when: ConditionSource): ExitRule {
  return {
    id,
    appliesTo: SIDES[exit.appliesTo],
    priority: exit.priority,
    when,
    action: { mode: exit.action.mode, value: exit.action.value },
  };
}

function riskRules(
  strategy: RunnableStrategy,
  evaluated: EvaluatedPlan,
  column: (slot: Slot | null) => Float64Array,
  value: (planned: PlannedValue | null) => ValueSource,
): RiskRules {
  const { stopLoss, takeProfits, trailingStop, breakeven, timeStop } = strategy.risk;
  const planned = evaluated.plan.risk;
  return {
    stopLoss: stopLoss ? stopRule(stopLoss, planned.stopAtr, planned.stopPrice, column, value) : null,
    takeProfits: takeProfits.map((target, index): TakeProfitRule => {
      const { triggerPercent, triggerR, triggerAtr, closePercent, closeBasis, moveStopToBreakeven } = target;
      const { atr, price } = planned.targets[index];
      const trigger: TakeProfitRule['trigger'] =
        triggerPercent !== undefined
          ? { mode: 'percent', value: triggerPercent }
          : triggerR !== undefined
            ? { mode: 'r', value: triggerR }
            : triggerAtr !== undefined
              ? { mode: 'atr', atr: column(atr), multiplier: triggerAtr.multiplier }
              : { mode: 'price', price: value(price) };
      return { trigger, closePercent, closeBasis, moveStopToBreakeven };
    }),
    trailingStop: trailingStop
      ? {
          distance: trailingStop.distanceAtr
            ? { mode: 'atr', atr: column(planned.trailAtr), multiplier: trailingStop.distanceAtr.multiplier }
            : { mode: 'percent', value: required(trailingStop.distancePercent) },
          activateAfterPercent: trailingStop.activateAfterPercent ?? null,
        }
      : null,
    breakeven: breakeven
      ? { activateAfterPercent: breakeven.activateAfterPercent, offsetPercent: breakeven.offsetPercent }
      : null,
    timeStop: timeStop ? { maxBars: timeStop.maxBars } : null,
  };
}

function stopRule(
  stop: NonNullable<RunnableRisk['stopLoss']>,
  atr: Slot | null,
  price: PlannedValue | null,
  column: (slot: Slot | null) => Float64Array,
  value: (planned: PlannedValue | null) => ValueSource,
): StopRule {
  switch (stop.mode) {
    case 'percent':
    case 'fixed':
      return { mode: stop.mode, value: stop.value };
    case 'atr':
      return { mode: 'atr', atr: column(atr), multiplier: stop.multiplier };
    case 'price':
      return { mode: 'price', price: value(price), update: stop.update };
  }
}
