// Expressions over position and account state, bound to the columns of their stateless parts and read in the loop.
import { hasBit, wordCount } from '../kernels/bits.ts';
import { compareNumbers } from './leafConditions.ts';
import type { EvaluatedPlan } from './evaluatePlan.ts';
import { rollingKernel } from './rollingKernel.ts';
import { countAnswer, nextSetRow } from '../kernels/logic.ts';
import { mathOf } from '../kernels/arithmetic.ts';
import { rollingReach } from '../language/grammar/words.ts';
import {
  STATE_FIELDS,
  type RunnableCondition,
  type RunnableExpression,
  type RunnableNodes,
  type RunnableValue,
} from '../language/grammar/ast.ts';
import { historyOf, readsPosition, Ring, type HistoryNode } from './stateHistory.ts';
import type { StatefulCondition, StatefulValue, StateMemory, StateView } from './tradingRules.ts';
import { rollingOperation, rollingWindowOperation } from '../plan/expressionSteps.ts';
import type { PlannedCondition, StatefulExpression } from '../plan/plan.ts';

type Truth = 0 | 1 | 2;
type ReadValue = (row: number, state: StateView, memory: StateMemory) => number;
type ReadTruth = (row: number, state: StateView, memory: StateMemory) => Truth;

/** The rows on which a condition over state was evaluated, and its answers. */
export interface RecordedCondition {
  readonly evaluated: Uint32Array;
  readonly isTrue: Uint32Array;
  readonly isUnknown: Uint32Array;
}

const not = (truth: Truth): Truth => (truth === 2 ? 2 : truth === 1 ? 0 : 1);

/** Kinds without a state node below them are columns; validation rejects an indicator over state. */
function neverOverState({ kind }: { readonly kind: string }): never {
  throw new Error(`A ${kind} node was bound as an expression over state.`);
}

/**
 * Binds one expression. History nodes are listed children first, so that each records the current values of its parts.
 */
