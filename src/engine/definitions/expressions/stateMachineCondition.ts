// The condition `state_machine`: on from one condition until another.
import { z } from 'zod';
import { nextSetRow, stateMachine } from '../../kernels/logic.ts';
import { bars1, named } from '../expressionMembers.ts';
import { STATE_CONFLICT_POLICIES } from '../words.ts';
import type { ConditionDefinition, RunnableOf } from './expressionDefinition.ts';
import { onContext } from './lookbacks.ts';
import { conditionPlace } from './places.ts';

const schema = z.strictObject({
  ...named,
  kind: z.literal('state_machine'),
  ttlBars: bars1.optional(),
  conflictPolicy: z.enum(STATE_CONFLICT_POLICIES).default('reset'),
  set: conditionPlace,
  reset: conditionPlace.optional(),
});

interface StateMachineOperation {
  readonly op: 'state_machine';
  readonly ttlBars: number | null;
  readonly conflictPolicy: (typeof STATE_CONFLICT_POLICIES)[number];
  readonly hasReset: boolean;
}

export const stateMachineCondition: ConditionDefinition<
  typeof schema,
  RunnableOf<typeof schema>,
  StateMachineOperation
> = {
  type: 'condition',
  schema,
  description: 'On from the bar that sets it until the bar that resets it, or for `ttlBars` bars.',
  nsPerBar: 2,
  check: null,
  rewrite: null,
  role: 'temporal',
  sides: null,
  infers: null,
  text: ({ set, reset, ttlBars }, write) => {
    const until = reset ? ` until (${write.text(reset)})` : '';
    return `on from (${write.text(set)})${until}${ttlBars ? ` for ${ttlBars} bars` : ''}`;
  },
  lookback: ({ set, reset }, place) => onContext(place, reset === undefined ? [set] : [set, reset]),
  step: (node, steps, ambient) => {
    const inputs = [node.set, ...(node.reset ? [node.reset] : [])].map((part) => steps.condition(part, ambient));
    const { ttlBars = null, conflictPolicy } = node;
    const hasReset = node.reset !== undefined;
    const operation: StateMachineOperation = { op: 'state_machine', ttlBars, conflictPolicy, hasReset };
    return steps.builder.condition(operation, inputs, ambient);
  },
  operation: {
    op: 'state_machine',
    column: ({ ttlBars, conflictPolicy, hasReset }, operands) => {
      const reset = hasReset ? operands.truths(1) : null;
      return stateMachine(operands.truths(0), reset, ttlBars, conflictPolicy, operands.rows);
    },
    parts: () => 1,
  },
  overState: {
    read: (node, parts) => {
      const set = parts.truth(node.set);
      const reset = node.reset ? parts.truth(node.reset) : null;
      const { ttlBars = null, conflictPolicy } = node;
      const slotOf = parts.remember(
        node,
        () => ({ setRow: -1 }),
        (memory, row, state, all) => {
          const isReset = reset !== null && reset(row, state, all) === 1;
          memory.setRow = nextSetRow(memory.setRow, row, set(row, state, all) === 1, isReset, ttlBars, conflictPolicy);
        },
      );
      return (_row, _state, memory) => (slotOf(memory).setRow >= 0 ? 1 : 0);
    },
    keeps: () => 1,
  },
};
