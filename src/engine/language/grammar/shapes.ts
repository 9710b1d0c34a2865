// Shapes: the zod grammar read once into a plain form, which checks, lowering, canonical form and capabilities walk.
import type { z } from 'zod';
import {
  CONDITION_KINDS,
  conditionSlot,
  expressionSlot,
  VALUE_KINDS,
  valueSlot,
  type ConditionKind,
  type Expression,
  type Kind,
} from './expressions.ts';
import { CONDITION_NODES, ConditionRef, ExpressionRef, SignalGraph, VALUE_NODES, ValueRef } from './graph.ts';
import { issueCodes, type IssueCode } from '../../definitions/issueCodes.ts';
import { requiredUnless, Settings, StrategyAst } from './strategy.ts';

export type ExpressionType = 'value' | 'condition';
/** What a place takes. */
export type PlaceType = ExpressionType | 'either';

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** It is not required where this member is given. */
  readonly unless?: string;
  /** Whether null counts as absent. */
  readonly isNullable: boolean;
  /** What an absent member stands for; undefined where an absent member stays absent. */
  readonly default?: unknown;
}
export interface ObjectShape {
  readonly type: 'object';
  readonly fields: ReadonlyMap<string, Field>;
}
export interface NumberShape {
  readonly type: 'number';
  readonly isInteger: boolean;
  readonly min: number;
  readonly max: number;
  readonly isMinExclusive: boolean;
}
export type Shape = { readonly code?: IssueCode | undefined } & (
  | ObjectShape
  | NumberShape
  /** The place of an expression of the AST. */
  | { readonly type: 'slot'; readonly of: PlaceType }
  /** The place of a reference in a graph. */
  | { readonly type: 'reference'; readonly of: PlaceType }
  /** Objects of several kinds, distinguished by one member. */
  | { readonly type: 'kinds'; readonly key: string; readonly options: ReadonlyMap<string, ObjectShape> }
  | { readonly type: 'either'; readonly options: readonly Shape[] }
  | { readonly type: 'array'; readonly item: Shape; readonly min: number; readonly max: number }
  | { readonly type: 'record'; readonly item: Shape }
  | { readonly type: 'choice'; readonly values: readonly (string | number)[]; readonly isLiteral: boolean }
  | {
      readonly type: 'string';
      readonly min: number;
      readonly max: number;
      readonly pattern: RegExp | null;
      readonly hint: string;
    }
  | { readonly type: 'boolean' }
  /** A union with a message of its own, which says what it takes. */
  | { readonly type: 'checked'; readonly schema: z.ZodType; readonly hint: string }
  | { readonly type: 'anything' }
);

/** The parts of a zod schema's definition that this file reads. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly (string | number)[];
  readonly format?: string;
  readonly error?: (issue: object) => string;
  readonly checks?: readonly { readonly _zod: { readonly def: Check } }[];
}
interface Check {
  readonly check: string;
  readonly value?: number;
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
  /** The message given with the check. */
  readonly error?: (issue: object) => string;
}

const known = new Map<z.ZodType, Shape>([
  [valueSlot, { type: 'slot', of: 'value' }],
  [conditionSlot, { type: 'slot', of: 'condition' }],
  [expressionSlot, { type: 'slot', of: 'either' }],
  [ValueRef, { type: 'reference', of: 'value' }],
  [ConditionRef, { type: 'reference', of: 'condition' }],
  [ExpressionRef, { type: 'reference', of: 'either' }],
]);

/** The shape of a schema of the grammar. A type of schema that the grammar does not use is a bug. */
export function shapeOf(schema: z.ZodType): Shape {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const code = issueCodes.get(schema)?.code;
  const read = readShape(schema);
  const shape = code === undefined ? read : { ...read, code };
  known.set(schema, shape);
  return shape;
}

