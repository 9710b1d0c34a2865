// Capabilities: everything needed to write a valid strategy, read from the schemas and registries that check it.
import { TIMEFRAMES } from '../bars/bars.ts';
import { MATH_FUNCTIONS } from '../kernels/arithmetic.ts';
import type { ArgDefinition, IndicatorDefinition } from '../indicators/definition.ts';
import { INDICATORS } from '../indicators/registry.ts';
import { PATTERNS } from '../patterns/patternRegistry.ts';
import { AMBIGUITY_RESOLUTIONS, FALLBACK_CHOICES, ORDER_ROLES, ORDER_TIMINGS, SLIPPAGE_KINDS } from '../config.ts';
import { seriesInputsOf } from './canonical/canonicalizer.ts';
import { GRAPH_EDITORS } from './grammar/graph.ts';
import { ISSUE_CODES, SEVERITIES, severityOf } from './check/issues.ts';
import { KIND_DESCRIPTIONS } from './grammar/kinds.ts';
import { MEMBER_NOTES, MEMBER_CONSTRAINTS, REQUIRED_WHEN } from './grammar/memberConstraints.ts';
import {
  AST_SHAPE,
  EXPRESSION_SHAPES,
  GRAPH_SHAPE,
  NODE_SHAPES,
  SETTINGS_SHAPE,
  type ExpressionType,
  type Field,
  type ObjectShape,
  type Shape,
} from './grammar/shapes.ts';
import * as words from './grammar/words.ts';

/** A member of a node or section: what it takes, and its bounds. */
export interface FieldCapability {
  readonly name: string;
  readonly type: 'int' | 'float' | 'string' | 'bool' | 'enum' | 'object' | 'array' | 'map';
  readonly required: boolean;
  /** Where its name does not say it exactly. */
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
  /** It must not be greater than that other member. */
  readonly atMostField?: string;
  /** `{"param": name}` is allowed in its place. */
  readonly acceptsParam?: true;
  readonly fields?: readonly FieldCapability[];
  readonly items?: readonly FieldCapability[];
  /** For objects of several kinds: the fields of each. */
  readonly variants?: Readonly<Record<string, readonly FieldCapability[]>>;
  /** It is required where another member has one of these values. */
  readonly requiredWhen?: Readonly<Record<string, readonly string[]>>;
  /** The place of a reference (graph) or an expression (AST). */
  readonly ref?: 'number_ref' | 'bool_ref';
}
/** An input of a node: a reference in a graph, an expression in the AST. */
export interface InputCapability {
  readonly name: string;
  readonly kind: 'number_ref' | 'bool_ref';
  readonly required: boolean;
  readonly cardinality: 'one' | 'many';
  /** Kinds that must not occur anywhere below it. */
  readonly notOver?: readonly string[];
}
export interface NodeCapability {
  readonly kind: string;
  readonly output: 'number' | 'bool';
  readonly description: string;
  readonly inputs: readonly InputCapability[];
  readonly fields: readonly FieldCapability[];
}
/** A place in the strategy's sections that takes a reference. `[]` in a path means every element. */
export interface BindingCapability extends Omit<InputCapability, 'name'> {
  readonly path: string;
}

const refKind = (of: ExpressionType): 'number_ref' | 'bool_ref' => (of === 'value' ? 'number_ref' : 'bool_ref');
/** Members that every object may have, listed once. */
const NAMES: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);

/** The capabilities, computed once: they depend on nothing but the code. */
export function describeCapabilities() {
  return CAPABILITIES;
}

function nodesOf(shapes: typeof NODE_SHAPES): NodeCapability[] {
  return (['value', 'condition'] as const).flatMap((type) =>
    [...shapes[type]].map(([kind, shape]): NodeCapability => ({
      kind,
      output: type === 'value' ? ('number' as const) : ('bool' as const),
      description: KIND_DESCRIPTIONS[kind],
      inputs: [...shape.fields.values()]
        .flatMap(inputOf)
        .map((input) => (kind === 'indicator' ? { ...input, notOver: ['state'] } : input)),
      fields: [...shape.fields.values()]
        .filter(({ name }) => !NAMES.has(name) && name !== 'kind')
        .filter((field) => inputOf(field).length === 0)
        .map((field) => {
          const requiredWhen = REQUIRED_WHEN[`${kind}.${field.name}`];
          return requiredWhen === undefined ? fieldOf(field) : { ...fieldOf(field), requiredWhen };
        }),
    })),
  );
}

function inputOf({ name, shape, isRequired }: Field): InputCapability[] {
  const one = shape.type === 'array' ? shape.item : shape;
  if (one.type !== 'slot' && one.type !== 'reference') return [];
  return [{ name, kind: refKind(one.of), required: isRequired, cardinality: one === shape ? 'one' : 'many' }];
}

function fieldsOf(shape: ObjectShape): FieldCapability[] {
  return [...shape.fields.values()].filter(({ name }) => !NAMES.has(name)).map(fieldOf);
}

function fieldOf({ name, shape, isRequired, default: byDefault }: Field): FieldCapability {
  const ofShape = describe(shape);
  return {
    name,
    required: isRequired,
    ...ofShape,
    ...(byDefault === undefined ? {} : { default: byDefault }),
    ...MEMBER_NOTES[name],
  };
}

