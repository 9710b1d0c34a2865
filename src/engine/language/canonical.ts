// Canonical form: one spelling of every meaning, so that two spellings of one strategy have one hash and the stages after need no `??`.
import { findIndicator } from '../indicators/registry.ts';
import { argIssue } from '../indicators/arguments.ts';
import type { ArgDefinition } from '../indicators/definition.ts';
import { findPattern } from '../patterns/registry.ts';
import type { Expression, StrategyAst } from './ast.ts';
import type { IssueCode } from './issues.ts';
import {
  AST_SHAPE,
  EXPRESSION_SHAPES,
  numberFault,
  typeOfKind,
  type NumberShape,
  type ObjectShape,
  type Shape,
} from './shapes.ts';
import { canonicalField } from './words.ts';
import { childrenOf } from './visit.ts';

export type ParamValues = ReadonlyMap<string, number | boolean | string>;
type Members = Readonly<Record<string, unknown>>;

export interface CanonicalOptions {
  /** Keep the author's id, label, description and meta (and the nodes that carry an id). */
  readonly keepNames: boolean;
  /** What parameters stand for; null leaves references in place. */
  readonly params: ParamValues | null;
  /** For time windows that name none. */
  readonly timezone: string;
  /** Told of a parameter's value that its place does not allow. */
  readonly onFault?: (owner: object, member: readonly (string | number)[], code: IssueCode, message: string) => void;
}

const NAMES: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);
/** Inputs of an indicator that are expressions, the others are bar columns. */
const SERIES_INPUTS: ReadonlySet<string> = new Set(['source', 'source2', 'periods']);
/** Kinds whose `offset` counts the bars they live on, so that a shift by base bars can join it. */
const OFFSET_KINDS: ReadonlySet<string> = new Set(['market', 'indicator', 'series', 'rolling', 'state']);

const DEFAULTS: Readonly<Record<string, Members>> = {
  market: { offset: 0 },
  indicator: { offset: 0 },
  series: { offset: 0 },
  state: { offset: 0 },
  rolling: { offset: 0 },
  pivot: { occurrence: 0 },
  value_when: { occurrence: 0 },
  pattern: { side: 'any', offset: 0, within: 1 },
  compare: { tolerance: 0 },
  cross: { within: 1 },
  state_machine: { conflictPolicy: 'reset' },
  entry: { filters: [], cooldownBars: 0, conflict: 'ignore' },
  exit: { appliesTo: 'any', priority: 0, action: { mode: 'percent_position', value: 100 } },
};
/** Defaults of objects that have no kind, by the member that holds them. */
const MEMBER_DEFAULTS: Readonly<Record<string, Members>> = {
  steps: { minBars: 1 },
  takeProfits: { closeBasis: 'initial', moveStopToBreakeven: false },
  breakeven: { offsetPercent: 0 },
  risk: { takeProfits: [] },
};

export const seriesInputsOf = (definition: { readonly inputs: readonly string[] }): readonly string[] =>
  definition.inputs.filter((input) => SERIES_INPUTS.has(input));
export const isParamRef = (value: unknown): value is { readonly param: string } =>
  typeof value === 'object' && value !== null && typeof (value as { param?: unknown }).param === 'string';

/** Rewrites the expressions and sections of one strategy, which must be free of errors. A node is rewritten once, however often it is used. */
export class Canonicaliser {
  readonly #options: CanonicalOptions;
  /** Rewritten nodes: read on base bars, and below a node with its own timeframe or instrument (where shifts are not folded). */
  readonly #onBase = new Map<object, Members>();
  readonly #placed = new Map<object, Members>();
  readonly #isBase = new Map<object, boolean>();

  constructor(options: CanonicalOptions) {
    this.#options = options;
  }

  expression(node: Expression): Expression {
    return this.#expression(node, false) as unknown as Expression;
  }

  /** An object of the strategy that is no expression: entry, exit, risk, param, defaults. */
  section(shape: Shape, value: unknown, member = ''): Members {
    return this.#copy(value, shape, value as object, [], false, member) as Members;
  }

