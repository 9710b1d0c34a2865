// Preparing: from a strategy and one run's settings, params and overrides to the form that the later stages read.
import { TIMEFRAME_MS, type StoredTimeframe } from '../../bars/bars.ts';
import type { RunnableExpression, RunnableStrategy, Settings, StrategyAst } from '../grammar/ast.ts';
import type { CanonicalSections } from './canonical.ts';
import type { SignalGraph } from '../grammar/graph.ts';
import { shown } from '../check/displayNames.ts';
import { IssueLog, type ValidationIssue } from '../check/issues.ts';
import { locate } from '../check/locate.ts';
import { applyOverrides } from './overrides.ts';
import { resolveParams, type GivenParams } from './params.ts';
import { pointerTo } from '../pointer.ts';
import type { PointerOf } from '../check/sectionChecks.ts';
import { runnableSections, runnableStrategy } from './runnable.ts';
import { childrenOf, rootsOf } from '../grammar/visit.ts';

export interface RunInputs {
  /** `config.params`: param name → value; absent params have their default. */
  readonly params?: GivenParams;
  /**
   * `config.overrides`: JSON pointer into the payload (`/strategyAst/…`, `/strategy/…` from its root, `/signalGraph/…`)
   * → number.
   */
  readonly overrides?: Readonly<Record<string, number>>;
}
export interface PrepareContext {
  /** The base timeframe of the run; no node may be finer. */
  readonly timeframe?: StoredTimeframe;
  /** The graph the strategy was sent as, for overrides that point into it. */
  readonly signalGraph?: SignalGraph;
}
export type Prepared =
  | { readonly ok: true; readonly strategy: RunnableStrategy }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/** Sections by payload, for runs without params and overrides: a payload is never changed once it is checked. */
const plainSections = new WeakMap<StrategyAst, CanonicalSections>();

/**
 * The runnable form of a valid strategy. Params and overrides are checked against their declarations and places. The
 * paths of issues begin with `/config/params`, `/config/overrides` or `/config/timeframe`, or lead to the place in
 * `/strategyAst` that a param's value does not fit.
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
  let rules = isPlain ? plainSections.get(strategyAst) : undefined;
  if (rules === undefined && log.errorCount === 0) {
    const values = resolveParams(ast.strategy.params ?? [], params, log);
    rules = runnableSections(ast, values, log, placesIn(ast));
    if (isPlain && log.errorCount === 0) plainSections.set(strategyAst, rules);
  }
  if (rules === undefined || log.errorCount > 0) return { ok: false, issues: log.list() };
  const strategy = runnableStrategy(rules, ast, settings);
  if (context.timeframe !== undefined) checkTimeframes(strategy, context.timeframe, log);
  return log.errorCount > 0 ? { ok: false, issues: log.list() } : { ok: true, strategy };
}

const isEmpty = (record: object): boolean => Object.keys(record).length === 0;

/** Places are only computed when there is an issue. */
function placesIn(ast: StrategyAst): PointerOf {
  let places: Map<object, string> | undefined;
  return (owner, ...member) => {
    places ??= locate(ast, '/strategyAst');
    return pointerTo(places.get(owner) ?? '/strategyAst', ...member);
  };
}

/** Reports TIMEFRAME_BELOW_BASE for every node finer than the run's bars. */
function checkTimeframes(strategy: RunnableStrategy, base: StoredTimeframe, log: IssueLog): void {
  const seen = new Set<RunnableExpression>();
  const stack = rootsOf(strategy).map(({ expression }) => expression);
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    const timeframe = 'timeframe' in node ? node.timeframe : undefined;
    if (timeframe !== undefined && TIMEFRAME_MS[timeframe] < TIMEFRAME_MS[base]) {
      log.add('TIMEFRAME_BELOW_BASE', '/config/timeframe', {
        message: `Node ${shown(node.id ?? node.kind)} reads ${timeframe} bars, and the run's own bars are ${base}.`,
        suggestion: `Run on ${timeframe} or finer bars, or change the timeframe of the node to ${base}.`,
      });
    }
    stack.push(...childrenOf(node));
  }
}
