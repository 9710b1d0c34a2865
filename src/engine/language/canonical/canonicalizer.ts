// The canonicalizer: rewrites the expressions and sections of one strategy, one spelling for every meaning.
import type { Rewriter } from '../../definitions/expressions/expressionDefinition.ts';
import { writtenKind } from '../../definitions/expressions/expressionRegistry.ts';
import { NAMES } from '../../definitions/expressionMembers.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import type { ArgDefinition } from '../../indicators/definition.ts';
import type { Expression } from '../grammar/ast.ts';
import {
  ANY_NUMBER,
  expressionShapeOf,
  isExpression,
  isParamRef,
  optionOf,
  type ObjectShape,
  type Shape,
} from '../grammar/shapes.ts';
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

/**
 * Rewrites the expressions and sections of one strategy without errors. A node that is used repeatedly is rewritten
 * once.
 */
export class Canonicalizer implements Rewriter {
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

  get timezone(): string {
    return this.#options.timezone;
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
    const { rewrite } = writtenKind(node);
    return rewrite === null ? this.plain(node, isPlaced) : rewrite(node, isPlaced, this);
  }

  plain(node: Members, isPlaced: boolean, derived?: Members): Members {
    const below = isPlaced || node.timeframe !== undefined || node.instrument !== undefined;
    return this.#object(node, expressionShapeOf(node.kind)!, node, [], below, derived);
  }

  child(node: Members, isPlaced: boolean): Members {
    return this.#expression(node, isPlaced);
  }

  member(node: Members, name: string): unknown {
    const field = expressionShapeOf(node.kind)!.fields.get(name)!;
    return this.#copy(node[name] ?? field.default, field.shape, node, [name], false);
  }

  report(node: Members, member: readonly string[], code: IssueCode, message: string): void {
    this.#options.onIssue?.(node, member, code, message);
  }

  names(node: Members): Record<string, unknown> {
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
    const made = this.names(value);
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
      case 'record':
        return isExpression(owner) ? value : this.#record(value as Members, shape.item, owner, path);
      case 'either':
        return this.#either(value, shape.options, owner, path, isPlaced);
      default:
        return value;
    }
  }

  /** The members of a map of a section, in the order of their names. */
  #record(value: Members, item: Shape, owner: object, path: readonly (string | number)[]): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const name of Object.keys(value).sort())
      if (value[name] !== undefined) made[name] = this.#copy(value[name], item, owner, [...path, name], false);
    return made;
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
    return this.#copy(value, optionOf(options, value)!, owner, path, isPlaced);
  }

  paramNumber(name: string, node: Members, member: string): unknown {
    return this.#options.params === null ? undefined : this.#params.number(name, ANY_NUMBER, node, [member]);
  }

  args(node: Members, definitions: readonly ArgDefinition[]): Record<string, unknown> {
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

  canAddOffset(node: Members): boolean {
    const kind = writtenKind(node);
    return 'offsetCountsOwnBars' in kind && this.#runsOnBase(node);
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
}