class Binder {
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
    switch (node.kind) {
      case 'state': {
        const field = STATE_FIELDS.indexOf(node.field);
        return this.#delayed(node, (_, state) => state.read(field), node.offset);
      }
      case 'shift':
        return this.#delayed(node, this.value(node.source), node.offset);
      case 'percent_change': {
        const source = this.value(node.source);
        const earlier = this.#delayed(node, source, node.bars);
        return (row, state, memory) => {
          const then = earlier(row, state, memory);
          return mathOf('mul', [100, mathOf('div', [mathOf('sub', [source(row, state, memory), then]), then])]);
        };
      }
      case 'math': {
        const args = node.args.map((arg) => this.value(arg));
        return (row, state, memory) =>
          mathOf(
            node.op,
            args.map((arg) => arg(row, state, memory)),
          );
      }
      case 'if': {
        const [condition, yes, no] = [this.truth(node.cond), this.value(node.then), this.value(node.else)];
        return (row, state, memory) => {
          const truth = condition(row, state, memory);
          return truth === 2 ? NaN : truth === 1 ? yes(row, state, memory) : no(row, state, memory);
        };
      }
      case 'rolling':
        return this.#delayed(node, this.#rolling(node), node.offset);
      case 'bars_since': {
        const when = this.truth(node.when);
        const slotOf = this.#remember(
          node,
          () => ({ lastRow: -1 }),
          (memory, row, state, all) => {
            if (when(row, state, all) === 1) memory.lastRow = row;
          },
        );
        return (row, _, memory) => (slotOf(memory).lastRow < 0 ? NaN : row - slotOf(memory).lastRow);
      }
      case 'value_when': {
        const [value, when, occurrence] = [this.value(node.value), this.truth(node.when), node.occurrence];
        const slotOf = this.#remember(
          node,
          () => new Ring(occurrence + 1),
          (ring, row, state, all) => {
            if (when(row, state, all) === 1) ring.push(value(row, state, all));
          },
        );
        return (_row, _state, memory) => slotOf(memory).ago(occurrence);
      }
      case 'capture': {
        const [value, when] = [this.value(node.value), this.truth(node.when)];
        const slotOf = this.#remember(
          node,
          () => ({ captured: NaN, wasTrue: false }),
          (memory, row, state, all) => {
            const isTrue = when(row, state, all) === 1;
            if (isTrue && !memory.wasTrue) memory.captured = value(row, state, all);
            memory.wasTrue = isTrue;
          },
        );
        return (_row, _state, memory) => slotOf(memory).captured;
      }
      case 'const':
      case 'market':
      case 'indicator':
      case 'series':
      case 'pivot':
      case 'time':
        return neverOverState(node);
    }
  }

  truth(node: RunnableCondition): ReadTruth {
    const slot = this.#slots.get(node);
    if (slot !== undefined) {
      const { isTrue, isUnknown } = this.#evaluated.condition(slot);
      return (row) => (hasBit(isTrue, row) ? 1 : hasBit(isUnknown, row) ? 2 : 0);
    }
    const read = this.#truth(node);
    const recorded = this.#recorded;
    if (recorded === null) return read;
    const words = wordCount(this.#evaluated.market.base.length);
    const record = {
      evaluated: new Uint32Array(words),
      isTrue: new Uint32Array(words),
      isUnknown: new Uint32Array(words),
    };
    recorded.set(node, record);
    return (row, state, memory) => {
      const truth = read(row, state, memory);
      const bit = 1 << (row & 31);
      record.evaluated[row >>> 5] |= bit;
      if (truth === 1) record.isTrue[row >>> 5] |= bit;
      else if (truth === 2) record.isUnknown[row >>> 5] |= bit;
      return truth;
    };
  }

  #truth(node: RunnableCondition): ReadTruth {
    switch (node.kind) {
      case 'compare':
        return this.#compare(node.op, this.value(node.left), this.value(node.right), node.tolerance);
      case 'near':
        return this.#compare('eq', this.value(node.left), this.value(node.right), node.tolerance);
      case 'between': {
        const value = this.value(node.value);
        return every([
          this.#compare('gte', value, this.value(node.lower), 0),
          this.#compare('lte', value, this.value(node.upper), 0),
        ]);
      }
      case 'all':
        return every(node.items.map((item) => this.truth(item)));
      case 'any':
        return some(node.items.map((item) => this.truth(item)));
      case 'not': {
        const item = this.truth(node.item);
        return (row, state, memory) => not(item(row, state, memory));
      }
      case 'cross':
        return this.#withinBars(node, this.#cross(node), node.within);
      case 'rising':
      case 'falling': {
        const source = this.value(node.source);
        const op = node.kind === 'rising' ? 'gt' : 'lt';
        const slotOf = this.#remember(
          node,
          () => new Ring(node.bars + 1),
          (ring, row, state, all) => ring.push(source(row, state, all)),
        );
        return (_row, _state, memory) => {
          let answer: Truth = 1;
          for (let bars = 0; bars < node.bars && answer !== 0; bars++) {
            const truth = compareNumbers(op, slotOf(memory).ago(bars), slotOf(memory).ago(bars + 1), 0);
            answer = truth === 0 ? 0 : truth === 2 ? 2 : answer;
          }
          return answer;
        };
      }
      case 'rolling_window':
        return this.#rollingWindow(node);
      case 'sequence':
        return this.#sequence(node);
      case 'state_machine': {
        const set = this.truth(node.set);
        const reset = node.reset ? this.truth(node.reset) : null;
        const { ttlBars = null, conflictPolicy } = node;
        const slotOf = this.#remember(
          node,
          () => ({ setRow: -1 }),
          (memory, row, state, all) => {
            const isReset = reset !== null && reset(row, state, all) === 1;
            memory.setRow = nextSetRow(
              memory.setRow,
              row,
              set(row, state, all) === 1,
              isReset,
              ttlBars,
              conflictPolicy,
            );
          },
        );
        return (_row, _state, memory) => (slotOf(memory).setRow >= 0 ? 1 : 0);
      }
      case 'pattern':
      case 'time_window':
      case 'session':
        return neverOverState(node);
    }
  }

  #compare(op: Parameters<typeof compareNumbers>[0], left: ReadValue, right: ReadValue, tolerance: number): ReadTruth {
    return (row, state, memory) => compareNumbers(op, left(row, state, memory), right(row, state, memory), tolerance);
  }

  #cross(node: RunnableNodes['cross']): ReadTruth {
    const [left, right] = [this.value(node.left), this.value(node.right)];
    const slotOf = this.#remember(
      node,
      () => ({ left: new Ring(2), right: new Ring(2) }),
      (memory, row, state, all) => {
        memory.left.push(left(row, state, all));
        memory.right.push(right(row, state, all));
      },
    );
    const direction =
      (up: boolean): ReadTruth =>
      (_row, _state, memory) => {
        const sides = slotOf(memory);
        const before = compareNumbers(up ? 'lte' : 'gte', sides.left.ago(1), sides.right.ago(1), 0);
        const after = compareNumbers(up ? 'gt' : 'lt', sides.left.ago(0), sides.right.ago(0), 0);
        return before === 0 || after === 0 ? 0 : before === 2 || after === 2 ? 2 : 1;
      };
    return node.op === 'cross_any' ? some([direction(true), direction(false)]) : direction(node.op === 'cross_up');
  }

  /** True on any of the last bars, this one included. */
  #withinBars(node: RunnableExpression, read: ReadTruth, window: number): ReadTruth {
    if (window === 1) return read;
    const slotOf = this.#remember(
      node,
      () => new Ring(window),
      (ring, row, state, all) => ring.push(read(row, state, all)),
    );
    return (_row, _state, memory) => {
      let answer: Truth = 0;
      for (let bars = 0; bars < window && answer !== 1; bars++) {
        const truth = slotOf(memory).ago(bars);
        if (truth === 1) answer = 1;
        else if (truth === 2) answer = 2;
      }
      return answer;
    };
  }

  #rolling(node: RunnableNodes['rolling']): ReadValue {
    const source = this.value(node.source);
    const operation = rollingOperation(node);
    const size = rollingReach(node.op, node.period);
    const slotOf = this.#remember(
      node,
      () => new Ring(size),
      (ring, row, state, all) => {
        const value = source(row, state, all);
        if (value === value) ring.push(value);
      },
    );
    const out = new Float64Array(size);
    return (row, state, memory) => {
      const ring = slotOf(memory);
      const current = source(row, state, memory);
      if (current !== current || !ring.isFull) return NaN;
      out.fill(NaN);
      rollingKernel(operation, ring.toArray(), out);
      return out[size - 1];
    };
  }

  #rollingWindow(node: RunnableNodes['rolling_window']): ReadTruth {
    const inner = this.truth(node.expr);
    const { mode, window, value } = rollingWindowOperation(node);
    const size = mode === 'streak' ? Math.max(1, Math.ceil(value)) : window;
    const slotOf = this.#remember(
      node,
      () => new Ring(size),
      (ring, row, state, all) => ring.push(inner(row, state, all)),
    );
    return (_row, _state, memory) => {
      let trues = 0;
      let unknowns = 0;
      for (let bars = 0; bars < size; bars++) {
        const truth = slotOf(memory).ago(bars);
        if (truth === 1) trues++;
        else if (truth !== 0) unknowns++;
      }
      return countAnswer(mode === 'streak' ? 'all' : mode, trues, trues + unknowns, size, value);
    };
  }

  #sequence(node: RunnableNodes['sequence']): ReadTruth {
    const steps = node.steps.map(({ expr, minBars, maxBars = Infinity }) => ({
      met: this.truth(expr),
      minBars,
      maxBars,
    }));
    // For each step, the rows on which it was reached; only those that can still lead to the next step are kept.
    const slotOf = this.#remember(
      node,
      () => steps.map((): number[] => []),
      (metRows, row, state, all) => {
        steps.forEach((step, index) => {
          if (step.met(row, state, all) !== 1) return;
          const follows =
            index === 0 || metRows[index - 1].some((met) => row - met >= step.minBars && row - met <= step.maxBars);
          if (follows) metRows[index].push(row);
        });
        steps.slice(1).forEach((next, index) => keepReachable(metRows[index], row, next.minBars, next.maxBars));
      },
    );
    return (row, _state, memory) => (slotOf(memory)[steps.length - 1].at(-1) === row ? 1 : 0);
  }

  #delayed(node: RunnableExpression, read: ReadValue, bars: number): ReadValue {
    if (bars === 0) return read;
    const slotOf = this.#remember(
      node,
      () => new Ring(bars + 1),
      (ring, row, state, all) => ring.push(read(row, state, all)),
    );
    return (_row, _state, memory) => slotOf(memory).ago(bars);
  }

  /** Adds a history node for an expression and returns the accessor of its memory. */
  #remember<M extends object>(
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

/** Drops rows that are out of reach of the next step. Of those old enough for it, the latest stays in reach longest. */
function keepReachable(rows: number[], now: number, minBars: number, maxBars: number): void {
  while (rows.length > 0 && now + 1 - rows[0] > maxBars) rows.shift();
  while (rows.length > 1 && now + 1 - rows[1] >= minBars) rows.shift();
}

const every =
  (parts: readonly ReadTruth[]): ReadTruth =>
  (row, state, memory) => {
    let answer: Truth = 1;
    for (const part of parts) {
      const truth = part(row, state, memory);
      if (truth === 0) return 0;
      if (truth === 2) answer = 2;
    }
    return answer;
  };
const some =
  (parts: readonly ReadTruth[]): ReadTruth =>
  (row, state, memory) => {
    let answer: Truth = 0;
    for (const part of parts) {
      const truth = part(row, state, memory);
      if (truth === 1) return 1;
      if (truth === 2) answer = 2;
    }
    return answer;
  };

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

export function bindValue(expression: StatefulExpression<RunnableValue>, evaluated: EvaluatedPlan): StatefulValue {
  const binder = new Binder(evaluated, expression.slots, null);
  const value = binder.value(expression.expression);
  return { ...historyOf(binder.history), value };
}
