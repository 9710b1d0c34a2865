// Operations: what the step of a node computes, made of those members of the node that matter.
import type { RunnableNodes } from '../language/grammar/ast.ts';
import type { SESSIONS } from '../definitions/words.ts';
import type { ClockWindow } from './plan.ts';

/** The operation of a `rolling` node; `quantile` matters for the op of that name, which always has one. */
export const rollingOperation = ({ op, period, quantile = 0.5 }: RunnableNodes['rolling']) =>
  ({ op: 'rolling', rolling: op, period, quantile }) as const;

/**
 * The operation of a `rolling_window` node; `value` matters for `streak` and the count modes, which always have one.
 */
export const rollingWindowOperation = ({ mode, window, value = 0 }: RunnableNodes['rolling_window']) =>
  ({ op: 'rolling_window', mode, window, value }) as const;

/** The operation of a `time_window` node. */
export const timeWindowOperation = (node: RunnableNodes['time_window']) =>
  ({ op: 'time_window', window: clockWindow(node), timezone: node.timezone }) as const;

/** The members that matter: windows that differ only in id or label are one step. */
function clockWindow({ weekdays, between, dates }: RunnableNodes['time_window']): ClockWindow {
  return { kind: 'time_window', ...(weekdays && { weekdays }), ...(between && { between }), ...(dates && { dates }) };
}

/** The operation of a `session` node: the same hours every day. */
export function sessionOperation({ name }: RunnableNodes['session']) {
  const { timezone, ...window } = SESSION_WINDOWS[name];
  return { op: 'time_window', window: { kind: 'time_window', ...window }, timezone } as const;
}

/** Session hours (semantics §1.9). */
const SESSION_WINDOWS = {
  tokyo: { timezone: 'Asia/Tokyo', between: { from: '09:00', to: '18:00' } },
  london: { timezone: 'Europe/London', between: { from: '08:00', to: '17:00' } },
  new_york: { timezone: 'America/New_York', between: { from: '08:00', to: '17:00' } },
  us_equities: { timezone: 'America/New_York', between: { from: '09:30', to: '16:00' } },
} as const satisfies Record<(typeof SESSIONS)[number], object>;
