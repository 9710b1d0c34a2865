// Expressions over position and account state, bound to the columns of their stateless parts and read in the loop, and
// what a node of them remembers from close to close.
import { hasBit, wordCount } from '../kernels/bits.ts';
import { Ring } from '../kernels/ring.ts';
import type { RunnableCondition, RunnableExpression, RunnableValue } from '../language/grammar/ast.ts';
import type { PlannedCondition, StatefulExpression } from '../plan/plan.ts';
import type { EvaluatedPlan } from './evaluatePlan.ts';
import {
  conditionKind,
  runnableValueKind,
  readsState,
  stateFieldOf,
} from '../definitions/expressions/expressionRegistry.ts';
import {
  every,
  type ReadTruth,
  type ReadValue,
  type StatefulParts,
  type StateMemory,
  type StateView,
} from '../definitions/expressions/stateParts.ts';
import { POSITION_STATE_FIELDS, type StatefulCondition, type StatefulValue, type Stateful } from './tradingRules.ts';
import { childrenOf } from '../language/grammar/visit.ts';

/** The rows on which a condition over state was evaluated, and its answers: one bit per row. */
export interface RecordedCondition {
  readonly evaluatedRows: Uint32Array;
  readonly isTrue: Uint32Array;
  readonly isUnknown: Uint32Array;
}

/** @param recorded where the answers of the condition nodes are kept for rule statistics; null: they are not kept. */
export function bindCondition(
  planned: PlannedCondition & { kind: 'stateful' },
  evaluated: EvaluatedPlan,
  recorded: Map<object, RecordedCondition> | null,
): StatefulCondition {
  const slots = new Map(planned.conjuncts.flatMap((conjunct) => [...conjunct.slots]));
  const binder = new Binder(evaluated, slots, recorded);
  const test = every(planned.conjuncts.map((conjunct) => binder.truth(conjunct.expression)));
  const gate = planned.gate === null ? null : evaluated.condition(planned.gate).isTrue;
  return { ...historyOf(binder.history), gate, test };
}

/** Binds a value over state to the columns of its stateless parts. */
export function bindValue(expression: StatefulExpression<RunnableValue>, evaluated: EvaluatedPlan): StatefulValue {
  const binder = new Binder(evaluated, expression.slots, null);
  const value = binder.value(expression.expression);
  return { ...historyOf(binder.history), value };
}

/**
 * Binds one expression. History nodes are listed children first, so that each records the current values of its parts.
 */
class Binder implements StatefulParts {
  readonly history: HistoryNode[] = [];
  readonly #evaluated: EvaluatedPlan;
  readonly #slots: ReadonlyMap<object, number>;
  readonly #recorded: Map<object, RecordedCondition> | null;

  constructor(
    evaluated: EvaluatedPlan,
    slots: ReadonlyMap<object, number>,
    recorded: Map<object, RecordedCondition> | null,
  ) {
    this.#evaluated = evaluated;
    this.#slots = slots;
    this.#recorded = recorded;
  }

  value(node: RunnableValue): ReadValue {
    const slot = this.#slots.get(node);
    if (slot !== undefined) {
      const number = this.#evaluated.numberAt(slot);
      if (number !== undefined) return () => number;
      const { values } = this.#evaluated.value(slot);
      return (row) => values[row];
    }
    return (runnableValueKind(node).overState ?? neverOverState(node)).read(node, this);
  }

  truth(node: RunnableCondition): ReadTruth {
    const slot = this.#slots.get(node);
    if (slot !== undefined) {
      const { isTrue, isUnknown } = this.#evaluated.condition(slot);
      return (row) => (hasBit(isTrue, row) ? 1 : hasBit(isUnknown, row) ? 2 : 0);
    }
    const read = (conditionKind(node).overState ?? neverOverState(node)).read(node, this);
    const recorded = this.#recorded;
    if (recorded === null) return read;
    const words = wordCount(this.#evaluated.market.base.length);
    const record = {
      evaluatedRows: new Uint32Array(words),
      isTrue: new Uint32Array(words),
      isUnknown: new Uint32Array(words),
    };
    recorded.set(node, record);
    return (row, state, memory) => {
      const truth = read(row, state, memory);
      const bit = 1 << (row & 31);
      record.evaluatedRows[row >>> 5] |= bit;
      if (truth === 1) record.isTrue[row >>> 5] |= bit;
      else if (truth === 2) record.isUnknown[row >>> 5] |= bit;
      return truth;
    };
  }

  delayed(node: RunnableExpression, read: ReadValue, bars: number): ReadValue {
    if (bars === 0) return read;
    const slotOf = this.remember(
      node,
      () => new Ring(bars + 1),
      (ring, row, state, all) => ring.push(read(row, state, all)),
    );
    return (_row, _state, memory) => slotOf(memory).ago(bars);
  }

  remember<M extends object>(
    expression: RunnableExpression,
    create: () => M,
    record: (memory: M, row: number, state: StateView, all: StateMemory) => void,
  ): (memory: StateMemory) => M {
    const index = this.history.length;
    this.history.push({
      isOfPosition: readsPosition(expression),
      create,
      record: (row, state, memory) => record(memory[index] as M, row, state, memory),
    });
    return (memory) => memory[index] as M;
  }
}

/** Kinds without a state node below them are columns; validation rejects an indicator over state. */
function neverOverState({ kind }: { readonly kind: string }): never {
  throw new Error(`A ${kind} node was bound as an expression over state.`);
}

/**
 * A node with a memory, recorded on every evaluated bar. In an exit, a memory of position state starts with the
 * position.
 */
interface HistoryNode {
  /** Whether position state is read below it; otherwise it reads account state only. */
  readonly isOfPosition: boolean;
  create(): object;
  record(row: number, state: StateView, memory: StateMemory): void;
}

const POSITION_FIELDS: ReadonlySet<unknown> = new Set(POSITION_STATE_FIELDS);

/** Whether an expression reads a state field of a position. */
const readsPosition = (expression: RunnableExpression): boolean =>
  readsState(expression) ? POSITION_FIELDS.has(stateFieldOf(expression)) : childrenOf(expression).some(readsPosition);

/** What a bound expression records at each close, with the nodes that read position state apart from the others. */
function historyOf(history: readonly HistoryNode[]): Stateful {
  const ofAccount = history.filter(({ isOfPosition }) => !isOfPosition);
  const ofPosition = history.filter(({ isOfPosition }) => isOfPosition);
  const recordAll = (nodes: readonly HistoryNode[]) => (row: number, state: StateView, memory: StateMemory) => {
    for (const node of nodes) node.record(row, state, memory);
  };
  return {
    hasAccountHistory: ofAccount.length > 0,
    hasPositionHistory: ofPosition.length > 0,
    newMemory: (account) =>
      history.map((node, index) => (account === null || node.isOfPosition ? node.create() : account[index])),
    recordAccount: recordAll(ofAccount),
    recordPosition: recordAll(ofPosition),
  };
}
