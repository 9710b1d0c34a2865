// The value `pivot`: a swing high or low.
import { z } from 'zod';
import { pivot } from '../../kernels/history.ts';
import { bars0, bars1, InstrumentRef, named, timeframe } from '../expressionMembers.ts';
import { PIVOT_KINDS } from '../words.ts';
import type { RunnableOf, ValueDefinition } from './expressionDefinition.ts';
import { NOT_NEGATIVE } from './intervals.ts';
import type { SharedValueOperation } from './planSteps.ts';
import { placeText } from './texts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('pivot'),
  pivotKind: z.enum(PIVOT_KINDS),
  left: bars1,
  right: bars1,
  occurrence: bars0.default(0),
  timeframe: timeframe.optional(),
  instrument: InstrumentRef.optional(),
});

interface PivotOperation {
  readonly op: 'pivot';
  readonly pivotKind: (typeof PIVOT_KINDS)[number];
  readonly left: number;
  readonly right: number;
  readonly occurrence: number;
}

export const pivotValue: ValueDefinition<typeof schema, RunnableOf<typeof schema>, PivotOperation> = {
  type: 'value',
  schema,
  description: 'A swing high or low, known `right` bars after it happened.',
  nsPerBar: 4,
  check: null,
  readsOwnBars: () => true,
  rewrite: null,
  range: () => NOT_NEGATIVE,
  isDiscrete: () => false,
  isBarPrice: () => true,
  text: (node) => `pivot ${node.pivotKind}(${node.left}, ${node.right})${placeText(node)}`,
  lookback: (node, { context }) => ({ timeframe: node.timeframe ?? context, bars: node.left + node.right }),
  step: (node, steps, ambient) => {
    const { pivotKind, left, right, occurrence } = node;
    const { builder } = steps;
    const frame = steps.placed(node, ambient);
    const field: SharedValueOperation = { op: 'field', field: pivotKind };
    const price = builder.value(field, [], frame);
    const operation: PivotOperation = { op: 'pivot', pivotKind, left, right, occurrence };
    return builder.value(operation, [price], frame);
  },
  operation: {
    op: 'pivot',
    column: ({ pivotKind, left, right, occurrence }, operands, out) =>
      pivot(operands.values(0), pivotKind, left, right, occurrence, out),
  },
  overState: null,
};
