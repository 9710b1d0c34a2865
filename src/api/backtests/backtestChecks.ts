// Backtest check: whether a well-formed request can run on the available market data, and what it would read.
import type { NewBacktest } from '../../db/backtests.ts';
import { strategyOf, type StrategyVersion } from '../../db/strategyVersions.ts';
import {
  configExampleFor,
  configIssues,
  ENGINE_VERSION,
  estimateTask,
  mostBarsIn,
  hashWithParams,
  isPortfolio,
  quoteIssues,
  resolveConfig,
  symbolsOf,
} from '../../engine/index.ts';
import type { BacktestConfig, EstimatedRun, PatchOperation, ResolvedConfig } from '../../engine/index.ts';
import type { Catalog, CatalogEntry } from '../../market/catalog.ts';
import type { WorkspaceCatalogs } from '../../market/workspaceCatalogs.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { costOf } from './backtestCost.ts';
import { findSeries, type VersionOnSeries } from './runSeries.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { loopShare } from '../http/loopShare.ts';
import { problem, type ProblemIssue } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';

/** What a symbol of a list takes of the event loop: measured with a thousand of them among ten thousand. */
const MS_PER_SYMBOL = 0.03;

/** What the requests of one call have in common whose configs differ only in their params. */
interface SharedConfig {
  /** A key of everything but params that an estimate depends on. */
  readonly estimateKey: string;
  readonly resolved: ResolvedConfig;
  readonly issues: readonly ProblemIssue[];
  readonly runKeyOf: (params: ResolvedConfig['params']) => string;
}

/**
 * Only ready versions run.
 * @throws NOT_FOUND, STRATEGY_VERSION_NOT_READY
 */
export function requireReady(version: StrategyVersion | undefined, id: string): StrategyVersion {
  if (version === undefined) throw notFound('strategy version', id);
  if (version.status !== 'ready')
    throw problem('STRATEGY_VERSION_NOT_READY', {
      message: `Version ${version.version} of the strategy is a draft; finalize it first.`,
      extras: { nextSteps: [`POST /public/v1/strategies/${version.strategyId}/versions/finalize`] },
    });
  return version;
}

/** Checks the requests of one call; what they have in common is looked up and prepared once. */
export class BacktestCheck {
  readonly #catalog: Catalog;
  readonly #asker: Asker;
  readonly #series = new Map<string, Promise<VersionOnSeries>>();
  readonly #configs = new Map<string, SharedConfig>();
  readonly #estimated = new Map<string, EstimatedRun>();

  constructor(catalogs: Pick<WorkspaceCatalogs, 'of'>, asker: Asker) {
    this.#catalog = catalogs.of(asker.workspaceId);
    this.#asker = asker;
  }

  /**
   * Checks a request and returns what is stored of it. `root` is prefixed to the paths of issues in the request. With
   * `pinned`, the run reads those snapshots even when their series have been imported again since.
   * @throws BACKTEST_CONFIG_INVALID with every issue, RANGE_NO_DATA, TIER_LIMIT_REACHED
   */
  async accept(
    version: StrategyVersion,
    config: BacktestConfig,
    { root = '', pinned }: { readonly root?: string; readonly pinned?: readonly string[] | undefined } = {},
  ): Promise<NewBacktest> {
    this.#limitInstruments(config);
    const series = await this.#seriesOf(version, config);
    const snapshots = pinned === undefined ? series.snapshots : [...pinned].sort();
    const shared = this.#sharedConfig(version, config, series, snapshots);
    const estimated = this.#estimate(version, config, shared);
    const issues = allIssues(series, shared, estimated);
    const bases = series.bases.filter((base) => base !== undefined);
    if (issues.length > 0 || bases.length < series.bases.length || !estimated.ok)
      throw problem('BACKTEST_CONFIG_INVALID', {
        message: issues.length === 1 ? issues[0].message : `The config has ${issues.length} faults; see issues.`,
        issues: issues.map((issue) => rooted(issue, root)),
        extras: { example: configExampleFor(issues) },
      });
    this.#limitBars(barsInRange(shared.resolved, bases), bases.length);
    return {
      strategyId: version.strategyId,
      strategyVersionId: version.id,
      symbols: symbolsOf(config),
      timeframe: config.timeframe,
      config,
      snapshots,
      runKey: shared.runKeyOf(config.params ?? {}),
      ...costOf(estimated.estimate, shared.resolved, bases, series),
    };
  }

  /** Everything that keeps a well-formed config from running; paths begin with `/config` or lead into the strategy. */
  async issues(version: StrategyVersion, config: BacktestConfig): Promise<ProblemIssue[]> {
    const series = await this.#seriesOf(version, config);
    const shared = this.#sharedConfig(version, config, series, series.snapshots);
    return allIssues(series, shared, this.#estimate(version, config, shared));
  }

  #sharedConfig(
    version: StrategyVersion,
    config: BacktestConfig,
    { bases }: VersionOnSeries,
    snapshots: readonly string[],
  ): SharedConfig {
    const key = JSON.stringify([version.id, { ...config, params: undefined }, snapshots]);
    let shared = this.#configs.get(key);
    if (shared === undefined) {
      const { timeframe, overrides } = config;
      const resolved = resolveConfig(config, hasAllocation(version));
      shared = {
        estimateKey: JSON.stringify([version.id, timeframe, symbolsOf(config), overrides]),
        resolved,
        issues: issuesOn(bases, config),
        runKeyOf: runKeyOf(version, resolved, snapshots),
      };
      this.#configs.set(key, shared);
    }
    return shared;
  }

