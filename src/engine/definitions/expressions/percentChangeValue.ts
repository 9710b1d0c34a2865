// The value `percent_change`: the change of its source against an earlier base bar, in percent.
import { z } from 'zod';
import { mathOf } from '../../kernels/arithmetic.ts';
import { changeValues } from '../../kernels/history.ts';
import { bars1, named } from '../expressionMembers.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, range } from './intervals.ts';
import { earlierOf } from './lookbacks.ts';
import { valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('percent_change'), bars: bars1, source: valuePlace });

interface PercentChangeOperation {
  readonly op: 'percent_change';
  readonly bars: number;
}

export const percentChangeValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, PercentChangeOperation> = {
  type: 'value',
  schema,
  description: 'The change of the source against `bars` base bars ago, in percent of the value it had then.',
  nsPerBar: 4,
  check: null,
  rewrite: null,
  /** The number of bars is a part of the step. */
  isForming: () => true,
  // A value that is never negative can fall by 100 % at most.
  range: ({ source }, ranges) => (ranges.of(source).lo >= 0 ? range(-100, Infinity) : EVERYTHING),
  isDiscrete: () => false,
  text: ({ source, bars }, write) => `percent change of ${write.text(source)} over ${bars} bars`,
  lookback: ({ source, bars }, place) => earlierOf(source, bars, place),
  step: (node, steps, ambient) => {
    const { builder } = steps;
    const now = steps.valueOn(node.source, ambient);
    // A number is the same on every bar, the first ones included.
    if (builder.numberAt(now) !== undefined)
      return builder.math('div', [builder.math('sub', [now, now], ambient), now], ambient);
    const operation: PercentChangeOperation = { op: 'percent_change', bars: node.bars };
    return builder.value(operation, [now], ambient);
  },
  operation: {
    op: 'percent_change',
    column: ({ bars }, operands, out) => changeValues(operands.values(0), bars, out),
  },
  overState: {
    read: (node, parts) => {
      const source = parts.value(node.source);
      const earlier = parts.delayed(node, source, node.bars);
      return (row, state, memory) => {
        const then = earlier(row, state, memory);
        return mathOf('mul', [100, mathOf('div', [mathOf('sub', [source(row, state, memory), then]), then])]);
      };
    },
    keeps: ({ bars }) => bars + 1,
  },
};