  #expression(node: Members, isPlaced: boolean): Members {
    const memo = isPlaced ? this.#placed : this.#onBase;
    const found = memo.get(node);
    if (found !== undefined) return found;
    const made = this.#rewrite(node, isPlaced);
    memo.set(node, made);
    return made;
  }

  #rewrite(node: Members, isPlaced: boolean): Members {
    switch (node.kind) {
      case 'indicator':
        return this.#indicator(node, isPlaced);
      case 'pattern':
        return this.#pattern(node);
      case 'param':
        return this.#param(node);
      case 'shift':
        return this.#shift(node, isPlaced);
      case 'all':
      case 'and':
      case 'any':
      case 'or':
        return this.#junction(node, isPlaced);
      default:
        return this.#plain(node, isPlaced);
    }
  }

  #plain(node: Members, isPlaced: boolean): Members {
    const kind = node.kind as string;
    const shape = EXPRESSION_SHAPES[typeOfKind(kind)!].get(kind)!;
    const below = isPlaced || node.timeframe !== undefined || node.instrument !== undefined;
    const made = this.#object(node, shape, node, [], below, this.#defaultsOf(node));
    if (kind === 'market') return { ...made, field: canonicalField(made.field as string) };
    return made;
  }

  #defaultsOf({ kind, mode, window }: Members): Members | undefined {
    if (kind === 'time_window') return { timezone: this.#options.timezone };
    return kind === 'rolling_window' && mode === 'streak' ? { value: window } : DEFAULTS[kind as string];
  }

  #names(node: Members): Record<string, unknown> {
    const names: Record<string, unknown> = {};
    if (this.#options.keepNames) {
      for (const name of NAMES) if (node[name] !== undefined) names[name] = node[name];
    }
    return names;
  }

  #object(
    value: Members,
    shape: ObjectShape,
    owner: object,
    path: readonly (string | number)[],
    isPlaced: boolean,
    defaults: Members | undefined,
  ): Record<string, unknown> {
    const made = this.#names(value);
    for (const { name, shape: fieldShape } of shape.fields.values()) {
      if (NAMES.has(name)) continue;
      const given = value[name] ?? defaults?.[name];
      if (given !== undefined) made[name] = this.#copy(given, fieldShape, owner, [...path, name], isPlaced, name);
    }
    return made;
  }

  #copy(
    value: unknown,
    shape: Shape,
    owner: object,
    path: readonly (string | number)[],
    isPlaced: boolean,
    member: string,
  ): unknown {
    switch (shape.type) {
      case 'slot':
        return this.#expression(value as Members, isPlaced);
      case 'array':
        return (value as unknown[]).map((item, i) =>
          this.#copy(item, shape.item, owner, [...path, i], isPlaced, member),
        );
      case 'object':
      case 'kinds': {
        const members = value as Members;
        const object = shape.type === 'object' ? shape : shape.options.get(String(members[shape.key]))!;
        // The sections below (entry, exit, sizing …) own their members: faults are reported from there.
        const defaults = sectionDefaults(members, member);
        return this.#object(members, object, owner, path, isPlaced, defaults);
      }
      case 'either':
        return this.#either(value, shape.options, owner, path, isPlaced, member);
      default:
        return value;
    }
  }

  #either(
    value: unknown,
    options: readonly Shape[],
    owner: object,
    path: readonly (string | number)[],
    isPlaced: boolean,
    member: string,
  ): unknown {
    if (isParamRef(value)) {
      const number = options.find((option) => option.type === 'number');
      return number === undefined ? value : this.#number(value.param, number, owner, path);
    }
    if (typeof value !== 'object') return value;
    const wanted = Array.isArray(value) ? 'array' : 'object';
    return this.#copy(
      value,
      options.find((option) => option.type === wanted)!,
      owner,
      path,
      isPlaced,
      member,
    );
  }

  #number(
    name: string,
    shape: NumberShape & { code?: IssueCode },
    owner: object,
    path: readonly (string | number)[],
  ): unknown {
    const { params, onFault } = this.#options;
    if (params === null) return { param: name };
    const value = params.get(name);
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number') {
      onFault?.(
        owner,
        path,
        value === undefined ? 'PARAM_UNDEFINED' : 'TYPE_MISMATCH',
        `param ${name} is no number: ${value}`,
      );
      return 0;
    }
    const fault = numberFault(shape, number);
    if (fault !== undefined) onFault?.(owner, path, shape.code ?? 'OUT_OF_RANGE', `param ${name}: ${fault.message}`);
    return number;
  }

  #param(node: Members): Members {
    const { params } = this.#options;
    if (params === null) return { ...this.#names(node), kind: 'param', name: node.name };
    const value = this.#number(node.name as string, ANY_NUMBER, node, ['name']);
    return { ...this.#names(node), kind: 'const', value };
  }

  #args(node: Members, definitions: readonly ArgDefinition[]): Record<string, unknown> {
    const { params, onFault } = this.#options;
    const given = (node.args ?? {}) as Members;
    const args: Record<string, unknown> = {};
    for (const definition of definitions) {
      const { name } = definition;
      if (name === 'source') continue;
      let value = Object.hasOwn(given, name) ? given[name] : definition.default;
      if (isParamRef(value) && params !== null) {
        const param = value.param;
        value = paramAsArg(params.get(param), definition);
        const fault = value === undefined ? undefined : argIssue(definition, value);
        if (value === undefined) onFault?.(node, ['args', name], 'PARAM_UNDEFINED', `param ${param} is not declared`);
        if (fault !== undefined) onFault?.(node, ['args', name], fault.code, `param ${param}: ${fault.message}`);
      }
      args[name] = isParamRef(value) ? { param: value.param } : value;
    }
    return args;
  }

  #indicator(node: Members, isPlaced: boolean): Members {
    const definition = findIndicator(node.indicator as string)!;
    const made: Record<string, unknown> = {
      ...this.#names(node),
      kind: 'indicator',
      indicator: definition.id,
      args: this.#args(node, definition.args),
      output: node.output ?? definition.outputs[0].name,
    };
    const shape = EXPRESSION_SHAPES.value.get('indicator')!;
    if (node.timeframe !== undefined) made.timeframe = node.timeframe;
    made.offset = this.#copy(node.offset ?? 0, shape.fields.get('offset')!.shape, node, ['offset'], false, 'offset');
    if (node.instrument !== undefined) made.instrument = { symbol: (node.instrument as Members).symbol };
    const below = isPlaced || node.timeframe !== undefined || node.instrument !== undefined;
    const inputs = seriesInputsOf(definition);
    const given = (node.sources ?? (node.source === undefined ? [] : [node.source])) as Members[];
    const sources = given.map((source) => this.#expression(source, below));
    if (sources.length === 0 && inputs.length > 0) {
      const named = (node.args as { source?: string } | undefined)?.source;
      const byDefault = definition.args.find(({ name }) => name === 'source')?.default as string | undefined;
      sources.push({ kind: 'market', field: canonicalField(named ?? byDefault ?? 'close'), offset: 0 });
    }
    if (inputs.length === 1) made.source = sources[0];
    if (inputs.length > 1) made.sources = sources;
    return made;
  }

  #pattern(node: Members): Members {
    const definition = findPattern(node.name as string)!;
    const made = this.#plain(node, false);
    const { kind, side, timeframe, offset, within, instrument } = made;
    return {
      ...this.#names(node),
      kind,
      name: definition.id,
      side,
      args: this.#args(node, definition.args),
      ...(timeframe === undefined ? {} : { timeframe }),
      offset,
      within,
      ...(instrument === undefined ? {} : { instrument }),
    };
  }

  /** A shift joins the shift below it, and the offset of a node that lives on base bars; shifting by 0 is nothing. */
  #shift(node: Members, isPlaced: boolean): Members {
    const made = this.#plain(node, isPlaced);
    let { offset, source } = made as { offset: unknown; source: Members };
    if (typeof offset !== 'number') return made;
    if (source.kind === 'shift' && typeof source.offset === 'number') {
      offset += source.offset;
      source = source.source as Members;
    }
    if (offset === 0) return source;
    const canFold = !isPlaced && OFFSET_KINDS.has(source.kind as string) && typeof source.offset === 'number';
    if (!canFold || !this.#livesOnBase(source)) return { ...this.#names(node), kind: 'shift', offset, source };
    const folded: Record<string, unknown> = { ...this.#names(node) };
    for (const [name, value] of Object.entries(source)) if (!NAMES.has(name)) folded[name] = value;
    folded.offset = (source.offset as number) + offset;
    return folded;
  }

  /** No timeframe and no instrument is named in it: its bars are the base bars. */
  #livesOnBase(node: Members): boolean {
    const found = this.#isBase.get(node);
    if (found !== undefined) return found;
    const isBase =
      node.timeframe === undefined &&
      node.instrument === undefined &&
      childrenOf(node as unknown as Expression).every((child) => this.#livesOnBase(child as unknown as Members));
    this.#isBase.set(node, isBase);
    return isBase;
  }

  /** `and`/`or` by their names, unnamed nested ones of the same kind flattened, one item by itself. */
  #junction(node: Members, isPlaced: boolean): Members {
    const kind = node.kind === 'and' || node.kind === 'all' ? 'all' : 'any';
    const items: Members[] = [];
    for (const item of node.items as Members[]) {
      const made = this.#expression(item, isPlaced);
      if (made.kind === kind && made.id === undefined) items.push(...(made.items as Members[]));
      else items.push(made);
    }
    const names = this.#names(node);
    return items.length === 1 && names.id === undefined ? items[0] : { ...names, kind, items };
  }
}

