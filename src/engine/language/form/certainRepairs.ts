// Certain repairs: one table of values in a form that their place does not accept, and the only meaning that each can
// have. The next round repairs what a repair uncovers, so that each entry handles one kind of damage only.
import { CLOCK_PATTERN, COMPARE_OPS, CROSS_OPS, WEEKDAYS } from '../../definitions/words.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { percentLevel } from '../../definitions/levels/percentLevel.ts';
import { percentEquity } from '../../definitions/sizing/percentEquity.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';
import { isParamShape, typeOfKind, type Shape } from '../grammar/shapes.ts';
import { WINDOW_MEMBERS } from '../hints/formWords.ts';
import { operatorKind, synonymIn, withoutModule } from '../hints/synonyms.ts';
import { plain } from '../issues/nearest.ts';
import type { TextContext } from '../text/textMeaning.ts';
import { isMade, readExpression } from '../text/readExpression.ts';
import { keyedList, numberMeant } from './misplaced.ts';

/** A value in its place. */
export interface Place {
  readonly shape: Shape;
  /** The member that holds the value, or the list that it is an item of. */
  readonly name: string;
  readonly value: unknown;
  readonly names: TextContext;
}
/** The value that was meant, wrapped because it may be any value. */
interface Meant {
  readonly value: unknown;
  /** How to write it, where the value alone says too little. */
  readonly advice?: string;
}
type Read = (place: Place) => Meant | undefined;

