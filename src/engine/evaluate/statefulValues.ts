// Values over position and account state: how each kind is read in the loop.
import { mathOf } from '../kernels/arithmetic.ts';
import { STATE_FIELDS, type RunnableNodes, type RunnableValue } from '../language/grammar/ast.ts';
import { rollingReach } from '../definitions/words.ts';
import { rollingOperation } from '../plan/operations.ts';
import { rollingKernel } from './rollingKernel.ts';
import { Ring } from './stateHistory.ts';
import { neverOverState, type ReadValue, type StatefulParts } from './statefulParts.ts';

/** How a value node that reads state, or has a part that does, is read at a close. */
export function statefulValue(node: RunnableValue, parts: StatefulParts): ReadValue {
  switch (node.kind) {
    case 'state': {
      const field = STATE_FIELDS.indexOf(node.field);
      return parts.delayed(node, (_, state) => state.read(field), node.offset);
    }
    case 'shift':
      return parts.delayed(node, parts.value(node.source), node.offset);
    case 'percent_change':
      return percentChange(node, parts);
    case 'math': {
      const args = node.args.map((arg) => parts.value(arg));
      return (row, state, memory) =>
        mathOf(
          node.op,
          args.map((arg) => arg(row, state, memory)),
        );
    }
    case 'if': {
      const [condition, yes, no] = [parts.truth(node.cond), parts.value(node.then), parts.value(node.else)];
      return (row, state, memory) => {
        const truth = condition(row, state, memory);
        return truth === 2 ? NaN : truth === 1 ? yes(row, state, memory) : no(row, state, memory);
      };
    }
    case 'rolling':
      return parts.delayed(node, rollingValue(node, parts), node.offset);
    case 'bars_since':
      return barsSince(node, parts);
    case 'value_when':
      return valueWhen(node, parts);
    case 'capture':
      return capture(node, parts);
    case 'const':
    case 'market':
    case 'indicator':
    case 'series':
    case 'pivot':
    case 'time':
      return neverOverState(node);
  }
}

function percentChange(node: RunnableNodes['percent_change'], parts: StatefulParts): ReadValue {
  const source = parts.value(node.source);
  const earlier = parts.delayed(node, source, node.bars);
  return (row, state, memory) => {
    const then = earlier(row, state, memory);
    return mathOf('mul', [100, mathOf('div', [mathOf('sub', [source(row, state, memory), then]), then])]);
  };
}

function rollingValue(node: RunnableNodes['rolling'], parts: StatefulParts): ReadValue {
  const source = parts.value(node.source);
  const operation = rollingOperation(node);
  const size = rollingReach(node.op, node.period);
  const slotOf = parts.remember(
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

function barsSince(node: RunnableNodes['bars_since'], parts: StatefulParts): ReadValue {
  const when = parts.truth(node.when);
  const slotOf = parts.remember(
    node,
    () => ({ lastRow: -1 }),
    (memory, row, state, all) => {
      if (when(row, state, all) === 1) memory.lastRow = row;
    },
  );
  return (row, _, memory) => (slotOf(memory).lastRow < 0 ? NaN : row - slotOf(memory).lastRow);
}

function valueWhen(node: RunnableNodes['value_when'], parts: StatefulParts): ReadValue {
  const [value, when, occurrence] = [parts.value(node.value), parts.truth(node.when), node.occurrence];
  const slotOf = parts.remember(
    node,
    () => new Ring(occurrence + 1),
    (ring, row, state, all) => {
      if (when(row, state, all) === 1) ring.push(value(row, state, all));
    },
  );
  return (_row, _state, memory) => slotOf(memory).ago(occurrence);
}

function capture(node: RunnableNodes['capture'], parts: StatefulParts): ReadValue {
  const [value, when] = [parts.value(node.value), parts.truth(node.when)];
  const slotOf = parts.remember(
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
