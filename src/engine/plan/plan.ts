// A Plan: the column steps of a strategy in dependency order, and which of them its rules read.
import type { StoredTimeframe } from '../columns/bars.ts';
import type { MathOp } from '../columns/kernels/math.ts';
import type { RollingWindowMode } from '../columns/kernels/logic.ts';
import type { Args, IndicatorDefinition } from '../indicators/definition.ts';
import type { Concrete, Condition, MarketValue, RollingValue, TimeWindowCondition, Value } from '../language/ast.ts';
import type { PatternDefinition } from '../patterns/definition.ts';

/** Index of a step, and of the column it makes. */
export type Slot = number;

/** The bars a column lives on. */
export interface Frame {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
}

export type MarketField = MarketValue['field'];
export type RollingOp = RollingValue['op'];
export type CompareOp = 'gt' | 'gte' | 'lt' | 'lte' | 'eq' | 'neq';

/** What a value step does; `inputs` of the step are its operands, in order. */
export type ValueOperation =
  | { readonly op: 'const'; readonly value: number }
  | { readonly op: 'field'; readonly field: MarketField | 'time' }
  | { readonly op: 'series'; readonly name: string }
  | {
      readonly op: 'indicator';
      readonly definition: IndicatorDefinition;
      readonly args: Args;
      readonly output: number;
      readonly call: string;
    }
  | { readonly op: 'pattern'; readonly definition: PatternDefinition; readonly args: Args }
  | { readonly op: 'math'; readonly math: MathOp }
  | { readonly op: 'rolling'; readonly rolling: RollingOp; readonly period: number; readonly quantile: number }
  | { readonly op: 'shift'; readonly by: number }
  | { readonly op: 'align'; readonly from: Frame }
  | { readonly op: 'if' }
  | { readonly op: 'bars_since' }
  | { readonly op: 'value_when'; readonly occurrence: number }
  | { readonly op: 'capture' }
  | {
      readonly op: 'pivot';
      readonly pivotKind: 'high' | 'low';
      readonly left: number;
      readonly right: number;
      readonly occurrence: number;
    }
  | { readonly op: 'time'; readonly field: string; readonly timezone: string };

/** What a condition step does. */
export type ConditionOperation =
  | { readonly op: 'compare'; readonly compare: CompareOp; readonly tolerance: number }
  | { readonly op: 'cross'; readonly direction: 'up' | 'down' | 'any' }
  | { readonly op: 'moving'; readonly direction: 'rising' | 'falling'; readonly bars: number }
  | { readonly op: 'pattern_side'; readonly side: 'bullish' | 'bearish' | 'any' }
  | { readonly op: 'within'; readonly window: number }
  | { readonly op: 'all' }
  | { readonly op: 'any' }
  | { readonly op: 'not' }
  | { readonly op: 'align_condition'; readonly from: Frame }
  | { readonly op: 'time_window'; readonly window: Concrete<TimeWindowCondition>; readonly timezone: string }
  | {
      readonly op: 'sequence';
      readonly steps: readonly { readonly minBars: number; readonly maxBars: number | null }[];
    }
  | { readonly op: 'rolling_window'; readonly mode: RollingWindowMode; readonly window: number; readonly value: number }
  | {
      readonly op: 'state_machine';
      readonly ttlBars: number | null;
      readonly conflictPolicy: 'reset' | 'set' | 'hold';
      readonly hasReset: boolean;
    };

interface StepBase {
  readonly slot: Slot;
  readonly inputs: readonly Slot[];
  readonly frame: Frame;
  /** The whole sub-expression in one canonical string: equal keys on equal bars are equal columns. */
  readonly key: string;
}
export type ValueStep = StepBase & { readonly type: 'value' } & ValueOperation;
export type ConditionStep = StepBase & { readonly type: 'condition' } & ConditionOperation;
export type Step = ValueStep | ConditionStep;

/** A rule's condition: a column, or an expression over state that the fill loop evaluates. */
export type PlannedCondition =
  | { readonly kind: 'column'; readonly slot: Slot }
  | {
      readonly kind: 'stateful';
      readonly gate: Slot | null;
      readonly conjuncts: readonly StatefulExpression<Concrete<Condition>>[];
    };
export type PlannedValue =
  | { readonly kind: 'column'; readonly slot: Slot }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'stateful'; readonly expression: StatefulExpression<Concrete<Value>> };
/** An expression above a `state` leaf, and the columns of its largest stateless parts. */
export interface StatefulExpression<E> {
  readonly expression: E;
  readonly slots: ReadonlyMap<object, Slot>;
}

export type RuleRole = 'setup' | 'trigger' | 'filter' | 'exit';

/** A condition node of a rule, for rule statistics and explain. */
export interface RuleNode {
  /** The author's node id, else the path. */
  readonly nodeId: string;
  /** RFC 6901 pointer from the StrategyAst. */
  readonly path: string;
  readonly role: RuleRole;
  readonly kind: string;
  readonly text: string;
  /** Index of the entry or exit it belongs to. */
  readonly rule: number;
  /** Index of the enclosing node in `rules`, null at the top of a role. */
  readonly parent: number | null;
  /** True when the rule can only be true if this node is (reached through `all` alone). */
  readonly isConjunct: boolean;
  /** null: it reads state. */
  readonly slot: Slot | null;
  /** The condition as compiled, for nodes over state. */
  readonly expression: Concrete<Condition>;
  /** Base-frame columns of the two sides of a comparison. */
  readonly left: Slot | null;
  readonly right: Slot | null;
}

/** A value the author named, for samples and the `signals` artifact. */
export interface NamedNode {
  readonly nodeId: string;
  readonly text: string;
  readonly type: 'value' | 'condition';
  readonly slot: Slot;
}

export interface PlannedEntry {
  readonly id: string;
  readonly condition: PlannedCondition;
  readonly price: PlannedValue | null;
  readonly sizingAtr: Slot | null;
}
export interface PlannedExit {
  readonly id: string;
  readonly condition: PlannedCondition;
}
export interface PlannedRisk {
  readonly stopAtr: Slot | null;
  readonly stopPrice: PlannedValue | null;
  readonly targets: readonly { readonly atr: Slot | null; readonly price: PlannedValue | null }[];
  readonly trailAtr: Slot | null;
}

export interface Plan {
  readonly base: Frame;
  readonly steps: readonly Step[];
  readonly entries: readonly PlannedEntry[];
  readonly exits: readonly PlannedExit[];
  readonly risk: PlannedRisk;
  readonly slippageAtr: Slot | null;
  readonly rules: readonly RuleNode[];
  readonly named: readonly NamedNode[];
  /** Series other than the base that the plan reads. */
  readonly frames: readonly Frame[];
}
