// Overridden params: a payload with a param in the place of each number that a run overrides. All runs that override
// the same places then differ in the values of params only, and are prepared and planned as such.
import { checkStrategy } from '../check/checkStrategy.ts';
import { IssueLog } from '../issues/issues.ts';
import { Lowering } from '../graph/lowerGraph.ts';
import type { Param, StrategyAst } from '../grammar/ast.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { isParamRef } from '../grammar/shapes.ts';
import { Draft, type Container } from './overrides.ts';
import { overriddenPath } from './overrides.ts';

/** A strategy as it was sent: a graph comes with the AST that it compiles to. */
export interface Payload {
  readonly strategyAst: StrategyAst;
  readonly signalGraph?: SignalGraph;
}

/** The place of a number that a run overrides. */
export interface OverriddenPlace {
  readonly pointer: string;
  /** The name of the param that replaces the number. */
  readonly param: string;
  readonly value: number;
}

/**
 * The overridden places, each with its param. Equal numbers share a param, as the lengths of an entry and an exit often
 * do: what is made of them is equal for every value, and planned once. 0 and -0 are not equal.
 */
export function overriddenPlaces(overrides: Readonly<Record<string, number>>): OverriddenPlace[] {
  const params = new Map<number | '-0', string>();
  return Object.entries(overrides).map(([pointer, value]) => {
    const number = Object.is(value, -0) ? '-0' : value;
    const param = params.get(number) ?? `override ${params.size}`;
    params.set(number, param);
    return { pointer, param, value };
  });
}

/** A sequence compares the bounds of a step with each other where both are numbers, and never those of params. */
const STEP_BOUNDS: ReadonlySet<string | undefined> = new Set(['minBars', 'maxBars']);

/**
 * The payload with a param in each overridden place. Undefined where params would not mean the same: a place takes
 * numbers only, is checked together with another, is named twice, or is in no rule.
 */
export function withOverriddenParams(payload: Payload, overridden: readonly OverriddenPlace[]): Payload | undefined {
  const member = payload.signalGraph === undefined ? 'strategyAst' : 'signalGraph';
  const sent = payload[member] as unknown as Container;
  const paths: (readonly string[])[] = [];
  for (const { pointer } of overridden) {
    const [first, ...path] = overriddenPath(pointer) ?? [];
    if (first !== member || STEP_BOUNDS.has(path.at(-1))) return undefined;
    paths.push(path);
  }
  const pointed = withParams(sent, paths, (index) => overridden[index].pointer);
  const changed = withParams(sent, paths, (index) => overridden[index].param);
  if (pointed === undefined || changed === undefined) return undefined;
  const read = paramsReadIn(pointed, member);
  if (!overridden.every(({ pointer }) => read.has(pointer))) return undefined;
  const { compiled } = checkStrategy({ [member]: changed });
  if (compiled === null) return undefined;
  const { strategyAst } = compiled;
  if (member === 'signalGraph') return { strategyAst, signalGraph: changed as unknown as SignalGraph };
  // A payload that shares objects is checked as a copy, in which places differ.
  return (strategyAst as unknown) === changed ? { strategyAst } : undefined;
}

/** A payload with params in these places, which it declares; undefined when one of them is not a number's. */
function withParams(
  payload: Container,
  paths: readonly (readonly string[])[],
  nameOf: (index: number) => string,
): Container | undefined {
  const draft = new Draft(payload);
  const declared = (draft.at(['strategy', 'params']) ?? []) as readonly Param[];
  const params = new Map<string, Param>();
  for (const [index, path] of paths.entries()) {
    const value = numberAt(draft, path, declared);
    if (value === undefined) return undefined;
    const name = nameOf(index);
    if (!params.has(name)) params.set(name, { name, type: 'float', default: value });
    // A graph writes {"const": 30} for a number, and {"param": "name"} for a param.
    draft.set(path.at(-1) === 'const' ? path.slice(0, -1) : path, { param: name });
  }
  draft.set(['strategy', 'params'], [...declared, ...params.values()]);
  return draft.root;
}

/** The number at a place, or the default of the param there: either is valid. */
function numberAt(draft: Draft, path: readonly string[], declared: readonly Param[]): number | undefined {
  const found = draft.at(path);
  const value = isParamRef(found) ? declared.find(({ name }) => name === found.param)?.default : found;
  return typeof value === 'number' ? value : undefined;
}

/** The names of the params that rules read. */
function paramsReadIn(payload: Container, member: keyof Payload): Set<string> {
  const ast = member === 'strategyAst' ? payload : new Lowering(payload, new IssueLog(), new Set()).run().ast;
  const { entry, exits, exit, allocation, risk } = ast.strategy as StrategyAst['strategy'];
  const names = new Set<string>();
  const stack: unknown[] = [entry, exits, exit, allocation, risk];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (isParamRef(value)) names.add(value.param);
    const { kind, name } = value as Container;
    if (kind === 'param') names.add(String(name));
    for (const [below, inside] of Object.entries(value)) if (below !== 'meta') stack.push(inside);
  }
  return names;
}
