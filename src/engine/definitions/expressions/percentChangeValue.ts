// The value `percent_change`: the change of its source against an earlier base bar, in percent.
import { z } from 'zod';
import { mathOf } from '../../kernels/arithmetic.ts';
import { bars1, named } from '../expressionMembers.ts';
import type { ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING, range } from './intervals.ts';
import { earlierOf } from './lookbacks.ts';
import { valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('percent_change'), bars: bars1, source: valuePlace });

export const percentChangeValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'The change of the source against `bars` base bars ago, in percent of the value it had then.',
  nsPerBar: 4,
  check: null,
  rewrite: null,
  /** A change over 0 bars, and over a shift, is planned differently. */
  isForming: () => true,
  // A value that is never negative can fall by 100 % at most.
  range: ({ source }, ranges) => (ranges.of(source).lo >= 0 ? range(-100, Infinity) : EVERYTHING),
  isDiscrete: () => false,
  text: ({ source, bars }, write) => `percent change of ${write.text(source)} over ${bars} bars`,
  lookback: ({ source, bars }, place) => earlierOf(source, bars, place),
  step: (node, steps, ambient) => {
    const { builder } = steps;
    const now = steps.valueOn(node.source, ambient);
    const then = builder.shift(now, node.bars);
    const ratio = builder.math('div', [builder.math('sub', [now, then], ambient), then], ambient);
    return builder.math('mul', [builder.constant(100), ratio], ambient);
  },
  operation: null,
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