const ANY_NUMBER: NumberShape = {
  type: 'number',
  isInteger: false,
  min: -Number.MAX_VALUE,
  max: Number.MAX_VALUE,
  isMinExclusive: false,
};

/** A parameter's value as an indicator takes it: 0 and 1 are no booleans, but a bool parameter may stand for a number. */
function paramAsArg(value: number | boolean | string | undefined, definition: ArgDefinition): unknown {
  return typeof value === 'boolean' && definition.type !== 'bool' ? Number(value) : value;
}

function sectionDefaults(members: Members, member: string): Members | undefined {
  if (members.kind === 'entry' || members.kind === 'exit') return DEFAULTS[members.kind];
  if (member === 'stopLoss' && members.mode === 'price') return { update: 'entry' };
  if (member === 'sizing' && members.mode === 'volatility_target') return { atrPeriod: 14 };
  if (member === 'action' && members.side !== undefined) return { order: { type: 'market' } };
  return MEMBER_DEFAULTS[member];
}

const STRATEGY_SHAPE = AST_SHAPE.fields.get('strategy')!.shape as ObjectShape;
const SECTION_SHAPES = {
  entry: (STRATEGY_SHAPE.fields.get('entry')!.shape as Shape & { type: 'either' }).options[0],
  exit: STRATEGY_SHAPE.fields.get('exit')!.shape,
  risk: STRATEGY_SHAPE.fields.get('risk')!.shape,
  params: STRATEGY_SHAPE.fields.get('params')!.shape,
  defaults: STRATEGY_SHAPE.fields.get('defaults')!.shape,
};

