// The value `series`: a column imported with the bars.
import { z } from 'zod';
import { named, placed } from '../expressionMembers.ts';
import type { ValueDefinition } from './expressionDefinition.ts';
import { EVERYTHING } from './intervals.ts';
import { needOfColumn } from './lookbacks.ts';
import type { SharedValueOperation } from './planSteps.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({ ...named, kind: z.literal('series'), name: z.string().min(1), ...placed });

export const seriesValue: ValueDefinition<typeof schema> = {
  type: 'value',
  schema,
  description: 'A column imported with the bars.',
  nsPerBar: 0,
  offsetCountsOwnBars: true,
  check: null,
  readsOwnBars: () => true,
  rewrite: null,
  range: () => EVERYTHING,
  isDiscrete: () => false,
  text: (node) => `series ${node.name}${placeText(node)}`,
  lookback: needOfColumn,
  step: (node, steps, ambient) => {
    const operation: SharedValueOperation = { op: 'series', name: node.name };
    return steps.builder.shift(steps.builder.value(operation, [], steps.placed(node, ambient)), node.offset);
  },
  operation: null,
  overState: null,
};
