// The condition `near`: two values close to each other.
import { z } from 'zod';
import { named, tolerance } from '../expressionMembers.ts';
import { comparedInLoop, eachSide, needOfPair, sidesOf } from './comparisons.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { range } from './intervals.ts';
import { valuePlace } from './places.ts';
import { compareStep } from './planSteps.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('near'),
  tolerance,
  left: valuePlace,
  right: valuePlace,
});

export const nearCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description: 'The two values differ by at most `tolerance`.',
  nsPerBar: 0.7,
  check: null,
  rewrite: null,
  role: 'leaf',
  sides: { of: sidesOf },
  scaled: eachSide,
  infers: {
    assume: (node, isNegated, known) => {
      if (isNegated) return true;
      const slack = known.ofNumber(node.tolerance).hi;
      const { lo, hi } = known.of(node.right);
      return known.narrow(node.left, range(lo - slack, hi + slack));
    },
    isAlways: () => false,
    bounds: () => undefined,
  },
  text: (node, write) => `${write.text(node.left)} within ${node.tolerance} of ${write.text(node.right)}`,
  lookback: needOfPair,
  step: (node, steps, ambient) => compareStep(steps, 'eq', [node.left, node.right], node.tolerance, ambient),
  operation: null,
  overState: {
    read: (node, parts) => comparedInLoop('eq', parts.value(node.left), parts.value(node.right), node.tolerance),
    keeps: () => 1,
  },
};
