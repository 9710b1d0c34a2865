// Display names: how messages name the values of a payload and what the grammar expects.
import type { ObjectShape, Shape } from '../grammar/shapes.ts';

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
      if (shape.of === 'either') return 'a value expression or a condition';
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

/** The name that JSON has for the type of a value. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
