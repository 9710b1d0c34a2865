// The condition `rolling_window`: how often a condition was true in the last bars.
import { z } from 'zod';
import { countAnswer, rollingWindow, type RollingWindowMode } from '../../kernels/rollingCounts.ts';
import { Ring } from '../../kernels/ring.ts';
import { bars1, named, Num } from '../expressionMembers.ts';
import { issueCodes } from '../issueCodes.ts';
import { ROLLING_WINDOW_MODES } from '../words.ts';
import type { ConditionDefinition, RunnableOf } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace } from './places.ts';
import type { ReadTruth, StatefulParts } from './stateParts.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('rolling_window'),
  window: bars1,
  mode: z.enum(ROLLING_WINDOW_MODES).register(issueCodes, { code: 'UNKNOWN_OPERATOR' }),
  value: Num.optional(),
  expr: conditionPlace,
});
type Node = RunnableOf<typeof schema>;

/** Modes that compare a count with `value`. */
const COUNT_MODES = ['count_gt', 'count_lt', 'count_eq'] as const satisfies readonly RollingWindowMode[];

interface RollingWindowOperation {
  readonly op: 'rolling_window';
  readonly mode: RollingWindowMode;
  readonly window: number;
  readonly value: number;
}
/** `value` matters for `streak` and the count modes, which always have one. */
const operationOf = ({ mode, window, value = 0 }: Node): RollingWindowOperation => ({
  op: 'rolling_window',
  mode,
  window,
  value,
});

export const rollingWindowCondition: ConditionDefinition<typeof schema, Node, RollingWindowOperation> = {
  type: 'condition',
  schema,
  description: 'How often the condition was true in the last `window` bars.',
  nsPerBar: 2,
  requiredWhen: { value: { mode: COUNT_MODES } },
  check: ({ mode, value }, check) => {
    if (!(COUNT_MODES as readonly unknown[]).includes(mode) || value !== undefined) return true;
    const message = `The mode ${String(mode)} requires \`value\`, the number that the count is compared with.`;
    return check.report('MISSING_FIELD', ['value'], { message });
  },
  rewrite: (node, isPlaced, rewriter) =>
    rewriter.plain(node, isPlaced, node.mode === 'streak' ? { value: node.window } : undefined),
  role: 'temporal',
  sides: null,
  infers: null,
  text: ({ mode, value, expr, window }, write) =>
    `${mode}${value === undefined ? '' : ` ${value}`} of (${write.text(expr)}) in ${window} bars`,
  lookback: ({ expr, mode, value, window }, place) =>
    onContext(place, [expr], (mode === 'streak' && value !== undefined ? value : window) - 1),
  step: (node, steps, ambient) =>
    steps.builder.condition(operationOf(node), [steps.condition(node.expr, ambient)], ambient),
  operation: {
    op: 'rolling_window',
    column: ({ window, mode, value }, operands) =>
      rollingWindow(operands.truths(0), window, mode, value, operands.rows),
    parts: () => 1,
  },
  overState: {
    read: windowCount,
    keeps: ({ mode, window, value }) => (mode === 'streak' ? Math.max(1, Math.ceil(value ?? 1)) : window),
  },
};

function windowCount(node: Node, parts: StatefulParts): ReadTruth {
  const inner = parts.truth(node.expr);
  const { mode, window, value } = operationOf(node);
  const size = mode === 'streak' ? Math.max(1, Math.ceil(value)) : window;
  const slotOf = parts.remember(
    node,
    () => new Ring(size),
    (ring, row, state, all) => ring.push(inner(row, state, all)),
  );
  return (_row, _state, memory) => {
    let trues = 0;
    let unknowns = 0;
    for (let bars = 0; bars < size; bars++) {
      const truth = slotOf(memory).ago(bars);
      if (truth === 1) trues++;
      else if (truth !== 0) unknowns++;
    }
    return countAnswer(mode === 'streak' ? 'all' : mode, trues, trues + unknowns, size, value);
  };
}