  #seriesOf({ id, strategyAst }: StrategyVersion, config: BacktestConfig): Promise<VersionOnSeries> {
    const { timeframe, benchmark } = config;
    const wanted = { timeframe, symbols: symbolsOf(config), isList: isPortfolio(config), benchmark: benchmark?.symbol };
    const key = JSON.stringify([id, wanted]);
    let series = this.#series.get(key);
    if (series === undefined) {
      // Of a single run, looking up its symbol takes no time to speak of.
      if (wanted.isList) loopShare.add(this.#asker.workspaceId, MS_PER_SYMBOL * wanted.symbols.length);
      this.#series.set(key, (series = findSeries(this.#catalog, { ...wanted, strategyAst })));
    }
    return series;
  }

  #estimate(version: StrategyVersion, config: BacktestConfig, { estimateKey }: SharedConfig): EstimatedRun {
    const key = `${estimateKey} ${JSON.stringify(config.params)}`;
    let estimated = this.#estimated.get(key);
    if (estimated === undefined) {
      const { strategyHash: _hash, ...strategy } = strategyOf(version);
      estimated = loopShare.measure(this.#asker.workspaceId, () => estimateTask({ ...strategy, config }));
      this.#estimated.set(key, estimated);
    }
    return estimated;
  }

  /** Before anything whose work grows with the list. */
  #limitInstruments({ instruments = [] }: BacktestConfig): void {
    const { tier } = this.#asker;
    const limit = TIER_LIMITS[tier].maxInstrumentsPerRun;
    if (instruments.length <= limit) return;
    throw problem('TIER_LIMIT_REACHED', {
      message:
        `This backtest has ${instruments.length} instruments; the ${tier} tier allows ${limit}. Take some out of the ` +
        'list, or run parts of it as backtests of their own.',
      extras: { limitName: 'maxInstrumentsPerRun', limit, usage: instruments.length },
    });
  }

  /** @param bars of all instruments together */
  #limitBars(bars: number, instruments: number): void {
    const { tier } = this.#asker;
    const limit = TIER_LIMITS[tier].barsPerBacktest;
    if (bars <= limit) return;
    const [counted, way] =
      instruments === 1
        ? ['bars', 'Use a shorter range or a coarser timeframe.']
        : [`bars of ${instruments} instruments`, 'Use a shorter range, a coarser timeframe or fewer instruments.'];
    throw problem('TIER_LIMIT_REACHED', {
      message: `This backtest has about ${bars} ${counted}; the ${tier} tier allows ${limit}. ${way}`,
      extras: { limitName: 'barsPerBacktest', limit, usage: bars },
    });
  }
}

function allIssues(
  { unavailable, missing }: VersionOnSeries,
  { issues }: SharedConfig,
  estimated: EstimatedRun,
): ProblemIssue[] {
  const faults = estimated.ok ? [] : estimated.issues.filter((issue) => issue.severity === 'error');
  return [...unavailable, ...issues, ...faults, ...missing];
}

/** With an allocation, a list of one instrument is a portfolio, too. */
const hasAllocation = ({ strategyAst }: StrategyVersion): boolean =>
  (strategyAst.strategy as Readonly<Record<string, unknown>> | undefined)?.allocation !== undefined;

function issuesOn(bases: VersionOnSeries['bases'], config: BacktestConfig): ProblemIssue[] {
  const instruments = bases.flatMap((base) => base?.instrument ?? []);
  // The place of an instrument in the list is known only when all of them are.
  const mixed = instruments.length === bases.length ? quoteIssues(instruments) : [];
  return [...configIssues(config, ...instruments), ...mixed];
}

/** The run keys of a config with other params. Runs with equal keys have equal results. */
const runKeyOf = (
  version: StrategyVersion,
  resolved: ResolvedConfig,
  snapshots: readonly string[],
): SharedConfig['runKeyOf'] =>
  hashWithParams({
    engine: ENGINE_VERSION,
    strategy: version.strategyHash,
    snapshots,
    config: { ...resolved, params: null },
    // A pointer refers to a place in one spelling of the strategy.
    version: Object.keys(resolved.overrides).length > 0 ? version.id : null,
  });

/**
 * The issue with `root` before its places in the request. What is wrong inside the strategy has its place in the
 * payload that was finalized, not in this request.
 */
export function rooted(issue: ProblemIssue, root: string): ProblemIssue {
  const isInRequest = /^\/(config|strategyVersionId)(\/|$)/.test(issue.path);
  if (root === '' || !isInRequest) return issue;
  const patch = (issue.patch as readonly PatchOperation[] | undefined)?.map((step) =>
    step.op === 'move'
      ? { ...step, from: root + step.from, path: root + step.path }
      : { ...step, path: root + step.path },
  );
  return { ...issue, path: root + issue.path, ...(patch && { patch }) };
}

/**
 * The most bars of the base timeframe that can open and close within the range, of all instruments together.
 * @throws RANGE_NO_DATA when no instrument has any
 */
function barsInRange({ timeframe, range: { start, end } }: ResolvedConfig, bases: readonly CatalogEntry[]): number {
  const barsOfEach = bases.map((base) => {
    const from = Math.max(start ?? base.start, base.start);
    const to = Math.min(end ?? base.end, base.end);
    return mostBarsIn(timeframe, from, to);
  });
  const bars = barsOfEach.reduce((sum, each) => sum + each, 0);
  if (bars > 0) return bars;
  const available = {
    start: bases.reduce((first, base) => Math.min(first, base.start), Infinity),
    end: bases.reduce((last, base) => Math.max(last, base.end), -Infinity),
  };
  const [subject, verb] = bases.length === 1 ? [bases[0].symbol, 'has'] : [`the ${bases.length} instruments`, 'have'];
  throw problem('RANGE_NO_DATA', {
    message:
      `The range holds no bars: ${subject} ${verb} ${new Date(available.start).toISOString()} to ` +
      `${new Date(available.end).toISOString()}.`,
    extras: { available },
  });
}
