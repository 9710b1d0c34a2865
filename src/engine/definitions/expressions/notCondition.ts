// The condition `not`: its item is false.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace } from './places.ts';
import type { SharedConditionOperation } from './planSteps.ts';

const schema = z.strictObject({ ...named, kind: z.literal('not'), item: conditionPlace });

export const notCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description: 'The item is false. Unknown stays unknown.',
  nsPerBar: 0.7,
  check: null,
  rewrite: null,
  role: 'logic',
  joins: { by: 'not', parts: ({ item }) => [item] },
  sides: null,
  infers: null,
  text: ({ item }, write) => `not (${write.text(item)})`,
  lookback: ({ item }, place) => onContext(place, [item]),
  step: ({ item }, steps, ambient) => {
    const operation: SharedConditionOperation = { op: 'not' };
    return steps.builder.condition(operation, [steps.condition(item, ambient)], ambient);
  },
  operation: null,
  overState: {
    read: (node, parts) => {
      const item = parts.truth(node.item);
      return (row, state, memory) => {
        const truth = item(row, state, memory);
        return truth === 2 ? 2 : truth === 1 ? 0 : 1;
      };
    },
    keeps: () => 1,
  },
};
