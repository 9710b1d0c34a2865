// The canonicalizer: rewrites the expressions and sections of one strategy, one spelling for every meaning.
import { findIndicator } from '../../indicators/registry.ts';
import { MAX_SCANNED_LENGTH } from '../../indicators/arguments.ts';
import type { ArgDefinition } from '../../indicators/definition.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import type { Expression } from '../grammar/ast.ts';
import { ANY_NUMBER, expressionShapeOf, isParamRef, type ObjectShape, type Shape } from '../grammar/shapes.ts';
import { canonicalField, isTooLongSlope } from '../../definitions/words.ts';
import { childrenOf } from '../grammar/visit.ts';
import { ParamReferences, type ParamOptions } from './paramReferences.ts';
import type { Members } from '../grammar/payloadObjects.ts';

export type { ParamValues } from './paramReferences.ts';
interface CanonicalOptions extends ParamOptions {
  /** Keep the author's id, label, description and meta, and the nodes that have an id. */
  readonly keepNames: boolean;
  /** The time zone of time windows that name none. */
  readonly timezone: string;
  /** Filled with the object that each rewritten expression and section was made from. */
  readonly sources?: Map<object, object>;
}

const NAMES: ReadonlySet<string> = new Set(['id', 'label', 'description', 'meta']);
/** The inputs of an indicator that are expressions; the others are columns of the bars. */
const SERIES_INPUTS: ReadonlySet<string> = new Set(['source', 'source2', 'periods']);
/**
 * Kinds whose `offset` counts the bars they run on: a shift by base bars can be added to it when those are base bars.
 */
const OFFSET_KINDS: ReadonlySet<string> = new Set(['market', 'indicator', 'series', 'rolling', 'state']);

export const seriesInputsOf = (definition: { readonly inputs: readonly string[] }): readonly string[] =>
  definition.inputs.filter((input) => SERIES_INPUTS.has(input));

/**
 * Rewrites the expressions and sections of one strategy without errors. A node that is used repeatedly is rewritten
 * once.
 */
export class Canonicalizer {
  readonly #options: CanonicalOptions;
  readonly #params: ParamReferences;
  /**
   * Rewritten nodes: those read on base bars, and those below a node with its own timeframe or instrument, where shifts
   * stay.
   */
  readonly #onBase = new Map<object, Members>();
  readonly #placed = new Map<object, Members>();
  readonly #isBase = new Map<object, boolean>();

  constructor(options: CanonicalOptions) {
    this.#options = options;
    this.#params = new ParamReferences(options);
  }

  expression(node: Expression): Expression {
    return this.#expression(node, false) as unknown as Expression;
  }

  /** An object of the strategy that is not an expression: entry, exit, risk, param, defaults. */
  section(shape: Shape, value: unknown): Members {
    const made = this.#copy(value, shape, value as object, [], false) as Members;
    this.#options.sources?.set(made, value as object);
    return made;
  }