function readShape(schema: z.ZodType): Shape {
  const def = schema._zod.def as unknown as Definition;
  switch (def.type) {
    case 'object':
      return {
        type: 'object',
        fields: new Map(Object.entries(def.shape!).map(([name, field]) => [name, fieldOf(name, field)])),
      };
    case 'optional':
    case 'nullable':
    case 'default':
      return shapeOf(def.innerType!);
    case 'union':
      if (def.error !== undefined) return { type: 'checked', schema, hint: def.error({}) };
      return def.discriminator === undefined
        ? { type: 'either', options: def.options!.map(shapeOf) }
        : { type: 'kinds', key: def.discriminator, options: kindsOf(def.options!, def.discriminator) };
    case 'array': {
      const { min, max } = lengths(def);
      return { type: 'array', item: shapeOf(def.element!), min, max };
    }
    case 'record':
      return { type: 'record', item: shapeOf(def.valueType!) };
    case 'enum':
      return { type: 'choice', values: Object.values(def.entries!), isLiteral: false };
    case 'literal':
      return { type: 'choice', values: def.values!, isLiteral: true };
    case 'number':
      return numberShape(def);
    case 'string':
      return { type: 'string', ...lengths(def), ...patternOf(def) };
    case 'boolean':
      return { type: 'boolean' };
    case 'unknown':
      return { type: 'anything' };
    default:
      throw new Error(`Shapes cannot represent zod's ${def.type}; add a case for it.`);
  }
}

function fieldOf(name: string, schema: z.ZodType): Field {
  const { type, defaultValue } = schema._zod.def as unknown as Definition;
  const isAlwaysRequired = type !== 'optional' && type !== 'default';
  const inner = isAlwaysRequired ? schema : (schema._zod.def as unknown as Definition).innerType!;
  const isNullable = inner._zod.def.type === 'nullable';
  const unless = requiredUnless.get(inner)?.member;
  return {
    name,
    shape: shapeOf(schema),
    isRequired: isAlwaysRequired || unless !== undefined,
    isNullable,
    ...(type === 'default' && { default: defaultValue }),
    ...(unless !== undefined && { unless }),
  };
}

function kindsOf(options: readonly z.ZodType[], key: string): Map<string, ObjectShape> {
  const kinds = new Map<string, ObjectShape>();
  for (const option of options) {
    const shape = shapeOf(option) as ObjectShape;
    const tag = shape.fields.get(key)!.shape;
    if (tag.type !== 'choice') throw new Error(`The member ${key} must be a literal or an enum in every option.`);
    for (const value of tag.values) kinds.set(String(value), shape);
  }
  return kinds;
}

function lengths(def: Definition): { min: number; max: number } {
  let min = 0;
  let max = Infinity;
  for (const { _zod } of def.checks ?? []) {
    if (_zod.def.check === 'min_length') min = _zod.def.minimum!;
    if (_zod.def.check === 'max_length') max = _zod.def.maximum!;
  }
  return { min, max };
}

function patternOf(def: Definition): { pattern: RegExp | null; hint: string } {
  const check = def.checks?.find(({ _zod }) => _zod.def.pattern !== undefined)?._zod.def;
  return { pattern: check?.pattern ?? null, hint: check?.error?.({}) ?? '' };
}

function numberShape(def: Definition): NumberShape {
  const isInteger = def.format === 'safeint';
  let min = isInteger ? -Number.MAX_SAFE_INTEGER : -Number.MAX_VALUE;
  let max = isInteger ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  let isMinExclusive = false;
  for (const { _zod } of def.checks ?? []) {
    const { check, value, inclusive } = _zod.def;
    if (check === 'greater_than') {
      min = value!;
      isMinExclusive = inclusive === false;
    }
    if (check === 'less_than') max = value!;
  }
  return { type: 'number', isInteger, min, max, isMinExclusive };
}

/** The option of an `either` that an object or list is of; undefined: none. A number may be an expression as well. */
export function optionOf(options: readonly Shape[], value: unknown): Shape | undefined {
  if (Array.isArray(value)) return options.find(({ type }) => type === 'array');
  const expression = options.find(({ type }) => type === 'slot' || type === 'reference');
  if (expression !== undefined && !isParamRef(value)) return expression;
  return options.find(({ type }) => type === 'object');
}

