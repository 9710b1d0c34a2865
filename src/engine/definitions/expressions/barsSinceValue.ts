// The value `bars_since`: how many bars ago a condition was last true.
import { z } from 'zod';
import { barsSince } from '../../kernels/history.ts';
import { named } from '../expressionMembers.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { NOT_NEGATIVE } from './intervals.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('bars_since'), when: conditionPlace });

interface BarsSinceOperation {
  readonly op: 'bars_since';
}

export const barsSinceValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, BarsSinceOperation> = {
  type: 'value',
  schema,
  description: 'Bars since the condition was last true: 0 on that bar, missing before the first time.',
  nsPerBar: 1,
  check: null,
  rewrite: null,
  range: () => NOT_NEGATIVE,
  isDiscrete: () => true,
  text: ({ when }, write) => `bars since (${write.text(when)})`,
  lookback: ({ when }, place) => onContext(place, [when]),
  step: (node, steps, ambient) => {
    const operation: BarsSinceOperation = { op: 'bars_since' };
    return steps.builder.value(operation, [steps.condition(node.when, ambient)], ambient);
  },
  operation: { op: 'bars_since', column: (_operation, operands, out) => barsSince(operands.truths(0), out) },
  overState: {
    read: (node, parts) => {
      const when = parts.truth(node.when);
      const slotOf = parts.remember(
        node,
        () => ({ lastRow: -1 }),
        (memory, row, state, all) => {
          if (when(row, state, all) === 1) memory.lastRow = row;
        },
      );
      return (row, _, memory) => (slotOf(memory).lastRow < 0 ? NaN : row - slotOf(memory).lastRow);
    },
    keeps: () => 1,
  },
};
