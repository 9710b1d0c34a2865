// Shapes: the zod grammar read once into a plain form that checking, lowering, canonical form and capabilities all walk.
import type { z } from 'zod';
import { CONDITION_KINDS, conditionSlot, VALUE_KINDS, valueSlot } from './expressions.ts';
import { CONDITION_NODES, ConditionRef, SignalGraph, VALUE_NODES, ValueRef } from './graph.ts';
import { faultCodes, type IssueCode } from './issues.ts';
import { Settings, StrategyAst } from './strategy.ts';

export type ExpressionType = 'value' | 'condition';

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
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
  /** A place for an expression of the AST. */
  | { readonly type: 'slot'; readonly of: ExpressionType }
  /** A place for a reference of a graph. */
  | { readonly type: 'reference'; readonly of: ExpressionType }
  /** Objects told apart by one member. */
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
  | { readonly type: 'anything' }
);

/** A zod schema's definition, as far as this file reads it. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly (string | number)[];
  readonly format?: string;
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
  [ValueRef, { type: 'reference', of: 'value' }],
  [ConditionRef, { type: 'reference', of: 'condition' }],
]);

/** The shape of a schema of the grammar; a schema kind the grammar does not use is a bug. */
export function shapeOf(schema: z.ZodType): Shape {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const code = faultCodes.get(schema)?.code;
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
      return shapeOf(def.innerType!);
    case 'union':
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
      throw new Error(`the grammar has no shape for zod's ${def.type}`);
  }
}

function fieldOf(name: string, schema: z.ZodType): Field {
  return { name, shape: shapeOf(schema), isRequired: (schema._zod.def as unknown as Definition).type !== 'optional' };
}

function kindsOf(options: readonly z.ZodType[], key: string): Map<string, ObjectShape> {
  const kinds = new Map<string, ObjectShape>();
  for (const option of options) {
    const shape = shapeOf(option) as ObjectShape;
    const tag = shape.fields.get(key)!.shape;
    if (tag.type !== 'choice') throw new Error(`${key} must be a literal in every option`);
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

/** What is wrong with a number in that place; undefined when nothing is. `nearest` is the bound it has left, when that is allowed. */
export function numberFault(shape: NumberShape, value: number): { message: string; nearest?: number } | undefined {
  if (!Number.isFinite(value)) return { message: 'must be a finite number' };
  if (shape.isInteger && !Number.isInteger(value)) return { message: `must be a whole number, not ${value}` };
  if (shape.isMinExclusive ? value <= shape.min : value < shape.min) {
    if (shape.isMinExclusive) return { message: `must be above ${shape.min}, not ${value}` };
    return { message: `must be at least ${shape.min}, not ${value}`, nearest: shape.min };
  }
  if (value > shape.max) return { message: `must be at most ${shape.max}, not ${value}`, nearest: shape.max };
  return undefined;
}

export const AST_SHAPE = shapeOf(StrategyAst) as ObjectShape;
export const GRAPH_SHAPE = shapeOf(SignalGraph) as ObjectShape;
export const SETTINGS_SHAPE = shapeOf(Settings) as ObjectShape;

const kindMap = (schemas: readonly z.ZodType[]): ReadonlyMap<string, ObjectShape> => kindsOf(schemas, 'kind');
/** Kind → shape, of the AST and of the graph. */
export const EXPRESSION_SHAPES: Readonly<Record<ExpressionType, ReadonlyMap<string, ObjectShape>>> = {
  value: kindMap(VALUE_KINDS),
  condition: kindMap(CONDITION_KINDS),
};
export const NODE_SHAPES: Readonly<Record<ExpressionType, ReadonlyMap<string, ObjectShape>>> = {
  value: kindMap(VALUE_NODES),
  condition: kindMap(CONDITION_NODES),
};

/** Whether a kind makes a number or a truth; undefined for no kind of the language. */
export function typeOfKind(kind: unknown): ExpressionType | undefined {
  if (typeof kind !== 'string') return undefined;
  if (EXPRESSION_SHAPES.value.has(kind)) return 'value';
  return EXPRESSION_SHAPES.condition.has(kind) ? 'condition' : undefined;
}

/** The shape of a graph's node of that kind; undefined for no kind of the language. */
export const nodeShapeOf = (kind: unknown): ObjectShape | undefined =>
  typeof kind === 'string' ? (NODE_SHAPES.value.get(kind) ?? NODE_SHAPES.condition.get(kind)) : undefined;
