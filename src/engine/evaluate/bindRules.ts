// The rules of a run, bound to the columns of its evaluated plan: what the fill loop trades by.
import type { EvaluatedPlan } from './evaluatePlan.ts';
import type {
  RunnableAllocation,
  RunnableEntry,
  RunnableExit,
  RunnableRisk,
  RunnableStrategy,
} from '../language/grammar/ast.ts';
import type {
  AllocationRule,
  ConditionSource,
  DistanceRule,
  EntryRule,
  ExitRule,
  LegPlaces,
  LevelRule,
  OrderRule,
  RiskRules,
  SizingRule,
  StopRule,
  TakeProfitRule,
  ValueSource,
} from './tradingRules.ts';
import { distanceLevel, stopLevel, triggerLevel, type WrittenLevel } from '../language/grammar/writtenLevels.ts';
import type { PlannedCondition, PlannedLeg, PlannedLevel, PlannedValue, Slot } from '../plan/plan.ts';
import { bindCondition, bindValue, type RecordedCondition } from './stateful.ts';

export interface BoundRules {
  readonly entries: readonly EntryRule[];
  readonly exits: readonly ExitRule[];
  /** In place of entries and exits. */
  readonly allocation: AllocationRule | null;
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
    const rule: EntryRule = {
      id: planned.id,
      side: SIDES[entry.action.side],
      signal: condition(planned.condition),
      sizing: sizingRule(entry.action.sizing, planned.sizingAtr === null ? undefined : column(planned.sizingAtr)),
      order: orderRule(entry.action.order, () => value(planned.price)),
      cooldownBars: entry.cooldownBars,
      conflict: entry.conflict,
    };
    return planned.rank === null ? rule : { ...rule, rank: value(planned.rank) };
  });
  const exits = strategy.exits.map((exit, index) =>
    exitRule(exit, plan.exits[index].id, condition(plan.exits[index].condition)),
  );
  const allocation = strategy.allocation === null ? null : allocationRule(strategy.allocation, evaluated);
  const risk = riskRules(strategy, evaluated, column, value);
  const slippageAtr = plan.slippageAtr === null ? null : column(plan.slippageAtr);
  const targetPaths = plan.risk.targets.map(({ path }) => path);
  return { entries, exits, allocation, risk, targetPaths, slippageAtr, recorded };
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

function sizingRule(sizing: RunnableEntry['action']['sizing'], atr?: Float64Array): SizingRule {
  const { mode } = sizing;
  const value = 'value' in sizing ? sizing.value : NaN;
  return atr === undefined ? { mode, value } : { mode, value, atr };
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

function allocationRule(allocation: RunnableAllocation, evaluated: EvaluatedPlan): AllocationRule {
  const planned = required(evaluated.plan.allocation);
  const { long, short, weights } = allocation;
  const value = (read: PlannedValue): ValueSource => valueSource(read, evaluated);
  const bits = (slot: Slot): Uint32Array => evaluated.condition(slot).isTrue;
  const legRule = ({ by, where, require }: PlannedLeg) => ({
    by: by === null ? null : value(by),
    where: where === null ? null : bits(where),
    require: require === null ? null : bits(require),
  });
  return {
    id: planned.id,
    when: bits(planned.when),
    long:
      long === undefined ? null : { ...legRule(required(planned.long)), ...legForm(long, long.top, long.topPercent) },
    short:
      short === undefined
        ? null
        : { ...legRule(required(planned.short)), ...legForm(short, short.bottom, short.bottomPercent) },
    weights: {
      mode: weights.mode,
      by: planned.weightBy === null ? null : value(planned.weightBy),
      values: 'values' in weights ? weights.values : null,
      maxPercent: weights.maxPercent ?? null,
    },
    gross: value(planned.gross),
    fallback: allocation.fallback ?? null,
    bandPercent: allocation.bandPercent,
  };
}

function legForm(
  { keepWithin }: NonNullable<RunnableAllocation['long' | 'short']>,
  count: number | undefined,
  percent: number | undefined,
): { readonly places: LegPlaces; readonly keepWithin: number | null } {
  const places: LegPlaces =
    count !== undefined
      ? { kind: 'count', count }
      : percent !== undefined
        ? { kind: 'share', percent }
        : { kind: 'eligible' };
  return { places, keepWithin: keepWithin ?? null };
}

function riskRules(
  strategy: RunnableStrategy,
  evaluated: EvaluatedPlan,
  column: (slot: Slot | null) => Float64Array,
  value: (planned: PlannedValue | null) => ValueSource,
): RiskRules {
  const { stopLoss, takeProfits, trailingStop, breakeven, timeStop } = strategy.risk;
  const planned = evaluated.plan.risk;
  const bind = (level: WrittenLevel, read: PlannedLevel | null): LevelRule => levelRule(level, read, column, value);
  return {
    stopLoss: stopLoss ? stopRule(stopLoss, bind(stopLevel(stopLoss), planned.stop)) : null,
    takeProfits: takeProfits.map((target, index): TakeProfitRule => {
      const { closePercent, closeBasis, moveStopToBreakeven } = target;
      const trigger = bind(triggerLevel(target), planned.targets[index]) as TakeProfitRule['trigger'];
      return { trigger, closePercent, closeBasis, moveStopToBreakeven };
    }),
    trailingStop: trailingStop
      ? {
          distance: bind(distanceLevel(trailingStop), planned.trail) as DistanceRule,
          activateAfterPercent: trailingStop.activateAfterPercent ?? null,
        }
      : null,
    breakeven: breakeven
      ? { activateAfterPercent: breakeven.activateAfterPercent, offsetPercent: breakeven.offsetPercent }
      : null,
    timeStop: timeStop ? { maxBars: timeStop.maxBars } : null,
  };
}

const stopRule = (stop: NonNullable<RunnableRisk['stopLoss']>, rule: LevelRule): StopRule =>
  ('update' in stop ? { ...rule, update: stop.update } : rule) as StopRule;

/** The mode is one that the place of the level offers, which the grammar has checked. */
function levelRule(
  { level: { mode, form }, number }: WrittenLevel,
  planned: PlannedLevel | null,
  column: (slot: Slot | null) => Float64Array,
  value: (planned: PlannedValue | null) => ValueSource,
): LevelRule {
  switch (form) {
    case 'number':
      return { mode, value: number } as LevelRule;
    case 'atrs':
      return { mode, atr: column(required(planned).atr), multiplier: number } as LevelRule;
    case 'expression':
      return { mode, price: value(required(planned).price) } as LevelRule;
  }
}
