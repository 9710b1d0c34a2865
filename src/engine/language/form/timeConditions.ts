// Time conditions: what `kind: "time"`, which is a value, was meant to be in the place of a condition.
import { COMPARE_OPS, TIME_FIELDS } from '../../definitions/words.ts';
import { INSIDE, WINDOW_MEMBERS } from '../hints/formWords.ts';
import { synonymIn } from '../hints/synonyms.ts';
import { plain } from '../issues/nearest.ts';
import type { Members } from '../grammar/payloadObjects.ts';
import { boundsOf, clockMeant, weekdaysMeant } from './certainRepairs.ts';
import { replaceBy, writeAdvice, type Fault } from './fault.ts';
import { expressionMeant } from './misplaced.ts';

const KEPT: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);

const ADVICE =
  'Use {"kind": "time_window", "between": {"from": "09:30", "to": "16:00"}, "weekdays": ["mon"]}, or compare it: ' +
  '{"kind": "compare", "op": "gte", "left": {"kind": "time", "field": "hour"}, "right": {"kind": "const", "value": 9}}';

/**
 * The one fault of a time in the place of a condition: its members are those of the condition that was meant.
 * @param isRead false: the issue is only counted
 */
export function timeFault(value: Members, pointer: string, isRead: boolean): Fault {
  const meant = isRead ? timeConditionMeant(value) : undefined;
  return {
    code: 'TYPE_MISMATCH',
    message: 'This must be a condition, and "time" is a value.',
    suggestion: (meant && writeAdvice(meant)) ?? `${ADVICE}.`,
    patch: meant && replaceBy(pointer, meant),
  };
}

/** The condition that the members of a time node certainly stand for. */
function timeConditionMeant(value: Members): object | undefined {
  const { kind: _kind, ...members } = value;
  const kept = Object.fromEntries(Object.entries(members).filter(([name]) => KEPT.has(name)));
  const rest = Object.entries(members).filter(([name, one]) => one !== undefined && !KEPT.has(name));
  const meant = members.field === undefined ? windowMeant(rest) : comparisonMeant(rest);
  return meant && { ...meant, ...kept };
}

/** `{"from": "09:30", "to": "16:00", "days": ["mon"]}`; undefined when a member is none of a window. */
function windowMeant(members: readonly (readonly [string, unknown])[]): object | undefined {
  const between: { from?: string; to?: string } = {};
  const window: { timezone?: string; weekdays?: readonly string[] } = {};
  for (const [written, value] of members) {
    switch (WINDOW_MEMBERS.get(plain(written))) {
      case 'from':
        between.from = clockMeant(value);
        break;
      case 'to':
        between.to = clockMeant(value);
        break;
      case 'between':
        [between.from, between.to] = boundsOf(value).map(clockMeant);
        break;
      case 'weekdays':
        window.weekdays = weekdaysMeant(value);
        break;
      case 'timezone':
        if (typeof value !== 'string') return undefined;
        window.timezone = value;
        break;
      case 'op':
        if (!INSIDE.has(String(value))) return undefined;
        break;
      default:
        return undefined;
    }
  }
  const isRead = [...Object.values(between), ...Object.values(window)].every((one) => one !== undefined);
  const hasBounds = Object.keys(between).length > 0;
  if (!isRead || (!hasBounds && window.weekdays === undefined)) return undefined;
  const { from = '00:00', to = '24:00' } = between;
  return { kind: 'time_window', ...window, ...(hasBounds && { between: { from, to } }) };
}

/** `{"field": "hour", "op": "gte", "value": 9}`; undefined when a member is none of a comparison. */
function comparisonMeant(members: readonly (readonly [string, unknown])[]): object | undefined {
  const { field, op, operator = op, value, right = value, ...others } = Object.fromEntries(members);
  if (Object.keys(others).length > 0 || !TIME_FIELDS.some((one) => one === field)) return undefined;
  const compared =
    typeof operator === 'string'
      ? (COMPARE_OPS.find((one) => one === operator) ?? synonymIn(operator, COMPARE_OPS))
      : undefined;
  const number =
    typeof right === 'number' || typeof right === 'string' ? expressionMeant('value', right)?.value : undefined;
  if (compared === undefined || number === undefined) return undefined;
  return { kind: 'compare', op: compared, left: { kind: 'time', field }, right: number };
}