function describe(shape: Shape): Omit<FieldCapability, 'name' | 'required'> {
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

/** Every place below a shape that takes a reference, by path. */
function bindingsOf(shape: Shape, path: string, isRequired: boolean): BindingCapability[] {
  switch (shape.type) {
    case 'reference':
      return [
        { path, kind: refKind(shape.of), required: isRequired, cardinality: path.endsWith('[]') ? 'many' : 'one' },
      ];
    case 'array':
      return bindingsOf(shape.item, `${path}[]`, false);
    case 'either':
      return shape.options.flatMap((option) => bindingsOf(option, path, isRequired));
    case 'object':
      return [...shape.fields.values()].flatMap((field) =>
        bindingsOf(field.shape, `${path}.${field.name}`, isRequired && field.isRequired),
      );
    case 'kinds':
      return [...shape.options.values()].flatMap((option) => bindingsOf(option, path, false));
    default:
      return [];
  }
}

/** Each path once: `entry` may be one or a list, and several kinds of order have the same member. */
function distinct(bindings: readonly BindingCapability[]): BindingCapability[] {
  return [...new Map(bindings.map((binding) => [binding.path, binding])).values()];
}

function numberPaths(
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

const argOf = ({ name, type, default: byDefault, min, max, values, required, description }: ArgDefinition) => ({
  name,
  type,
  default: byDefault,
  required: required ?? false,
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
  ...(values === undefined ? {} : { values }),
  ...(description === undefined ? {} : { description }),
});

function indicatorOf(definition: IndicatorDefinition) {
  const { id, aliases, name, category, talib, args, outputs, formula } = definition;
  const series = seriesInputsOf(definition);
  const defaults = Object.fromEntries(args.map((arg) => [arg.name, arg.default]));
  return {
    id,
    name,
    category,
    aliases,
    talib: talib?.name ?? null,
    inputs: definition.inputs,
    /** 0: it reads bars only; 1: `source` (or args.source, a market field); more: that many `sources`. */
    sourceCount: series.length,
    args: args.map(argOf),
    outputs: outputs.map(({ name: output, kind, min, max }) => ({
      name: output,
      kind,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
    })),
    outputRequired: outputs.length > 1,
    lookback: definition.lookback(defaults),
    formula,
  };
}

const strategyShape = AST_SHAPE.fields.get('strategy')!.shape as ObjectShape;
const graphStrategyShape = GRAPH_SHAPE.fields.get('strategy')!.shape as ObjectShape;
const aliasFree = (fields: readonly FieldCapability[]): FieldCapability[] =>
  fields.filter(({ name }) => name !== 'exit');

const CAPABILITIES = {
  signalGraph: {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: nodesOf(NODE_SHAPES).filter(({ kind }) => kind !== 'and' && kind !== 'or'),
    /** The forms in which an input can be written. */
    inputForms: {
      number_ref: ['{"ref": "<node id>"}', '{"const": <number>}', '{"param": "<name>"}'],
      bool_ref: ['{"ref": "<node id>"}'],
    },
    bindings: distinct(bindingsOf(graphStrategyShape, 'strategy', true)).filter(
      ({ path }) => !path.startsWith('strategy.exit.'),
    ),
    riskPaths: numberPaths(graphStrategyShape.fields.get('risk')!.shape, 'strategy.risk'),
    meta: describe(GRAPH_SHAPE.fields.get('meta')!.shape),
    editors: GRAPH_EDITORS,
  },
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    nodes: nodesOf(EXPRESSION_SHAPES).filter(({ kind }) => kind !== 'and' && kind !== 'or'),
    sections: aliasFree(fieldsOf(strategyShape)),
    rules: MEMBER_CONSTRAINTS,
    /** Members that every object may have in addition to its own. */
    commonFields: [...NAMES],
    settings: fieldsOf(SETTINGS_SHAPE),
  },
  operators: {
    compare: words.COMPARE_OPS,
    cross: words.CROSS_OPS,
    logic: ['all', 'any', 'not'],
    math: words.MATH_OPS.map((op) => ({
      op,
      minArgs: MATH_FUNCTIONS[op].minArgs,
      maxArgs: MATH_FUNCTIONS[op].maxArgs,
    })),
    rolling: words.ROLLING_OPS,
    rollingWindow: words.ROLLING_WINDOW_MODES,
  },
  enums: {
    timeframes: TIMEFRAMES,
    marketFields: words.MARKET_FIELDS,
    patterns: PATTERNS.map(({ id }) => id),
    patternSides: words.PATTERN_SIDES,
    stateFields: words.STATE_FIELDS,
    timeFields: words.TIME_FIELDS,
    weekdays: words.WEEKDAYS,
    sessions: words.SESSIONS,
    sides: words.SIDES,
    appliesTo: words.APPLIES_TO,
    conflicts: words.CONFLICT_POLICIES,
    stateConflictPolicies: words.STATE_CONFLICT_POLICIES,
    orderTypes: words.ORDER_TYPES,
    entrySizingModes: words.ENTRY_SIZING_MODES,
    exitSizingModes: words.EXIT_SIZING_MODES,
    paramTypes: words.PARAM_TYPES,
    orderRoles: ORDER_ROLES,
    orderTimings: ORDER_TIMINGS,
    ambiguityResolution: AMBIGUITY_RESOLUTIONS,
    ambiguityFallback: FALLBACK_CHOICES,
    slippageKinds: SLIPPAGE_KINDS,
  },
  indicators: INDICATORS.map(indicatorOf),
  patterns: PATTERNS.map(({ id, name, aliases, talib, sides, args, description }) => ({
    id,
    name,
    aliases,
    talib,
    sides,
    args: args.map(argOf),
    description,
  })),
  validationIssue: {
    fields: ['code', 'path', 'field', 'severity', 'message', 'suggestion', 'patch'],
    severities: SEVERITIES,
    codes: ISSUE_CODES.map((code) => ({ code, severity: severityOf(code) })),
  },
} as const;
