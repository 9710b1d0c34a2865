// The condition `cross`: one value crosses another.
import { z } from 'zod';
import { compareNumbers } from '../../kernels/compareNumbers.ts';
import { Ring } from '../../kernels/ring.ts';
import { bars1, named, WITHIN_BARS } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { CROSS_OPS } from '../words.ts';
import { eachSide, sidesOf } from './comparisons.ts';
import type { ConditionDefinition, RunnableOf } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { valuePlace } from './places.ts';
import { GREATER, LESS } from './relations.ts';
import { some, type ReadTruth, type StatefulParts, type Truth } from './stateParts.ts';
import { withinBars, type SharedConditionOperation } from './planSteps.ts';
import { withinText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('cross'),
  op: z.enum(CROSS_OPS).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  within: bars1.default(1).meta({ description: WITHIN_BARS }),
  left: valuePlace,
  right: valuePlace,
});
type Node = RunnableOf<typeof schema>;

const VERBS = { cross_up: 'crosses above', cross_down: 'crosses below', cross_any: 'crosses' } as const;
const RELATIONS_AFTER = { cross_up: GREATER, cross_down: LESS, cross_any: LESS | GREATER } as const;
const DIRECTIONS = { cross_up: 'up', cross_down: 'down', cross_any: 'any' } as const;

export const crossCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description:
    '`left` crosses `right` on any of the last `within` base bars, this one included (default 1: on this bar).',
  nsPerBar: 0.7,
  check: null,
  rewrite: null,
  role: 'leaf',
  sides: { of: sidesOf },
  comparesOrder: true,
  scaled: eachSide,
  infers: {
    // A cross that did not happen says nothing about how the two values compare.
    assume: ({ op, within, left, right }, isNegated, known) => {
      if (isNegated || (within !== undefined && within !== 1)) return true;
      return known.compare({ left, right, relation: RELATIONS_AFTER[op] }, false);
    },
    isAlways: () => false,
    bounds: () => undefined,
  },
  isEvent: ({ within }) => (within ?? 1) === 1,
  laterBy: 'give it "within"',
  text: (node, write) =>
    `${write.text(node.left)} ${VERBS[node.op]} ${write.text(node.right)}${withinText(node.within)}`,
  // The bar before, on the earliest of the last `within` bars.
  lookback: ({ left, right, within }, place) => onContext(place, [left, right], within),
  step: (node, steps, ambient) => {
    const inputs = [steps.valueOn(node.left, ambient), steps.valueOn(node.right, ambient)];
    const operation: SharedConditionOperation = { op: 'cross', direction: DIRECTIONS[node.op] };
    return withinBars(steps, steps.builder.condition(operation, inputs, ambient), node.within, ambient);
  },
  operation: null,
  overState: {
    read: (node, parts) => readWithin(node, crossing(node, parts), parts),
    keeps: ({ within }) => within + 3,
  },
};

function crossing(node: Node, parts: StatefulParts): ReadTruth {
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

/** True on any of the last `within` bars, this one included. */
function readWithin(node: Node, read: ReadTruth, parts: StatefulParts): ReadTruth {
  const window = node.within;
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
