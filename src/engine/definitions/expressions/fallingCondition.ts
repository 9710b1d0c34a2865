// The condition `falling`: its source fell on each of the last bars.
import { z } from 'zod';
import { bars1, named } from '../expressionMembers.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { moveIn } from './moves.ts';
import { valuePlace } from './places.ts';

const schema = z.strictObject({ ...named, kind: z.literal('falling'), bars: bars1, source: valuePlace });

export const fallingCondition: ConditionDefinition<typeof schema> = {
  ...moveIn('falling'),
  schema,
  description: 'The source fell strictly on each of the last `bars` bars.',
};
