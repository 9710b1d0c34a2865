// Capabilities: everything needed to write a valid strategy, read from the schemas and registries that check it.
import { TIMEFRAMES } from '../bars/bars.ts';
import { MATH_FUNCTIONS } from '../kernels/arithmetic.ts';
import type { ArgDefinition, IndicatorDefinition } from '../indicators/definition.ts';
import { INDICATORS } from '../indicators/registry.ts';
import { PATTERNS } from '../patterns/patternRegistry.ts';
import { AMBIGUITY_RESOLUTIONS, FALLBACK_CHOICES, ORDER_ROLES, ORDER_TIMINGS } from '../config.ts';
import { EXIT_SIZES } from '../definitions/sizing/exitSizes.ts';
import { SIZING_MODES } from '../definitions/sizing/sizingModes.ts';
import { WEIGHT_MODES } from '../definitions/weights/weightModes.ts';
import { SLIPPAGE_KINDS } from '../definitions/slippage/slippageKinds.ts';
import { seriesInputsOf } from '../indicators/arguments.ts';
import { NAMES } from '../definitions/expressionMembers.ts';
import { capabilityOf, fieldOf, fieldsOf, numberPaths, refKind, type RefKind } from './fieldCapabilities.ts';
import type { FieldCapability } from './fieldCapabilities.ts';
import { GRAPH_EDITORS } from './grammar/graph.ts';
import { ISSUE_CODES, SEVERITIES, severityOf } from '../definitions/issueCodes.ts';
import { CONDITION_DEFINITIONS, KINDS_OF_STATE, writtenKind } from '../definitions/expressions/expressionRegistry.ts';
import { MEMBER_CONSTRAINTS } from './grammar/memberConstraints.ts';
import {
  AST_SHAPE,
  EXPRESSION_SHAPES,
  GRAPH_SHAPE,
  NODE_SHAPES,
  SETTINGS_SHAPE,
  type Field,
  type ObjectShape,
  type Shape,
} from './grammar/shapes.ts';
import * as words from '../definitions/words.ts';

/** An input of a node: a reference in a graph, an expression in the AST. */
interface InputCapability {
  readonly name: string;
  readonly kind: RefKind;
  readonly required: boolean;
  readonly cardinality: 'one' | 'many';
  /** Kinds that must not occur anywhere below it. */
  readonly notOver?: readonly string[];
}
interface NodeCapability {
  readonly kind: string;
  readonly output: 'number' | 'bool';
  readonly description: string;
  readonly inputs: readonly InputCapability[];
  readonly fields: readonly FieldCapability[];
}
/** A place in the strategy's sections that takes a reference. `[]` in a path means every element. */
interface BindingCapability extends Omit<InputCapability, 'name'> {
  readonly path: string;
}

/** The capabilities, computed once: they depend on nothing but the code. */
export function describeCapabilities() {
  return CAPABILITIES;
}

function nodesOf(shapes: typeof NODE_SHAPES): NodeCapability[] {
  return (['value', 'condition'] as const).flatMap((type) =>
    [...shapes[type]].flatMap(([kind, shape]): NodeCapability[] => {
      const { aliases = {}, description, neverOverState, requiredWhen = {} } = writtenKind({ kind });
      if (Object.hasOwn(aliases, kind)) return [];
      return [
        {
          kind,
          output: type === 'value' ? ('number' as const) : ('bool' as const),
          description,
          inputs: [...shape.fields.values()]
            .flatMap(inputOf)
            .map((input) => (neverOverState !== undefined ? { ...input, notOver: KINDS_OF_STATE } : input)),
          fields: [...shape.fields.values()]
            .filter(({ name }) => !NAMES.has(name) && name !== 'kind')
            .filter((field) => inputOf(field).length === 0)
            .map((field) =>
              Object.hasOwn(requiredWhen, field.name)
                ? { ...fieldOf(field), requiredWhen: requiredWhen[field.name] }
                : fieldOf(field),
            ),
        },
      ];
    }),
  );
}

function inputOf({ name, shape, isRequired }: Field): InputCapability[] {
  const one = shape.type === 'array' ? shape.item : shape;
  if (one.type !== 'slot' && one.type !== 'reference') return [];
  return [{ name, kind: refKind(one.of), required: isRequired, cardinality: one === shape ? 'one' : 'many' }];
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
/** The sections without `exit`, an alias of `exits`. */
const SECTIONS = fieldsOf(strategyShape).filter(({ name }) => name !== 'exit');

const CAPABILITIES = {
  signalGraph: {
    protocol: 'svc.signal-graph',
    version: 2,
    nodes: nodesOf(NODE_SHAPES),
    /** The forms in which an input can be written. */
    inputForms: {
      number_ref: ['{"ref": "<node id>"}', '{"const": <number>}', '{"param": "<name>"}'],
      bool_ref: ['{"ref": "<node id>"}'],
      any_ref: ['{"ref": "<node id>"}', '{"const": <number>}', '{"param": "<name>"}'],
    },
    bindings: distinct(bindingsOf(graphStrategyShape, 'strategy', true)).filter(
      ({ path }) => !path.startsWith('strategy.exit.'),
    ),
    riskPaths: numberPaths(graphStrategyShape.fields.get('risk')!.shape, 'strategy.risk'),
    meta: capabilityOf(GRAPH_SHAPE.fields.get('meta')!.shape),
    editors: GRAPH_EDITORS,
  },
  strategyAst: {
    protocol: 'svc.strategy',
    version: 1,
    nodes: nodesOf(EXPRESSION_SHAPES),
    sections: SECTIONS,
    rules: MEMBER_CONSTRAINTS,
    /** Members that every object may have in addition to its own. */
    commonFields: [...NAMES],
    settings: fieldsOf(SETTINGS_SHAPE),
  },
  operators: {
    compare: words.COMPARE_OPS,
    cross: words.CROSS_OPS,
    logic: CONDITION_DEFINITIONS.flatMap(({ joins }) => (joins === undefined ? [] : [joins.by])),
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
    weightModes: WEIGHT_MODES.map(({ mode }) => mode),
    entrySizingModes: SIZING_MODES.map(({ mode }) => mode),
    exitSizingModes: EXIT_SIZES.map(({ mode }) => mode),
    paramTypes: words.PARAM_TYPES,
    orderRoles: ORDER_ROLES,
    orderTimings: ORDER_TIMINGS,
    ambiguityResolution: AMBIGUITY_RESOLUTIONS,
    ambiguityFallback: FALLBACK_CHOICES,
    slippageKinds: SLIPPAGE_KINDS.map(({ kind }) => kind),
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
