// The condition `between`: a value within two bounds.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import { comparedInLoop } from './comparisons.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { isWithin, pointOf, range } from './intervals.ts';
import { onContext } from './lookbacks.ts';
import { valuePlace } from './places.ts';
import { every } from './stateParts.ts';
import { compareStep, type SharedConditionOperation } from './planSteps.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('between'),
  value: valuePlace,
  lower: valuePlace,
  upper: valuePlace,
});

export const betweenCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description: 'lower <= value <= upper.',
  nsPerBar: 0.7,
  check: null,
  rewrite: null,
  role: 'leaf',
  sides: null,
  scaled: ({ value, lower, upper }) => [[value, lower, upper]],
  infers: {
    assume: ({ value, lower, upper }, isNegated, known) =>
      isNegated || known.narrow(value, range(known.of(lower).lo, known.of(upper).hi)),
    isAlways: ({ value, lower, upper }, ranges) => {
      const { hi, isHiOpen } = ranges.of(lower);
      const { lo, isLoOpen } = ranges.of(upper);
      return hi <= lo && isWithin(ranges.of(value), range(hi, lo, isHiOpen, isLoOpen));
    },
    bounds: ({ value, lower, upper }, ranges) => {
      const [lo, hi] = [pointOf(ranges.of(lower)), pointOf(ranges.of(upper))];
      return lo === undefined || hi === undefined ? undefined : { value, bounds: range(lo, hi) };
    },
  },
  text: ({ lower, value, upper }, write) => `${write.text(lower)} <= ${write.text(value)} <= ${write.text(upper)}`,
  lookback: ({ value, lower, upper }, place) => onContext(place, [value, lower, upper]),
  step: ({ value, lower, upper }, steps, ambient) => {
    const atLeast = compareStep(steps, 'gte', [value, lower], 0, ambient);
    const atMost = compareStep(steps, 'lte', [value, upper], 0, ambient);
    return steps.builder.condition({ op: 'all' } satisfies SharedConditionOperation, [atLeast, atMost], ambient);
  },
  operation: null,
  overState: {
    read: (node, parts) => {
      const value = parts.value(node.value);
      return every([
        comparedInLoop('gte', value, parts.value(node.lower), 0),
        comparedInLoop('lte', value, parts.value(node.upper), 0),
      ]);
    },
    keeps: () => 1,
  },
};
