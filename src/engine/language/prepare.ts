// Preparing: a strategy and one run's settings, params and overrides made into what the later stages read.
import { TIMEFRAME_MS, type StoredTimeframe } from '../columns/bars.ts';
import type { Expression, RunnableStrategy, Settings, StrategyAst } from './ast.ts';
import type { CanonicalRules } from './canonical.ts';
import type { SignalGraph } from './graph.ts';
import { IssueLog, type ValidationIssue } from './issues.ts';
import { locate } from './locate.ts';
import { applyOverrides } from './overrides.ts';
import { resolveParams, type GivenParams } from './params.ts';
import { pointerTo } from './pointer.ts';
import type { PointerOf } from './rules.ts';
import { concreteRules, runnableStrategy } from './runnable.ts';
import { childrenOf, rootsOf } from './visit.ts';

export interface RunInputs {
  /** `config.params`: param name → value; absent ones are at their default. */
  readonly params?: GivenParams;
  /** `config.overrides`: JSON pointer into the payload (`/strategyAst/…`, `/strategy/…` from its root, `/signalGraph/…`) → number. */
  readonly overrides?: Readonly<Record<string, number>>;
}
export interface PrepareContext {
  /** The base timeframe of the run; nodes may not be finer. */
  readonly timeframe?: StoredTimeframe;
  /** The graph the strategy was sent as, for overrides that point into it. */
  readonly signalGraph?: SignalGraph;
}
export type Prepared =
  | { readonly ok: true; readonly strategy: RunnableStrategy }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/** Rules by payload object, for the runs without params and overrides: a payload is never written to once it is checked. */
const plainRules = new WeakMap<StrategyAst, CanonicalRules>();

/**
 * The runnable form of a valid strategy. Params and overrides are checked against their declarations and places; the paths of issues begin
 * `/config/params`, `/config/overrides` or `/config/timeframe`, or lead into `/strategyAst` where a param's value broke a rule there.
 */
export function prepareStrategy(
  strategyAst: StrategyAst,
  settings: Settings,
  inputs: RunInputs = {},
  context: PrepareContext = {},
): Prepared {
  const { params = {}, overrides = {} } = inputs;
  const log = new IssueLog();
  const isPlain = isEmpty(params) && isEmpty(overrides);
  const ast = isEmpty(overrides) ? strategyAst : applyOverrides(strategyAst, context.signalGraph, overrides, log);
  let rules = isPlain ? plainRules.get(strategyAst) : undefined;
  if (rules === undefined && log.errorCount === 0) {
    const values = resolveParams(ast.strategy.params ?? [], params, log);
    rules = concreteRules(ast, values, log, placesIn(ast));
    if (isPlain && log.errorCount === 0) plainRules.set(strategyAst, rules);
  }
  if (rules === undefined || log.errorCount > 0) return { ok: false, issues: log.list() };
  const strategy = runnableStrategy(rules, ast, settings);
  if (context.timeframe !== undefined) checkTimeframes(strategy, context.timeframe, log);
  return log.errorCount > 0 ? { ok: false, issues: log.list() } : { ok: true, strategy };
}

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

/** Places are looked up only where something is wrong. */
function placesIn(ast: StrategyAst): PointerOf {
  let places: Map<object, string> | undefined;
  return (owner, ...member) => {
    places ??= locate(ast, '/strategyAst');
    return pointerTo(places.get(owner) ?? '/strategyAst', ...member);
  };
}

/** TIMEFRAME_BELOW_BASE for every node finer than the run's bars. */
function checkTimeframes(strategy: RunnableStrategy, base: StoredTimeframe, log: IssueLog): void {
  const seen = new Set<Expression>();
  const stack = rootsOf(strategy).map(({ expression }) => expression);
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    const { timeframe, id, kind } = node as { timeframe?: StoredTimeframe; id?: string; kind: string };
    if (timeframe !== undefined && TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[base]) {
      log.add('TIMEFRAME_BELOW_BASE', '/config/timeframe', {
        message: `node ${id ?? kind} reads ${timeframe} bars, finer than the run's ${base}`,
        suggestion: `run at ${timeframe} or finer, or raise the node's timeframe to ${base}`,
      });
    }
    stack.push(...childrenOf(node));
  }
}