export interface CanonicalRules {
  readonly entry: readonly Members[];
  readonly exits: readonly Members[];
  readonly risk: Members;
}

/** Entries as a list, `exit` after `exits`, and the risk section, rewritten. */
export function canonicalRules(ast: StrategyAst, canonicaliser: Canonicaliser): CanonicalRules {
  const { entry, exits, exit, risk } = ast.strategy;
  const allExits = [...(exits ?? []), ...(exit === undefined ? [] : [exit])];
  return {
    entry: [entry].flat().map((one) => canonicaliser.section(SECTION_SHAPES.entry, one)),
    exits: allExits.map((one) => canonicaliser.section(SECTION_SHAPES.exit, one)),
    risk: canonicaliser.section(SECTION_SHAPES.risk, risk ?? {}, 'risk'),
  };
}

/**
 * The canonical form of a strategy without errors: aliases resolved, defaults written out, shifts folded, nested all/any flattened, no
 * ids, labels or meta. It means what `ast` means, is valid where `ast` is, and is its own canonical form.
 */
export function canonicalise(ast: StrategyAst): StrategyAst {
  const { defaults, params } = ast.strategy;
  const canonicaliser = new Canonicaliser({ keepNames: false, params: null, timezone: defaults?.timezone ?? 'UTC' });
  const section = (shape: Shape, value: unknown) => canonicaliser.section(shape, value);
  return {
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      ...(defaults === undefined ? {} : { defaults: section(SECTION_SHAPES.defaults, defaults) }),
      ...(params === undefined || params.length === 0
        ? {}
        : { params: params.map((param) => section((SECTION_SHAPES.params as Shape & { type: 'array' }).item, param)) }),
      ...canonicalRules(ast, canonicaliser),
    },
  } as unknown as StrategyAst;
}
