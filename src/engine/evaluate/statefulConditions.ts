// Conditions over position and account state: how each kind is read in the loop.
import { nextSetRow } from '../kernels/logic.ts';
import { countAnswer } from '../kernels/rollingCounts.ts';
import type { RunnableCondition, RunnableExpression, RunnableNodes } from '../language/grammar/ast.ts';
import { rollingWindowOperation } from '../plan/operations.ts';
import { compareNumbers } from './leafConditions.ts';
import { Ring } from './stateHistory.ts';
import { neverOverState, type ReadTruth, type ReadValue, type StatefulParts, type Truth } from './statefulParts.ts';

/** How a condition node that reads state, or has a part that does, is read at a close. */
export function statefulCondition(node: RunnableCondition, parts: StatefulParts): ReadTruth {
  switch (node.kind) {
    case 'compare':
      return compareValues(node.op, parts.value(node.left), parts.value(node.right), node.tolerance);
    case 'near':
      return compareValues('eq', parts.value(node.left), parts.value(node.right), node.tolerance);
    case 'between': {
      const value = parts.value(node.value);
      return every([
        compareValues('gte', value, parts.value(node.lower), 0),
        compareValues('lte', value, parts.value(node.upper), 0),
      ]);
    }
    case 'all':
      return every(node.items.map((item) => parts.truth(item)));
    case 'any':
      return some(node.items.map((item) => parts.truth(item)));
    case 'not': {
      const item = parts.truth(node.item);
      return (row, state, memory) => not(item(row, state, memory));
    }
    case 'cross':
      return withinBars(node, crossing(node, parts), node.within, parts);
    case 'rising':
    case 'falling':
      return moving(node, parts);
    case 'rolling_window':
      return windowCount(node, parts);
    case 'sequence':
      return stepsInOrder(node, parts);
    case 'state_machine':
      return stateMachine(node, parts);
    case 'pattern':
    case 'time_window':
    case 'session':
      return neverOverState(node);
  }
}

function compareValues(
  op: Parameters<typeof compareNumbers>[0],
  left: ReadValue,
  right: ReadValue,
  tolerance: number,
): ReadTruth {
  return (row, state, memory) => compareNumbers(op, left(row, state, memory), right(row, state, memory), tolerance);
}

function crossing(node: RunnableNodes['cross'], parts: StatefulParts): ReadTruth {
  const [left, right] = [parts.value(node.left), parts.value(node.right)];
  const slotOf = parts.remember(
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
function withinBars(node: RunnableExpression, read: ReadTruth, window: number, parts: StatefulParts): ReadTruth {
  if (window === 1) return read;
  const slotOf = parts.remember(
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

function moving(node: RunnableNodes['rising' | 'falling'], parts: StatefulParts): ReadTruth {
  const source = parts.value(node.source);
  const op = node.kind === 'rising' ? 'gt' : 'lt';
  const slotOf = parts.remember(
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

function windowCount(node: RunnableNodes['rolling_window'], parts: StatefulParts): ReadTruth {
  const inner = parts.truth(node.expr);
  const { mode, window, value } = rollingWindowOperation(node);
  const size = mode === 'streak' ? Math.max(1, Math.ceil(value)) : window;
  const slotOf = parts.remember(
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

function stepsInOrder(node: RunnableNodes['sequence'], parts: StatefulParts): ReadTruth {
  const steps = node.steps.map(({ expr, minBars, maxBars = Infinity }) => ({
    met: parts.truth(expr),
    minBars,
    maxBars,
  }));
  // For each step, the rows on which it was reached; only those that can still lead to the next step are kept.
  const slotOf = parts.remember(
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

/** Drops rows that are out of reach of the next step. Of those old enough for it, the latest stays in reach longest. */
function keepReachable(rows: number[], now: number, minBars: number, maxBars: number): void {
  while (rows.length > 0 && now + 1 - rows[0] > maxBars) rows.shift();
  while (rows.length > 1 && now + 1 - rows[1] >= minBars) rows.shift();
}

function stateMachine(node: RunnableNodes['state_machine'], parts: StatefulParts): ReadTruth {
  const set = parts.truth(node.set);
  const reset = node.reset ? parts.truth(node.reset) : null;
  const { ttlBars = null, conflictPolicy } = node;
  const slotOf = parts.remember(
    node,
    () => ({ setRow: -1 }),
    (memory, row, state, all) => {
      const isReset = reset !== null && reset(row, state, all) === 1;
      memory.setRow = nextSetRow(memory.setRow, row, set(row, state, all) === 1, isReset, ttlBars, conflictPolicy);
    },
  );
  return (_row, _state, memory) => (slotOf(memory).setRow >= 0 ? 1 : 0);
}

/** True when every part is; false when one is false; else unknown. Parts after a false one are not read. */
export const every =
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

const not = (truth: Truth): Truth => (truth === 2 ? 2 : truth === 1 ? 0 : 1);
