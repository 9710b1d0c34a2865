// The value `const`: a number.
import { z } from 'zod';
import { Num, named } from '../expressionMembers.ts';
import type { ValueDefinition } from './expressionDefinition.ts';
import { NO_NEED } from './lookbacks.ts';

const schema = z.strictObject({ ...named, kind: z.literal('const'), value: Num });

export const constValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'A number.',
  nsPerBar: 0,
  check: null,
  rewrite: null,
  range: ({ value }, ranges) => ranges.ofNumber(value),
  isDiscrete: () => false,
  constant: ({ value }) => (typeof value === 'number' ? value : undefined),
  text: ({ value }) => String(value),
  lookback: () => NO_NEED,
  step: ({ value }, { builder }) => builder.constant(value),
  keepsLookback: 'never',
  operation: null,
  overState: null,
};
