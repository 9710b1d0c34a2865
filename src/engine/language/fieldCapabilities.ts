// What capabilities say of a single member of a node or section, read from its shape.
import { NAMES } from '../definitions/expressionMembers.ts';
import { MEMBER_NOTES } from './grammar/memberConstraints.ts';
import type { PlaceType, Field, ObjectShape, Shape } from './grammar/shapes.ts';

/** A member of a node or section: what it takes, and its bounds. */
export interface FieldCapability {
  readonly name: string;
  readonly type: 'int' | 'float' | 'string' | 'bool' | 'enum' | 'object' | 'array' | 'map';
  readonly required: boolean;
  /** What it means, where its name does not say it exactly. */
  readonly description?: string;
  /** What an absent member stands for. */
  readonly default?: unknown;
  readonly enum?: readonly (string | number)[];
  readonly min?: number;
  readonly max?: number;
  /** `min` itself is not allowed. */
  readonly exclusiveMin?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** What a string must be beyond its pattern, with examples. */
  readonly format?: string;
  readonly examples?: readonly string[];
  /** The other member that it must not exceed. */
  readonly atMostField?: string;
  /** `{"param": name}` is allowed in its place. */
  readonly acceptsParam?: true;
  /** Words that are allowed in its place. */
  readonly orOneOf?: readonly (string | number)[];
  readonly fields?: readonly FieldCapability[];
  readonly items?: readonly FieldCapability[];
  /** For objects of several kinds: the fields of each. */
  readonly variants?: Readonly<Record<string, readonly FieldCapability[]>>;
  /** The member that may stand in its place. */
  readonly requiredUnless?: string;
  /** The values of other members with which it is required. */
  readonly requiredWhen?: Readonly<Record<string, readonly string[]>>;
  /** The place of a reference (graph) or an expression (AST). */
  readonly ref?: RefKind;
}

/** What an input takes; `any_ref`: the one or the other, by the operation. */
export type RefKind = 'number_ref' | 'bool_ref' | 'any_ref';
const REF_KINDS: Readonly<Record<PlaceType, RefKind>> = {
  value: 'number_ref',
  condition: 'bool_ref',
  either: 'any_ref',
};
export const refKind = (of: PlaceType): RefKind => REF_KINDS[of];

/** What capabilities say of the fields of an object, without those that every object may have. */
export function fieldsOf(shape: ObjectShape): FieldCapability[] {
  return [...shape.fields.values()].filter(({ name }) => !NAMES.has(name)).map(fieldOf);
}

/** What capabilities say of one field. */
export function fieldOf({ name, shape, isRequired, unless, default: byDefault }: Field): FieldCapability {
  return {
    name,
    required: isRequired,
    ...(unless === undefined ? {} : { requiredUnless: unless }),
    ...capabilityOf(shape),
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...MEMBER_NOTES[name],
  };
}

/** What a shape takes, and its bounds. */
export function capabilityOf(shape: Shape): Omit<FieldCapability, 'name' | 'required'> {
  switch (shape.type) {
    case 'number': {
      const { isInteger, min, max, isMinExclusive } = shape;
      const isBounded = (bound: number): boolean => Math.abs(bound) < Number.MAX_SAFE_INTEGER;
      return {
        type: isInteger ? 'int' : 'float',
        ...(isBounded(min) ? { min } : {}),
        ...(isMinExclusive ? { exclusiveMin: true as const } : {}),
        ...(isBounded(max) ? { max } : {}),
      };
    }
    case 'choice':
      return { type: 'enum', enum: shape.values };
    case 'string':
      return {
        type: 'string',
        ...(shape.min > 0 ? { minLength: shape.min } : {}),
        ...(shape.max < Infinity ? { maxLength: shape.max } : {}),
        ...(shape.pattern === null ? {} : { pattern: shape.pattern.source }),
      };
    case 'boolean':
      return { type: 'bool' };
    case 'object':
      return { type: 'object', fields: fieldsOf(shape) };
    case 'kinds':
      return {
        type: 'object',
        variants: Object.fromEntries([...shape.options].map(([tag, option]) => [tag, fieldsOf(option)])),
      };
    case 'array':
      return {
        type: 'array',
        ...(shape.min > 0 ? { minLength: shape.min } : {}),
        ...(shape.max < Infinity ? { maxLength: shape.max } : {}),
        items: [{ name: '[]', required: true, ...capabilityOf(shape.item) }],
      };
    case 'record':
      return { type: 'map' };
    case 'either': {
      const isParam = (option: Shape): boolean => option.type === 'object' && option.fields.has('param');
      const [own, ...others] = shape.options.filter((option) => !isParam(option));
      const words = others.flatMap((option) => (option.type === 'choice' ? option.values : []));
      return {
        ...capabilityOf(own),
        ...(words.length === 0 ? {} : { orOneOf: words }),
        ...(shape.options.some(isParam) ? { acceptsParam: true as const } : {}),
      };
    }
    case 'slot':
    case 'reference':
      return { type: 'object', ref: refKind(shape.of) };
    case 'checked':
      return { type: 'string' };
    case 'anything':
      return { type: 'object' };
  }
}

/** A place that takes a number, with its bounds. `[]` in the path means every element. */
interface NumberPath {
  readonly path: string;
  readonly type: 'int' | 'float';
  readonly min?: number;
  readonly exclusiveMin?: true;
  readonly max?: number;
  /** The tag of the kind that has it, as `mode=percent`. */
  readonly when?: string;
}

/** Every number below a shape, by path. */
export function numberPaths(shape: Shape, path: string): NumberPath[] {
  switch (shape.type) {
    case 'object':
      return [...shape.fields.values()].flatMap(({ name, shape: field }) => numberPaths(field, `${path}.${name}`));
    case 'kinds':
      return [...shape.options].flatMap(([tag, option]) =>
        numberPaths(option, path).map((found) => ({ ...found, when: `${shape.key}=${tag}` })),
      );
    case 'array':
      return numberPaths(shape.item, `${path}[]`);
    case 'either':
      return shape.options.flatMap((option) => numberPaths(option, path));
    case 'number': {
      const { type, min, max, exclusiveMin } = capabilityOf(shape);
      return [
        {
          path,
          type: type as 'int' | 'float',
          ...(min === undefined ? {} : { min }),
          ...(exclusiveMin ? { exclusiveMin } : {}),
          ...(max === undefined ? {} : { max }),
        },
      ];
    }
    default:
      return [];
  }
}
