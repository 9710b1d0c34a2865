// What capabilities say of a single member of a node or section, read from its shape.
import { MEMBER_NOTES } from './grammar/memberConstraints.ts';
import type { ExpressionType, Field, ObjectShape, Shape } from './grammar/shapes.ts';

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
  readonly fields?: readonly FieldCapability[];
  readonly items?: readonly FieldCapability[];
  /** For objects of several kinds: the fields of each. */
  readonly variants?: Readonly<Record<string, readonly FieldCapability[]>>;
  /** The values of other members with which it is required. */
  readonly requiredWhen?: Readonly<Record<string, readonly string[]>>;
  /** The place of a reference (graph) or an expression (AST). */
  readonly ref?: 'number_ref' | 'bool_ref';
}

export const refKind = (of: ExpressionType): 'number_ref' | 'bool_ref' => (of === 'value' ? 'number_ref' : 'bool_ref');
/** Members that every object may have, listed once. */
export const NAMES: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);

/** The fields of an object, without those that every object may have. */
export function fieldsOf(shape: ObjectShape): FieldCapability[] {
  return [...shape.fields.values()].filter(({ name }) => !NAMES.has(name)).map(fieldOf);
}

export function fieldOf({ name, shape, isRequired, default: byDefault }: Field): FieldCapability {
  const ofShape = describe(shape);
  return {
    name,
    required: isRequired,
    ...ofShape,
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...MEMBER_NOTES[name],
  };
}

export function describe(shape: Shape): Omit<FieldCapability, 'name' | 'required'> {
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
        items: [{ name: '[]', required: true, ...describe(shape.item) }],
      };
    case 'record':
      return { type: 'map' };
    case 'either': {
      const accepts = shape.options.some((option) => option.type === 'object' && option.fields.has('param'));
      const rest = shape.options.filter((option) => !(option.type === 'object' && option.fields.has('param')));
      return { ...describe(rest[0]), ...(accepts ? { acceptsParam: true as const } : {}) };
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

/** Every number below a shape, by path, with its bounds. */
export function numberPaths(
  shape: Shape,
  path: string,
): { path: string; type: 'int' | 'float'; min?: number; max?: number }[] {
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
      const { type, min, max, exclusiveMin } = describe(shape);
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
