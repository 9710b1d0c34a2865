// A Plan: the column steps of a strategy in dependency order, and the ones its rules read.
import type { CONDITION_DEFINITIONS, VALUE_DEFINITIONS } from '../definitions/expressions/expressionRegistry.ts';
import type {
  Frame,
  SharedConditionOperation,
  SharedValueOperation,
  Slot,
} from '../definitions/expressions/planSteps.ts';
import type { RunnableCondition, RunnableKind, RunnableValue } from '../language/grammar/ast.ts';

export type { Frame, Slot } from '../definitions/expressions/planSteps.ts';

/** The operations that belong to one kind: each takes its own parameters. */
type OwnOperation<D> = D extends {
  readonly operation: { column(operation: infer O, ...rest: never): unknown };
}
  ? O
  : never;
/** The operation of a value step. Its operands are the `inputs` of the step, in order. */
export type ValueOperation = SharedValueOperation | OwnOperation<(typeof VALUE_DEFINITIONS)[number]>;
/** The operation of a condition step. */
export type ConditionOperation = SharedConditionOperation | OwnOperation<(typeof CONDITION_DEFINITIONS)[number]>;

interface StepBase {
  readonly slot: Slot;
  readonly inputs: readonly Slot[];
  readonly frame: Frame;
  /** The whole sub-expression as one canonical string: equal keys on the same bars are equal columns. */
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
      readonly conjuncts: readonly StatefulExpression<RunnableCondition>[];
    };
export type PlannedValue =
  | { readonly kind: 'column'; readonly slot: Slot }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'stateful'; readonly expression: StatefulExpression<RunnableValue> };
/** An expression above a `state` leaf, and the columns of its largest stateless parts. */
export interface StatefulExpression<E> {
  readonly expression: E;
  readonly slots: ReadonlyMap<object, Slot>;
}

/** `when`, `where` and `require` are those of an allocation; its legs tell theirs apart by their path. */
export type ConditionRole = 'setup' | 'trigger' | 'filter' | 'exit' | 'when' | 'where' | 'require';

/** A condition node of a rule, for rule statistics and explain. */
export interface ConditionNode {
  /** The author's node id, else the path. */
  readonly nodeId: string;
  /** RFC 6901 pointer into the payload as sent: `/strategyAst/…` or `/signalGraph/…`. */
  readonly path: string;
  readonly role: ConditionRole;
  readonly kind: RunnableKind;
  readonly text: string;
  /** Index of the entry or exit that it belongs to, or of the condition of an allocation, in reading order. */
  readonly ruleIndex: number;
  /** Index of the enclosing node in `conditions`, null at the top of a role. */
  readonly parent: number | null;
  /** True when the rule can only be true if this node is: only `all` is above it. */
  readonly isConjunct: boolean;
  /** null when it reads state. */
  readonly slot: Slot | null;
  /** The condition itself, by which answers over state are recorded. */
  readonly expression: RunnableCondition;
  /** Base-frame columns of the two sides of a comparison. */
  readonly left: Slot | null;
  readonly right: Slot | null;
}

/** An expression to which the author gave an id, for samples and the `signals` artifact. */
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
  readonly rank: PlannedValue | null;
  readonly sizingAtr: Slot | null;
}
export interface PlannedExit {
  readonly id: string;
  readonly condition: PlannedCondition;
}
/** What a leg of an allocation reads of each instrument; null: it does not ask. */
export interface PlannedLeg {
  readonly by: PlannedValue | null;
  readonly where: Slot | null;
  readonly require: Slot | null;
}
export interface PlannedAllocation {
  readonly id: string;
  readonly when: Slot;
  readonly long: PlannedLeg | null;
  readonly short: PlannedLeg | null;
  readonly weightBy: PlannedValue | null;
  /** Percent points of equity. */
  readonly gross: PlannedValue;
}
/** What a level reads at a signal. */
export interface PlannedLevel {
  readonly atr: Slot | null;
  readonly price: PlannedValue | null;
}
export interface PlannedRisk {
  readonly stop: PlannedLevel | null;
  readonly targets: readonly (PlannedLevel & {
    /** Its place in the payload as sent. */
    readonly path: string;
  })[];
  readonly trail: PlannedLevel | null;
}

export interface Plan {
  /** The run's own bars. */
  readonly base: Frame;
  readonly steps: readonly Step[];
  readonly entries: readonly PlannedEntry[];
  readonly exits: readonly PlannedExit[];
  /** In place of entries and exits. */
  readonly allocation: PlannedAllocation | null;
  readonly risk: PlannedRisk;
  readonly slippageAtr: Slot | null;
  readonly conditions: readonly ConditionNode[];
  readonly named: readonly NamedNode[];
  /** Values that conditions read and that have no id, for samples: `nodeId` is their text. */
  readonly compared: readonly NamedNode[];
  /** The frames other than the base that the plan reads. */
  readonly frames: readonly Frame[];
}
