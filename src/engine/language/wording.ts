// Wording: JSON values and shapes as messages name them.
import type { Shape } from './shapes.ts';

/** A JSON object, whatever is in it. */
export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The number that a text certainly is. */
export function numericText(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** What belongs at a place, in words. */
export function expected(shape: Shape): string {
  switch (shape.type) {
    case 'number':
      return shape.isInteger ? 'a whole number' : 'a number';
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'choice':
      return shape.values.length > 12 ? 'one of its words' : `one of ${shape.values.join(', ')}`;
    case 'slot':
      return shape.of === 'value' ? 'a value expression' : 'a condition';
    case 'reference':
      return 'a reference {ref}';
    case 'either':
      return shape.options.map(expected).join(' or ');
    case 'object':
      return shape.fields.has('param') ? 'a parameter {param}' : 'an object';
    default:
      return 'an object';
  }
}

const MAX_SHOWN = 60;
/** A payload's value as a message may show it: short, and nothing of it expanded. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
