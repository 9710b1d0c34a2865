// The value `market`: a field of the bar.
import { z } from 'zod';
import { named, placed } from '../expressionMembers.ts';
import { canonicalField, MARKET_FIELDS } from '../words.ts';
import type { Completed, ValueDefinition } from './expressionDefinition.ts';
import { NOT_NEGATIVE } from './intervals.ts';
import { needOfColumn } from './lookbacks.ts';
import { barsNamed } from './relations.ts';
import type { MarketField, SharedValueOperation } from './planSteps.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({ ...named, kind: z.literal('market'), field: z.enum(MARKET_FIELDS), ...placed });

export const marketValue: ValueDefinition<typeof schema, Completed<typeof schema, { field: MarketField }>> = {
  type: 'value',
  schema,
  description: 'A field of the bar, `offset` bars ago on its own timeframe.',
  nsPerBar: 0,
  offsetCountsOwnBars: true,
  check: null,
  readsOwnBars: () => true,
  rewrite: (node, isPlaced, rewriter) => {
    const made = rewriter.plain(node, isPlaced);
    return { ...made, field: canonicalField(made.field as string) };
  },
  range: () => NOT_NEGATIVE,
  isDiscrete: () => false,
  isBarPrice: ({ field }) => ['open', 'high', 'low', 'close', 'volume'].includes(field),
  barField: (node) => ({ field: canonicalField(node.field), place: barsNamed(node) }),
  text: (node) => `${node.field}${placeText(node)}`,
  lookback: needOfColumn,
  step: (node, steps, ambient) => {
    const operation: SharedValueOperation = { op: 'field', field: node.field };
    return steps.builder.shift(steps.builder.value(operation, [], steps.placed(node, ambient)), node.offset);
  },
  keepsLookback: 'never',
  operation: null,
  overState: null,
};
