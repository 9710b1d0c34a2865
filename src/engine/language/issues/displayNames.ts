// Display names: how messages name the values of a payload and what the grammar expects.
import type { ExpressionType, ObjectShape, Shape } from '../grammar/shapes.ts';

/** The number that a string spells, with its thousands apart or not; undefined when it spells none. */
export function numericText(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (THOUSANDS_OR_DECIMALS.test(value)) return undefined;
  const number = Number(GROUPED.test(value) ? value.replaceAll(/[^\d.+-]/g, '') : value);
  return Number.isFinite(number) ? number : undefined;
}

/** `1.500` is one and a half in English and fifteen hundred in German. */
const THOUSANDS_OR_DECIMALS = /^\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*$/;
/** `10,000`, `1,000,000.5`, `10 000`, `10_000` or `10'000`; `0,125` has a decimal comma. */
const GROUPED = /^\s*[+-]?[1-9]\d{0,2}([, _'\u00a0\u202f])\d{3}(?:\1\d{3}){0,6}(?:\.\d{0,12})?\s*$/;

/** What the grammar expects at a place, in words. */
export function expected(shape: Shape): string {
  switch (shape.type) {
    case 'number':
      return shape.isInteger ? 'a whole number' : 'a number';
    case 'string':
      return 'a string';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'choice':
      return shape.values.length === 1 ? shown(shape.values[0]) : `one of ${shape.values.join(', ')}`;
    case 'checked':
      return shape.hint.replace(/^must be /, '');
    case 'slot':
      return shape.of === 'value' ? 'a value expression' : 'a condition';
    case 'reference':
      return 'a reference {"ref": "<node id>"}';
    case 'either':
      return shape.options.map(expected).join(' or ');
    case 'object':
      return shape.fields.has('param') ? 'a parameter {"param": "<name>"}' : 'an object';
    default:
      return 'an object';
  }
}

/** Examples of members whose types say too little. */
const EXAMPLES: Readonly<Record<string, string>> = {
  action: '{"side": "long", "sizing": {"mode": "percent_equity", "value": 100}}',
  sizing: '{"mode": "fixed", "value": 10} for 10 units, or {"mode": "percent_equity", "value": 10} for 10 % of equity',
  order: '{"type": "market"}',
  stopLoss: '{"mode": "percent", "value": 2} for 2 %',
  takeProfits: '[{"triggerPercent": 4, "closePercent": 100}] for 4 %',
  trailingStop: '{"distancePercent": 3} for 3 %',
  breakeven: '{"activateAfterPercent": 2} for 2 %',
  args: '[{"kind": "market", "field": "close"}, {"kind": "const", "value": 2}]',
  between: '{"from": "09:30", "to": "16:00"}',
  symbol: '"SPX"',
  closePercent: '100 for all of the position',
};
/** Advice on objects that are not objects. */
export const OBJECT_ADVICE: Readonly<Record<string, string>> = {
  args: 'Give an object, such as {"length": 20}.',
  entry: 'Give an object with kind, trigger and action; the trigger is a condition, such as a compare or cross.',
  exits: 'Give an object, such as {"kind": "exit", "when": …}, with a condition, such as a compare or cross.',
  takeProfits: 'Give an object, such as {"triggerPercent": 4, "closePercent": 100} for 4 %.',
  nodes: 'Give an object, such as {"id": "fast", "kind": "indicator", "indicator": "sma", "args": {"length": 50}}.',
  params: 'Give an object, such as {"name": "length", "type": "int", "default": 14}.',
  steps: 'Give an object, such as {"expr": …}, with a condition in it.',
  exit: 'Write it as "exits", which takes a list.',
};
/** A condition that is true on every bar, for strategies that buy and hold. */
export const ALWAYS_TRUE =
  'For every bar, compare what always holds: {"kind": "compare", "op": "gt", "left": {"kind": "market", "field": ' +
  '"close"}, "right": {"kind": "const", "value": 0}}.';
/** Advice on a value that is not an expression. */
export function expressionAdvice(of: ExpressionType, value: unknown): string {
  if (of === 'value')
    return 'Give an object, such as {"kind": "indicator", "indicator": "sma", "args": {"length": 20}}.';
  if (value === true || value === 'true') return ALWAYS_TRUE;
  return Array.isArray(value)
    ? 'Join several conditions with the kind `all` or `any`.'
    : 'Give an object with a kind, such as compare or cross.';
}

/** The action of an exit, which has the name of an entry's. */
const EXIT_ACTION = '{"mode": "percent_position", "value": 50} for half; without an action, an exit closes all';

/** Advice on what to give for a member, with an example where there is one. The args of calls are not a list. */
export function adviceFor(name: string, shape: Shape): string | undefined {
  if (!Object.hasOwn(EXAMPLES, name) || shape.type === 'record') return undefined;
  const example = name === 'action' && shape.type === 'kinds' ? EXIT_ACTION : EXAMPLES[name];
  return `Give ${shape.type === 'either' ? 'a number' : expected(shape)}, such as ${example}.`;
}

/** From here on, a bound is a limit of the number type and not worth a message. */
const UNBOUNDED = 1e15;
/** What the grammar expects, with the bounds of a number; for advice. */
export function bounded(shape: Shape): string {
  if (shape.type === 'either') return shape.options.map(bounded).join(' or ');
  if (shape.type === 'object' && !shape.fields.has('param')) return objectOf(shape);
  if (shape.type !== 'number') return expected(shape);
  const { min, max, isMinExclusive } = shape;
  const lowest = min > -UNBOUNDED ? `${isMinExclusive ? 'above' : 'of at least'} ${min}` : '';
  const highest = max < UNBOUNDED ? `at most ${max}` : '';
  const bounds = [lowest, highest].filter((text) => text !== '').join(' and ');
  return bounds === '' ? expected(shape) : `${expected(shape)} ${lowest === '' ? `of ${bounds}` : bounds}`;
}

function objectOf({ fields }: ObjectShape): string {
  const required = [...fields.values()].filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return required.length === 0 ? 'an object' : `an object with ${required.join(', ')}`;
}

const MAX_SHOWN = 60;
/** A value of the payload as a message shows it: short, and without the contents of lists and objects. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
