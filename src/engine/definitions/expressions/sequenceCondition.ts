// The condition `sequence`: its steps happened one after the other.
import { z } from 'zod';
import { sequence } from '../../kernels/logic.ts';
import { bars1, named } from '../expressionMembers.ts';
import type { ConditionDefinition, RunnableOf, WrittenNode } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace } from './places.ts';
import type { ReadTruth, StatefulParts } from './stateParts.ts';

const MAX_STEPS = 64;

const schema = z.strictObject({
  ...named,
  kind: z.literal('sequence'),
  steps: z
    .array(z.strictObject({ ...named, minBars: bars1.default(1), maxBars: bars1.optional(), expr: conditionPlace }))
    .min(1)
    .max(MAX_STEPS),
});
type Node = RunnableOf<typeof schema>;

interface SequenceOperation {
  readonly op: 'sequence';
  readonly steps: readonly { readonly minBars: number; readonly maxBars: number | null }[];
}

export const sequenceCondition: ConditionDefinition<typeof schema, Node, SequenceOperation> = {
  type: 'condition',
  schema,
  description: 'The steps, {expr=cond (minBars) (maxBars)} each, happened in order, the last on this bar.',
  nsPerBar: 3,
  check: ({ steps }, check) => {
    if (!Array.isArray(steps)) return false;
    let isValid = true;
    for (const [i, step] of (steps as WrittenNode[]).entries()) {
      const { minBars = 1, maxBars } = step ?? {};
      if (typeof minBars !== 'number' || typeof maxBars !== 'number' || minBars <= maxBars) continue;
      isValid = check.report('OUT_OF_RANGE', ['steps', i, 'maxBars'], {
        message: `maxBars ${maxBars} is less than minBars ${minBars}.`,
        suggestion: `Use at least ${minBars}.`,
      });
    }
    return isValid;
  },
  rewrite: null,
  role: 'temporal',
  sides: null,
  infers: null,
  text: ({ steps }, write) => steps.map((step) => write.text(step.expr)).join(', then '),
  lookback: ({ steps }, place) =>
    onContext(
      place,
      steps.map(({ expr }) => expr),
    ),
  step: (node, steps, ambient) => {
    const bounds = node.steps.map(({ minBars, maxBars }) => ({ minBars, maxBars: maxBars ?? null }));
    const operation: SequenceOperation = { op: 'sequence', steps: bounds };
    const inputs = node.steps.map((step) => steps.condition(step.expr, ambient));
    return steps.builder.condition(operation, inputs, ambient);
  },
  operation: {
    op: 'sequence',
    column: ({ steps }, operands) =>
      sequence(
        steps.map((bounds, index) => ({ ...bounds, column: operands.truths(index) })),
        operands.rows,
      ),
    parts: ({ steps }) => steps.length,
  },
  overState: { read: stepsInOrder, keeps: () => 1 },
};

function stepsInOrder(node: Node, parts: StatefulParts): ReadTruth {
  const steps = node.steps.map(({ expr, minBars, maxBars = Infinity }) => ({
    met: parts.truth(expr),
    minBars,
    maxBars,
  }));
  // For each step, the rows on which it was reached; only those that can still lead to the next step are kept.
  const slotOf = parts.remember(
    node,
    () => steps.map((): number[] => []),
    (metRows, row, state, all) => {
      steps.forEach((step, index) => {
        if (step.met(row, state, all) !== 1) return;
        const follows =
          index === 0 || metRows[index - 1].some((met) => row - met >= step.minBars && row - met <= step.maxBars);
        if (follows) metRows[index].push(row);
      });
      steps.slice(1).forEach((next, index) => keepReachable(metRows[index], row, next.minBars, next.maxBars));
    },
  );
  return (row, _state, memory) => (slotOf(memory)[steps.length - 1].at(-1) === row ? 1 : 0);
}

/** Drops rows that are out of reach of the next step. Of those old enough for it, the latest stays in reach longest. */
function keepReachable(rows: number[], now: number, minBars: number, maxBars: number): void {
  while (rows.length > 0 && now + 1 - rows[0] > maxBars) rows.shift();
  while (rows.length > 1 && now + 1 - rows[1] >= minBars) rows.shift();
}
