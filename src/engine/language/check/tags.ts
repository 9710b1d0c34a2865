// Tags: what an object was meant to be when the member that distinguishes kinds is wrong or absent.
import type { ObjectShape, Shape } from '../grammar/shapes.ts';

type Members = Readonly<Record<string, unknown>>;

/** The shape with any tag allowed: the wrong one has been reported already. */
export function withAnyTag(shape: ObjectShape, key: string): ObjectShape {
  const fields = new Map(shape.fields);
  fields.set(key, { name: key, shape: { type: 'anything' }, isRequired: false, isNullable: false });
  return { type: 'object', fields };
}

/**
 * Whether an object without its tag could be of that kind: required members present, none unknown, words among the
 * choices.
 */
export function fitsShape(shape: ObjectShape, value: Members, key: string): boolean {
  const isKnown = Object.keys(value).every((name) => shape.fields.has(name));
  return (
    isKnown &&
    [...shape.fields.values()].every(({ name, shape: field, isRequired }) => {
      if (name === key) return true;
      const member = value[name];
      if (member === undefined) return !isRequired;
      return field.type !== 'choice' || field.values.includes(member as string);
    })
  );
}

/** The form of a parameter reference. */
export const isParamShape = (shape: Shape | undefined): boolean =>
  shape?.type === 'object' && shape.fields.has('param');
