// The condition `any`: at least one item is true.
import { z } from 'zod';
import type { Completed, ConditionDefinition } from './expressionDefinition.ts';
import { itemMembers, rewriteJunction } from './junctions.ts';
import { onContext } from './lookbacks.ts';
import { some } from './stateParts.ts';
import type { SharedConditionOperation } from './planSteps.ts';

const { items, ...members } = itemMembers;
const schema = z.strictObject({ ...members, kind: z.enum(['any', 'or']), items });

export const anyCondition: ConditionDefinition<typeof schema, Completed<typeof schema, { kind: 'any' }>> = {
  type: 'condition',
  schema,
  aliases: { or: 'any' },
  description: 'At least one item is true.',
  nsPerBar: 0.7,
  check: null,
  rewrite: (node, isPlaced, rewriter) => rewriteJunction('any', node, isPlaced, rewriter),
  role: 'logic',
  joins: { by: 'any', parts: (node) => node.items },
  sides: null,
  infers: null,
  text: (node, write) =>
    node.items.map((item) => (item.kind === 'all' ? `(${write.text(item)})` : write.text(item))).join(' or '),
  lookback: (node, place) => onContext(place, node.items),
  step: (node, steps, ambient) => {
    const inputs = node.items.map((item) => steps.condition(item, ambient));
    return steps.builder.condition({ op: 'any' } satisfies SharedConditionOperation, inputs, ambient);
  },
  operation: null,
  overState: {
    read: (node, parts) => some(node.items.map((item) => parts.truth(item))),
    keeps: () => 1,
  },
};
