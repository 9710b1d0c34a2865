// The condition `rising`: its source rose on each of the last bars.
import { z } from 'zod';
import { bars1, named } from '../expressionMembers.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { moveIn } from './moves.ts';
import { valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('rising'), bars: bars1, source: valuePlace });

export const risingCondition: ConditionDefinition<typeof schema> = {
  ...moveIn('rising'),
  schema,
  description: 'The source rose strictly on each of the last `bars` bars.',
};
