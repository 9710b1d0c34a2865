// The condition `session`: the bar opens during a market session.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import { SESSIONS } from '../words.ts';
import type { ConditionDefinition } from './expressionDefinition.ts';
import { needOfClock } from './lookbacks.ts';
import type { SharedConditionOperation } from './planSteps.ts';
import { CLOCK_ADVICE } from './timeWindowCondition.ts';

const schema = z.strictObject({ ...named, kind: z.literal('session'), name: z.enum(SESSIONS) });

/** Session hours (semantics §1.9). */
const SESSION_WINDOWS = {
  tokyo: { timezone: 'Asia/Tokyo', between: { from: '09:00', to: '18:00' } },
  london: { timezone: 'Europe/London', between: { from: '08:00', to: '17:00' } },
  new_york: { timezone: 'America/New_York', between: { from: '08:00', to: '17:00' } },
  us_equities: { timezone: 'America/New_York', between: { from: '09:30', to: '16:00' } },
} as const satisfies Record<(typeof SESSIONS)[number], object>;

export const sessionCondition: ConditionDefinition<typeof schema> = {
  type: 'condition',
  schema,
  description: 'The bar opens during the given market session.',
  nsPerBar: 2,
  check: (_node, check) => {
    check.warnOfHours('name');
    return true;
  },
  rewrite: null,
  role: 'leaf',
  sides: null,
  infers: null,
  advice: { always: CLOCK_ADVICE },
  text: ({ name }) => `${name} session`,
  lookback: needOfClock,
  // The same hours every day.
  step: ({ name }, { builder }, ambient) => {
    const { timezone, between } = SESSION_WINDOWS[name];
    const window = { kind: 'time_window', between } as const;
    const operation: SharedConditionOperation = { op: 'time_window', window, timezone };
    return builder.condition(operation, [], ambient);
  },
  readsHours: () => true,
  operation: null,
  overState: null,
};
