// The value `value_when`: a value on a bar where a condition was true.
import { z } from 'zod';
import { valueWhen } from '../../kernels/history.ts';
import { Ring } from '../../kernels/ring.ts';
import { bars0, named } from '../expressionMembers.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace, valuePlace } from './places.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('value_when'),
  occurrence: bars0.default(0),
  value: valuePlace,
  when: conditionPlace,
});

interface ValueWhenOperation {
  readonly op: 'value_when';
  readonly occurrence: number;
}

export const valueWhenValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, ValueWhenOperation> = {
  type: 'value',
  schema,
  description: 'The value on the bar where the condition was true. Occurrence 0 is the latest such bar.',
  nsPerBar: 1.5,
  check: null,
  rewrite: null,
  range: ({ value }, ranges) => ranges.of(value),
  isDiscrete: ({ value }, facts) => facts.isDiscrete(value),
  isBarPrice: ({ value }, facts) => facts.isBarPrice(value),
  text: ({ value, when, occurrence }, write) =>
    `${write.text(value)} when (${write.text(when)})${occurrence ? `, ${occurrence} before` : ''}`,
  lookback: ({ value, when }, place) => onContext(place, [value, when]),
  step: (node, steps, ambient) => {
    const inputs = [steps.valueOn(node.value, ambient), steps.condition(node.when, ambient)];
    const operation: ValueWhenOperation = { op: 'value_when', occurrence: node.occurrence };
    return steps.builder.value(operation, inputs, ambient);
  },
  operation: {
    op: 'value_when',
    column: ({ occurrence }, operands, out) => valueWhen(operands.values(0), operands.truths(1), occurrence, out),
  },
  overState: {
    read: (node, parts) => {
      const [value, when, occurrence] = [parts.value(node.value), parts.truth(node.when), node.occurrence];
      const slotOf = parts.remember(
        node,
        () => new Ring(occurrence + 1),
        (ring, row, state, all) => {
          if (when(row, state, all) === 1) ring.push(value(row, state, all));
        },
      );
      return (_row, _state, memory) => slotOf(memory).ago(occurrence);
    },
    keeps: ({ occurrence }) => occurrence + 1,
  },
};
