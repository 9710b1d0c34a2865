// The plan of a strategy as people read it: the one answer behind `candlepool explain`, the API and MCP.
import type { Timeframe } from './bars/bars.ts';
import type { Settings, StrategyAst } from './language/grammar/ast.ts';
import type { SignalGraph } from './language/grammar/graph.ts';
import { inferLookback } from './language/canonical/lookback.ts';
import { prepareStrategy } from './language/prepare/prepare.ts';
import type { ValidationIssue } from './language/issues/issues.ts';
import { compilePlan } from './plan/compile.ts';
import { EACH_INSTRUMENT } from './language/check/nameChecks.ts';
import { explainPortfolio } from './plan/explain.ts';
import { explainPlan } from './plan/explain.ts';

interface Explanation {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  /** Base bars before the first value of every expression. */
  readonly inferredLookback: number;
  /** Number of column steps. */
  readonly steps: number;
  /** The plan, printed the way a database prints one. */
  readonly plan: string;
}

/** On `base`, or what the strategy's own defaults name, else 1h bars of "SYMBOL". */
export function explainStrategy(
  strategyAst: StrategyAst,
  settings: Settings,
  base: {
    readonly symbol?: string | undefined;
    readonly timeframe?: Timeframe | undefined;
    /** The instruments of a portfolio, in place of `symbol`. */
    readonly instruments?: readonly string[] | undefined;
    /** What `strategyAst` was compiled from, when the author sent a graph. */
    readonly signalGraph?: SignalGraph | undefined;
  } = {},
):
  | { readonly ok: true; readonly explanation: Explanation }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] } {
  const { defaults } = strategyAst.strategy;
  const named = base.timeframe ?? defaults?.timeframe;
  const timeframe = named ?? '1h';
  const { instruments = null } = base;
  const isPortfolio = instruments !== null || strategyAst.strategy.allocation !== undefined;
  const symbol = isPortfolio ? 'each instrument' : (base.symbol ?? defaults?.instrument?.symbol ?? 'SYMBOL');
  const prepared = prepareStrategy(
    strategyAst,
    settings,
    {},
    { timeframe, ...(base.signalGraph && { signalGraph: base.signalGraph }) },
  );
  if (!prepared.ok) return prepared;
  const plan = compilePlan(
    prepared.strategy,
    { symbol: isPortfolio ? EACH_INSTRUMENT : symbol, timeframe },
    { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: true },
  );
  const assumed =
    named === undefined ? `No timeframe is named, so that ${timeframe} bars stand for those of a run.\n` : '';
  const inferredLookback = inferLookback(prepared.strategy, timeframe);
  return {
    ok: true,
    explanation: {
      symbol,
      timeframe,
      inferredLookback,
      steps: plan.steps.length,
      plan:
        (isPortfolio ? explainPortfolio(prepared.strategy, instruments) + assumed : '') +
        explainPlan(plan, isPortfolio ? null : symbol, prepared.strategy.maxConcurrentPositions),
    },
  };
}
