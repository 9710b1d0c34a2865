// Preparing: from a strategy and one run's settings, params and overrides to the form that the later stages read.
import type { Timeframe } from '../../bars/bars.ts';
import { isFiner } from '../../bars/timeframes.ts';
import { checkAllocationRun } from '../check/allocationChecks.ts';
import { reportForeignState } from '../check/nameChecks.ts';
import { readsState } from '../../definitions/expressions/expressionRegistry.ts';
import type { Expression, RunnableStrategy, Settings, StrategyAst } from '../grammar/ast.ts';
import type { CanonicalSections } from '../canonical/canonical.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { hasMembers } from '../grammar/payloadObjects.ts';
import { shown } from '../issues/displayNames.ts';
import { IssueLog, type ValidationIssue } from '../issues/issues.ts';
import { applyOverrides } from './overrides.ts';
import type { ParamValues } from '../canonical/canonicalizer.ts';
import { ParamSlots } from '../canonical/paramSlots.ts';
import { resolveParams, type GivenParams } from '../canonical/params.ts';
import { pointerTo } from '../pointer.ts';
import type { PointerOf } from '../check/sectionChecks.ts';
import { runnableSections, runnableStrategy } from '../check/runnable.ts';
import { sentPlaces } from '../canonical/sentPlaces.ts';
import { childrenOf, rootsOf, rulesOf } from '../grammar/visit.ts';

/** What the config of a run replaces in its strategy. */
export interface RunInputs {
  /** `config.params`: param name → value; absent params have their default. */
  readonly params?: GivenParams;
  /**
   * `config.overrides`: JSON pointer into the payload as sent (`/strategyAst/…` or `/signalGraph/…`; `/strategy/…` is
   * read from the root of the AST) → number.
   */
  readonly overrides?: Readonly<Record<string, number>>;
}

/** What the strategy is prepared for, beside its inputs. */
export interface PrepareContext {
  /** The base timeframe of the run; no node may be finer. */
  readonly timeframe?: Timeframe;
  /** The instrument of the run, the only one that has a position. */
  readonly symbol?: string;
  /** The symbols of a portfolio; null: the run has one instrument. When absent, an allocation is not checked for it. */
  readonly instruments?: readonly string[] | null;
  /** The graph the strategy was sent as: overrides point into it, and so do the answers. */
  readonly signalGraph?: SignalGraph;
}

/** The runnable form of a strategy, or the issues that keep it from running with these inputs. */
export type Prepared =
  | {
      readonly ok: true;
      readonly strategy: RunnableStrategy;
      /** The pointer, into the payload as sent, of the expression or section that one of `strategy` was made from. */
      readonly pointerOf: (made: object) => string;
    }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

interface Sections {
  readonly rules: CanonicalSections;
  /** Rewritten object → the object of the AST that it was made from. */
  readonly sources: ReadonlyMap<object, object>;
}

/** Sections by payload, for runs without params and overrides: a payload is never changed once it is checked. */
const plainSections = new WeakMap<StrategyAst, Sections>();

/**
 * The runnable form of a valid strategy. Params and overrides are checked against their declarations and places. The
 * paths of issues begin with `/config/params`, `/config/overrides` or `/config/timeframe`, or lead to the place in
 * the payload as sent that a param's value does not fit.
 */
export function prepareStrategy(
  strategyAst: StrategyAst,
  settings: Settings,
  inputs: RunInputs = {},
  context: PrepareContext = {},
): Prepared {
  const { params = {}, overrides = {} } = inputs;
  const log = new IssueLog();
  const isOverridden = hasMembers(overrides);
  const isPlain = !isOverridden && !hasMembers(params);
  const ast = isOverridden ? applyOverrides(strategyAst, context.signalGraph, overrides, log) : strategyAst;
  const placeOf = placesIn(ast, context);
  let sections = isPlain ? plainSections.get(strategyAst) : undefined;
  if (sections === undefined) {
    const values = resolveParams(ast.strategy.params ?? [], params, log);
    const sources = new Map<object, object>();
    if (log.errorCount === 0) sections = { rules: runnableSections(ast, values, log, placeOf, sources), sources };
    if (isPlain && log.errorCount === 0) plainSections.set(strategyAst, sections!);
  }
  checkSeries(ast, context, placeOf, log);
  if (context.instruments !== undefined) checkAllocationRun(ast, context.instruments, { log, pointerOf: placeOf });
  if (sections === undefined || log.errorCount > 0) return { ok: false, issues: log.list() };
  const { rules, sources } = sections;
  const strategy = runnableStrategy(rules, ast, settings);
  return { ok: true, strategy, pointerOf: (made) => placeOf(sources.get(made) ?? ast) };
}

/** A strategy with slots where numbers of params will stand, and what must hold of the numbers. */
export interface SlottedStrategy {
  readonly strategy: RunnableStrategy;
  readonly pointerOf: (made: object) => string;
  readonly slots: ParamSlots;
}

/**
 * Prepares a strategy for every value of its params, except those whose values decide its form, which are added to
 * `needed`. Undefined when there are issues, which `prepareStrategy` reports, or when more values turn out to be
 * needed.
 * @param values what every param stands for in one run
 */
export function prepareWithSlots(
  ast: StrategyAst,
  settings: Settings,
  values: ParamValues,
  needed: Set<string>,
  context: PrepareContext,
): SlottedStrategy | undefined {
  const log = new IssueLog();
  const placeOf = placesIn(ast, context);
  const names = [...values].flatMap(([name, value]) => (typeof value === 'string' ? [] : [name]));
  const slots = new ParamSlots(names, needed);
  const sources = new Map<object, object>();
  const before = needed.size;
  const rules = runnableSections(ast, values, log, placeOf, sources, slots);
  checkSeries(ast, context, placeOf, log);
  if (log.errorCount > 0 || needed.size > before) return undefined;
  return {
    strategy: runnableStrategy(rules, ast, settings),
    pointerOf: (made) => placeOf(sources.get(made) ?? ast),
    slots,
  };
}

/** The places of an AST's objects in the payload as sent. Found on demand: most variants of a sweep never ask. */
const placesIn =
  (ast: StrategyAst, { signalGraph }: PrepareContext): PointerOf =>
  (owner, ...member) => {
    const places = sentPlaces(ast, signalGraph);
    return pointerTo(places.get(owner) ?? places.get(ast)!, ...member);
  };

/**
 * Reports TIMEFRAME_BELOW_BASE for every node finer than the run's bars, and state of an instrument other than the
 * run's.
 */
function checkSeries(
  ast: StrategyAst,
  { timeframe: base, symbol }: PrepareContext,
  at: PointerOf,
  log: IssueLog,
): void {
  const seen = new Set<Expression>();
  const stack = rootsOf(rulesOf(ast)).map(({ expression }) => expression);
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    const timeframe = 'timeframe' in node ? node.timeframe : undefined;
    if (base !== undefined && timeframe !== undefined && isFiner(timeframe, base)) {
      log.add('TIMEFRAME_BELOW_BASE', '/config/timeframe', {
        message: `Node ${shown(node.id ?? node.kind)} reads ${timeframe} bars, and the run's own bars are ${base}.`,
        suggestion: `Run on ${timeframe} or finer bars, or change the timeframe of the node to ${base}.`,
      });
    }
    if (symbol !== undefined && readsState(node) && 'instrument' in node)
      reportForeignState(node, symbol, at(node, 'instrument', 'symbol'), log);
    stack.push(...childrenOf(node));
  }
}