/** Damage → what the value means; undefined where it is not of that kind, or where its meaning is not certain. */
const REPAIRS: Readonly<Record<string, Read>> = {
  'an object or list as a JSON text': ({ shape, value }) => {
    const isText = typeof value === 'string' && STRUCTURES.has(shape.type) && /^\s*[[{]/.test(value);
    return isText ? parsed(value) : undefined;
  },
  'left, sign and right in a list': ({ shape, value }) => {
    if (!isCondition(shape) || !Array.isArray(value) || value.length !== 3) return undefined;
    const [left, sign, right] = value as unknown[];
    return typeof sign === 'string' && !isMembers(left) ? comparison(left, sign, right) : undefined;
  },
  'a list of conditions': ({ shape, value }) => {
    const isList = isCondition(shape) && Array.isArray(value) && value.length > 1;
    return isList && value.every((item) => isMembers(item) || typeof item === 'string')
      ? { value: { kind: 'all', items: value } }
      : undefined;
  },
  'a condition with its indicator, sign and number side by side': ({ shape, value }) =>
    isCondition(shape) && isMembers(value) ? flatComparison(value) : undefined,
  'a bare percentage as a stop or a size': ({ shape, value }) => {
    if (shape.type !== 'kinds' || typeof value !== 'number') return undefined;
    const { options } = shape;
    // Below 1, it may be a fraction; 1 may be one unit or all of the equity; above 100, it is units or money.
    if (options.has(percentLevel.mode) && !options.has(percentEquity.mode))
      return value >= 1 && value < 100 ? { value: { mode: percentLevel.mode, value } } : undefined;
    return options.has(percentEquity.mode) && value > 1 && value <= 100
      ? { value: { mode: percentEquity.mode, value } }
      : undefined;
  },
  'a distance in percent as a trailing stop': ({ shape, value }) => {
    const points = shape.type === 'object' && shape.fields.has('distancePercent') ? percentOf(value) : undefined;
    return points === undefined ? undefined : { value: { distancePercent: points } };
  },
  'one target in place of a list of them': ({ shape, name, value }) => {
    if (shape.type !== 'array' || name !== 'takeProfits') return undefined;
    const points = percentOf(value);
    if (points !== undefined) return { value: [{ triggerPercent: points, closePercent: 100 }] };
    // The only target closes all of the position, as everywhere.
    const isWhole = isMembers(value) && !Object.keys(value).some((one) => /close|portion|size|qty|quantity/i.test(one));
    return isMembers(value) ? { value: [isWhole ? { ...value, closePercent: 100 } : value] } : undefined;
  },
  'an exit as its condition': ({ shape, value, names }) => {
    const isExit = shape.type === 'object' && shape.fields.has('appliesTo') && shape.fields.has('when');
    return isExit && isConditionLike(value, names) ? { value: { kind: 'exit', when: value } } : undefined;
  },
  'exits as one condition': ({ shape, name, value, names }) =>
    shape.type === 'array' && name === 'exits' && isConditionLike(value, names) ? { value: [value] } : undefined,
  'a time of day of another format': ({ shape, value }) => {
    if (shape.type !== 'string' || shape.pattern?.source !== CLOCK_PATTERN.source) return undefined;
    const clock = clockMeant(value);
    return clock === undefined || clock === value ? undefined : { value: clock };
  },
  'hours as a text, a list or under other names': ({ shape, name, value }) => {
    const isHours = shape.type === 'object' && name === 'between' && shape.fields.has('from');
    const [from, to] = isHours ? boundsOf(value).map(clockMeant) : [];
    const isWritten = isMembers(value) && value.from !== undefined && value.to !== undefined;
    return from === undefined || to === undefined || isWritten ? undefined : { value: { from, to } };
  },
  'weekdays as a text': ({ shape, name, value }) => {
    if (shape.type !== 'array' || name !== 'weekdays' || typeof value !== 'string') return undefined;
    const days = weekdaysMeant(value);
    return days && { value: days };
  },
  'a map of items by their names': ({ shape, name, value }) => {
    const keyed = shape.type === 'array' ? keyedList(name, value) : undefined;
    return keyed && { ...keyed.list, advice: keyed.advice };
  },
  'a number or a param as an expression': ({ shape, value }) => {
    const isNumber = takesParam(shape) && !shape.options.some(({ type }) => type === 'slot' || type === 'reference');
    return isNumber ? numberMeant(value) : undefined;
  },
  'a param in short as an expression': ({ shape, value }) => {
    const isShort =
      shape.type === 'slot' && shape.of === 'value' && isMembers(value) && Object.keys(value).length === 1;
    return isShort && typeof value.param === 'string' ? { value: { kind: 'param', name: value.param } } : undefined;
  },
  'an indicator by its name and params': ({ shape, value }) => {
    if (shape.type !== 'slot' || shape.of !== 'value' || !isMembers(value)) return undefined;
    const { name, kind = value.type, type: _type, ...rest } = value;
    const isCall = kind === undefined && typeof name === 'string' && value.indicator === undefined;
    return isCall && findIndicator(withoutModule(name)) !== undefined
      ? { value: { kind: 'indicator', indicator: name, ...rest } }
      : undefined;
  },
  'a field as a node where its name belongs': ({ shape, name, value }) => {
    const isField = shape.type === 'either' && name === 'source' && isMembers(value) && value.kind === 'market';
    return isField && Object.keys(value).length === 2 ? { value: value.field } : undefined;
  },
  'a side as an action': ({ shape, value }) => {
    const isAction = shape.type === 'object' && shape.fields.has('side') && shape.fields.has('sizing');
    return isAction && typeof value === 'string' && /^(?:buy|long|short)$/i.test(value)
      ? { value: { side: value.toLowerCase() } }
      : undefined;
  },
  'a param without its type': ({ shape, value }) => {
    const isParam = shape.type === 'object' && shape.fields.has('default') && shape.fields.has('values');
    if (!isParam || !isMembers(value) || value.type !== undefined) return undefined;
    const { default: initial, min = 0, max = 0, step = 0, values } = value;
    const isWhole = [initial, min, max, step].every((one) => Number.isInteger(one));
    if (values === undefined && typeof initial === 'number')
      return { value: { ...value, type: isWhole ? 'int' : 'float' } };
    return values === undefined && typeof initial === 'boolean' ? { value: { ...value, type: 'bool' } } : undefined;
  },
  'a param as a text': ({ shape, value, names }) => {
    const [, name] =
      (typeof value === 'string' && /^\s*(?:\$|\{\{?|params?\.)\s*(\w+)\s*\}{0,2}\s*$/.exec(value)) || [];
    return name !== undefined && takesParam(shape) && names.params.has(name) ? { value: { param: name } } : undefined;
  },
};

/** What a value in the wrong form certainly means; undefined where it has the right form or is not certain. */
export function certainRepair(place: Place): Meant | undefined {
  for (const read of Object.values(REPAIRS)) {
    const meant = read(place);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

const STRUCTURES: ReadonlySet<Shape['type']> = new Set(['object', 'kinds', 'array', 'record', 'slot', 'reference']);

function parsed(text: string): Meant | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Whether a place takes a number or a param. */
const takesParam = (shape: Shape): shape is Shape & { readonly type: 'either' } =>
  shape.type === 'either' && isParamShape(shape.options.find(({ type }) => type === 'object'));

const isCondition = (shape: Shape): boolean => shape.type === 'slot' && shape.of === 'condition';

/** Whether a value is a condition in any form: a node, a text, a list of them. */
function isConditionLike(value: unknown, names: TextContext): boolean {
  if (typeof value === 'string') {
    const read = readExpression(value, names);
    return isMade(read) && typeOfKind(read.kind) === 'condition';
  }
  if (Array.isArray(value)) return false;
  if (!isMembers(value)) return false;
  const isReference = typeof value.ref === 'string' && Object.keys(value).length === 1;
  return isReference || typeOfKind(value.kind) === 'condition' || flatComparison(value) !== undefined;
}

/** The percent points of a number from 1 on, below which it may be a fraction, or of a text such as "4%". */
function percentOf(value: unknown): number | undefined {
  const [, text] = (typeof value === 'string' && /^\s*(\d{1,4}(?:\.\d{1,6})?)\s*%\s*$/.exec(value)) || [];
  if (text !== undefined) return Number(text);
  return typeof value === 'number' && value >= 1 && value < 100 ? value : undefined;
}

/** A comparison or cross; undefined where the sign is none. */
function comparison(left: unknown, sign: string, right: unknown): Meant | undefined {
  const op = COMPARE_OPS.find((one) => one === sign) ?? CROSS_OPS.find((one) => one === sign);
  const operator = op === undefined ? operatorKind(sign) : { kind: op.startsWith('cross') ? 'cross' : 'compare', op };
  const isOne = operator?.kind === 'compare' || operator?.kind === 'cross';
  return isOne ? { value: { ...operator, left, right } } : undefined;
}

const SIGN_NAMES = ['op', 'operator', 'comparison', 'comparator', 'condition', 'direction'];
const NUMBER_NAMES = ['value', 'threshold', 'right', 'rhs', 'level', 'target', 'compare_to', 'compareTo', 'than'];
const COMMON = ['id', 'label', 'description', 'meta'];

/** `{"indicator": "rsi", "length": 14, "operator": "<", "value": 30}`, or with a field in place of the indicator. */
function flatComparison(value: Members): Meant | undefined {
  const { kind = value.type } = value;
  const isPlain = kind === undefined || kind === 'indicator' || kind === 'condition' || kind === 'comparison';
  const sign = SIGN_NAMES.find((name) => typeof value[name] === 'string');
  const number = NUMBER_NAMES.find((name) => value[name] !== undefined);
  const read = ['indicator', 'field'].find((name) => typeof value[name] === 'string');
  if (!isPlain || sign === undefined || number === undefined || read === undefined) return undefined;
  const made = comparison(undefined, String(value[sign]), value[number])?.value as Members | undefined;
  if (made === undefined) return undefined;
  const rest = Object.entries(value).filter(([name]) => ![sign, number, 'kind', 'type', ...COMMON].includes(name));
  const kept = Object.entries(value).filter(([name]) => COMMON.includes(name));
  // `close` is a field, and `bb_lower` a column: neither is the name of an indicator.
  const isCall = read === 'indicator' && findIndicator(withoutModule(String(value[read]))) !== undefined;
  const kindOf = read === 'field' ? 'market' : 'indicator';
  const left = rest.length === 1 && !isCall ? value[read] : { kind: kindOf, ...Object.fromEntries(rest) };
  return { value: { ...Object.fromEntries(kept), ...made, left } };
}

/** `9:30`, `09:30:00` and `4:00 PM` as `09:30` and `16:00`; `930` may be a number of anything. */
export function clockMeant(value: unknown): string | undefined {
  const [, hours, minute = '00', half] =
    (typeof value === 'string' && /^\s*(\d{1,2})(?::([0-5]\d)(?::00)?)?\s*([ap]\.?m\.?)?\s*$/i.exec(value)) || [];
  if (hours === undefined || (half === undefined && !String(value).includes(':'))) return undefined;
  const hour = Number(hours);
  if (half === undefined) return hour > (minute === '00' ? 24 : 23) ? undefined : `${hours.padStart(2, '0')}:${minute}`;
  if (hour < 1 || hour > 12) return undefined;
  return `${String((hour % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0)).padStart(2, '0')}:${minute}`;
}

/** The two ends of `["09:30", "16:00"]`, `{"start": "09:30", "end": "16:00"}` or `"09:30-16:00"`. */
export function boundsOf(value: unknown): readonly [unknown, unknown] {
  const list: readonly unknown[] =
    typeof value === 'string' ? value.split(/-|–|\bto\b/).map((end) => end.trim()) : Array.isArray(value) ? value : [];
  if (list.length === 2) return [list[0], list[1]];
  if (!isMembers(value) || Object.keys(value).length !== 2) return [undefined, undefined];
  const find = (end: 'from' | 'to'): unknown =>
    Object.entries(value).find(([name]) => WINDOW_MEMBERS.get(plain(name)) === end)?.[1];
  return [find('from'), find('to')];
}

/** Days by any of their names, alone, in a list, in a text with commas, or from one to another: `mon-fri`. */
export function weekdaysMeant(value: unknown): readonly string[] | undefined {
  const words: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(/[,;/\s]+/)
      : [];
  if (words.length === 0 || words.length > WEEKDAYS.length) return undefined;
  const days = words.map((word) => {
    const day = typeof word === 'string' ? plain(word) : '';
    return WEEKDAYS.find((one) => one === day) ?? synonymIn(day, WEEKDAYS);
  });
  if (days.every((day) => day !== undefined)) return days;
  if (typeof value !== 'string') return undefined;
  if (/^\s*(?:weekdays|business days|working days)\s*$/i.test(value)) return WEEKDAYS.slice(0, 5);
  const [first, last] = value.split(/\s*(?:-|–|\bto\b)\s*/).map((end) => weekdayIndex(end));
  return first >= 0 && last > first ? WEEKDAYS.slice(first, last + 1) : undefined;
}

const weekdayIndex = (word: string): number =>
  WEEKDAYS.findIndex((day) => day === plain(word) || day === synonymIn(plain(word), WEEKDAYS));