/** Why a number does not fit its place, as a predicate (`must be …`); undefined when it fits. */
export function numberIssue(shape: NumberShape, value: number): { readonly message: string } | undefined {
  if (!Number.isFinite(value)) return { message: 'must be a finite number' };
  if (shape.isInteger && !Number.isInteger(value)) return { message: `must be a whole number, not ${value}` };
  const { min, max, isMinExclusive } = shape;
  if (isMinExclusive ? value <= min : value < min)
    return { message: `must be ${isMinExclusive ? 'above' : 'at least'} ${min}, not ${value}` };
  return value > max ? { message: `must be at most ${max}, not ${value}` } : undefined;
}

export const AST_SHAPE = shapeOf(StrategyAst) as ObjectShape;
export const GRAPH_SHAPE = shapeOf(SignalGraph) as ObjectShape;
export const SETTINGS_SHAPE = shapeOf(Settings) as ObjectShape;

type KindShapes = Readonly<Record<ExpressionType, ReadonlyMap<Kind, ObjectShape>>>;
const kindMap = (schemas: readonly z.ZodType[]): ReadonlyMap<Kind, ObjectShape> =>
  kindsOf(schemas, 'kind') as ReadonlyMap<string, ObjectShape> as ReadonlyMap<Kind, ObjectShape>;
/** Kind → shape, of the AST and of the graph. */
export const EXPRESSION_SHAPES: KindShapes = {
  value: kindMap(VALUE_KINDS),
  condition: kindMap(CONDITION_KINDS),
};
export const NODE_SHAPES: KindShapes = {
  value: kindMap(VALUE_NODES),
  condition: kindMap(CONDITION_NODES),
};

/** Whether a kind makes a number or a truth; undefined where the language has no such kind. */
export function typeOfKind(kind: unknown): ExpressionType | undefined {
  if (EXPRESSION_SHAPES.value.has(kind as Kind)) return 'value';
  return EXPRESSION_SHAPES.condition.has(kind as Kind) ? 'condition' : undefined;
}

/** The type that an expression is checked as in its place: its own where the place takes either. */
export function typeInPlace(of: PlaceType, expression: unknown): ExpressionType {
  if (of !== 'either') return of;
  const kind = typeof expression === 'object' && expression !== null && (expression as { kind?: unknown }).kind;
  return typeOfKind(kind) ?? 'value';
}

const shapeIn = (shapes: KindShapes, kind: unknown): ObjectShape | undefined =>
  shapes.value.get(kind as Kind) ?? shapes.condition.get(kind as Kind);
/** The shape of an expression of that kind; undefined where the language has no such kind. */
export const expressionShapeOf = (kind: unknown): ObjectShape | undefined => shapeIn(EXPRESSION_SHAPES, kind);
/** The shape of a graph's node of that kind; undefined where the language has no such kind. */
export const nodeShapeOf = (kind: unknown): ObjectShape | undefined => shapeIn(NODE_SHAPES, kind);

/** An object with a kind of the language, whatever else is wrong with it. */
export const isExpression = (value: unknown): value is Expression =>
  typeof value === 'object' && value !== null && typeOfKind((value as { kind?: unknown }).kind) !== undefined;
export const isCondition = <E extends { readonly kind: Kind }>(
  expression: E,
): expression is Extract<E, { readonly kind: ConditionKind }> => typeOfKind(expression.kind) === 'condition';

export const isParamRef = (value: unknown): value is { readonly param: string } =>
  typeof value === 'object' && value !== null && typeof (value as { param?: unknown }).param === 'string';

/** The form of a parameter reference. */
export const isParamShape = (shape: Shape | undefined): boolean =>
  shape?.type === 'object' && shape.fields.has('param');

/** The shape of a place that takes any number. */
export const ANY_NUMBER: NumberShape = {
  type: 'number',
  isInteger: false,
  min: -Number.MAX_VALUE,
  max: Number.MAX_VALUE,
  isMinExclusive: false,
};