  #expression(node: Members, isPlaced: boolean): Members {
    const memo = isPlaced ? this.#placed : this.#onBase;
    const found = memo.get(node);
    if (found !== undefined) return found;
    const made = this.#rewrite(node, isPlaced);
    memo.set(node, made);
    // A list of one item and a shift by 0 become what is in them, which has its own source.
    const { sources } = this.#options;
    if (sources !== undefined && !sources.has(made)) sources.set(made, node);
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
    const shape = expressionShapeOf(kind)!;
    const below = isPlaced || node.timeframe !== undefined || node.instrument !== undefined;
    const made = this.#object(node, shape, node, [], below, this.#derivedDefaults(node));
    if (kind === 'market') return { ...made, field: canonicalField(made.field as string) };
    const { op, period } = made;
    if (typeof period === 'number' && isTooLongSlope(op, period))
      this.#options.onIssue?.(
        node,
        ['period'],
        'OUT_OF_RANGE',
        `The op slope takes a period of at most ${MAX_SCANNED_LENGTH}, not ${period}.`,
      );
    return made;
  }

  /** The defaults that depend on more than the member itself; all others are in the grammar. */
  #derivedDefaults({ kind, mode, window }: Members): Members | undefined {
    if (kind === 'time_window') return { timezone: this.#options.timezone };
    return kind === 'rolling_window' && mode === 'streak' ? { value: window } : undefined;
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
    derived?: Members,
  ): Record<string, unknown> {
    const made = this.#names(value);
    for (const field of shape.fields.values()) {
      const { name } = field;
      if (NAMES.has(name)) continue;
      const written = value[name] ?? derived?.[name] ?? field.default;
      if (written !== undefined) made[name] = this.#copy(written, field.shape, owner, [...path, name], isPlaced);
    }
    return made;
  }

  #copy(value: unknown, shape: Shape, owner: object, path: readonly (string | number)[], isPlaced: boolean): unknown {
    switch (shape.type) {
      case 'slot':
        return this.#expression(value as Members, isPlaced);
      case 'array':
        return (value as unknown[]).map((item, i) => this.#copy(item, shape.item, owner, [...path, i], isPlaced));
      case 'object':
      case 'kinds': {
        const members = value as Members;
        const object = shape.type === 'object' ? shape : shape.options.get(String(members[shape.key]))!;
        return this.#object(members, object, owner, path, isPlaced);
      }
      case 'either':
        return this.#either(value, shape.options, owner, path, isPlaced);
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
  ): unknown {
    if (isParamRef(value)) {
      const number = options.find((option) => option.type === 'number');
      return number === undefined ? value : this.#params.number(value.param, number, owner, path);
    }
    if (typeof value !== 'object') return value;
    const wanted = Array.isArray(value) ? 'array' : 'object';
    return this.#copy(
      value,
      options.find((option) => option.type === wanted)!,
      owner,
      path,
      isPlaced,
    );
  }

  #param(node: Members): Members {
    const { params } = this.#options;
    if (params === null) return { ...this.#names(node), kind: 'param', name: node.name };
    const value = this.#params.number(node.name as string, ANY_NUMBER, node, ['name']);
    return { ...this.#names(node), kind: 'const', value };
  }

  #args(node: Members, definitions: readonly ArgDefinition[]): Record<string, unknown> {
    const given = (node.args ?? {}) as Members;
    const args: Record<string, unknown> = {};
    for (const definition of definitions) {
      const { name } = definition;
      if (name === 'source') continue;
      const value = Object.hasOwn(given, name) ? given[name] : definition.default;
      args[name] = isParamRef(value) ? this.#params.arg(value.param, definition, node) : value;
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
    const shape = expressionShapeOf('indicator')!;
    if (node.timeframe !== undefined) made.timeframe = node.timeframe;
    made.offset = this.#copy(node.offset ?? 0, shape.fields.get('offset')!.shape, node, ['offset'], false);
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

  /**
   * A shift is added to a shift below it, or to the offset of a node that runs on base bars. A shift by 0 disappears.
   */
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
    if (!canFold || !this.#runsOnBase(source)) return { ...this.#names(node), kind: 'shift', offset, source };
    const folded: Record<string, unknown> = { ...this.#names(node) };
    for (const [name, value] of Object.entries(source)) if (!NAMES.has(name)) folded[name] = value;
    folded.offset = (source.offset as number) + offset;
    return folded;
  }

  /** Whether nothing in the node names a timeframe or instrument, so that it runs on base bars. */
  #runsOnBase(node: Members): boolean {
    const found = this.#isBase.get(node);
    if (found !== undefined) return found;
    const isBase =
      node.timeframe === undefined &&
      node.instrument === undefined &&
      childrenOf(node as unknown as Expression).every((child) => this.#runsOnBase(child as unknown as Members));
    this.#isBase.set(node, isBase);
    return isBase;
  }

  /**
   * `and` and `or` become `all` and `any`, nested lists of the same kind without an id are flattened, a list of one
   * item becomes the item.
   */
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
