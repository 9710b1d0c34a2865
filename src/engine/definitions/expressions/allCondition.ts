// The condition `all`: every item is true.
import { z } from 'zod';
import type { Completed, ConditionDefinition } from './expressionDefinition.ts';
import { itemMembers, rewriteJunction } from './junctions.ts';
import { onContext } from './lookbacks.ts';
import { every } from './stateParts.ts';
import type { SharedConditionOperation } from './planSteps.ts';

const { items, ...members } = itemMembers;
const schema = z.strictObject({ ...members, kind: z.enum(['all', 'and']), items });

export const allCondition: ConditionDefinition<typeof schema, Completed<typeof schema, { kind: 'all' }>> = {
  type: 'condition',
  schema,
  aliases: { and: 'all' },
  description: 'Every item is true.',
  nsPerBar: 0.7,
  check: null,
  rewrite: (node, isPlaced, rewriter) => rewriteJunction('all', node, isPlaced, rewriter),
  role: 'logic',
  joins: { by: 'all', parts: (node) => node.items },
  sides: null,
  infers: null,
  text: (node, write) =>
    node.items.map((item) => (item.kind === 'any' ? `(${write.text(item)})` : write.text(item))).join(' and '),
  lookback: (node, place) => onContext(place, node.items),
  step: (node, steps, ambient) => {
    const inputs = node.items.map((item) => steps.condition(item, ambient));
    return steps.builder.condition({ op: 'all' } satisfies SharedConditionOperation, inputs, ambient);
  },
  operation: null,
  overState: {
    read: (node, parts) => every(node.items.map((item) => parts.truth(item))),
    keeps: () => 1,
  },
};
