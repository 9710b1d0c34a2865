// The value `capture`: a value on the bar where a condition last became true.
import { z } from 'zod';
import { capture } from '../../kernels/history.ts';
import { named } from '../expressionMembers.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace, valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('capture'), value: valuePlace, when: conditionPlace });

interface CaptureOperation {
  readonly op: 'capture';
}

export const captureValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, CaptureOperation> = {
  type: 'value',
  schema,
  description: 'The value on the bar where the condition last changed from not true to true.',
  nsPerBar: 1.5,
  check: null,
  rewrite: null,
  range: ({ value }, ranges) => ranges.of(value),
  isDiscrete: ({ value }, facts) => facts.isDiscrete(value),
  isBarPrice: ({ value }, facts) => facts.isBarPrice(value),
  text: ({ value, when }, write) => `${write.text(value)} captured at (${write.text(when)})`,
  lookback: ({ value, when }, place) => onContext(place, [value, when]),
  step: (node, steps, ambient) => {
    const inputs = [steps.valueOn(node.value, ambient), steps.condition(node.when, ambient)];
    return steps.builder.value({ op: 'capture' } satisfies CaptureOperation, inputs, ambient);
  },
  operation: {
    op: 'capture',
    column: (_operation, operands, out) => capture(operands.values(0), operands.truths(1), out),
  },
  overState: {
    read: (node, parts) => {
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
    },
    keeps: () => 1,
  },
};
