// Backtest check: whether a well-formed request can run on the available market data, and what it would read.
import type { NewBacktest } from '../../db/backtests.ts';
import { strategyOf, type StrategyVersion } from '../../db/strategyVersions.ts';
import {
  CONFIG_EXAMPLE,
  configIssues,
  ENGINE_VERSION,
  estimateTask,
  TIMEFRAME_MS,
  foreignSeries,
  hashWithParams,
  resolveConfig,
  symbolsOf,
} from '../../engine/index.ts';
import type { BacktestConfig, EstimatedRun, PatchOperation, ResolvedConfig, SeriesName } from '../../engine/index.ts';
import type { Catalog, CatalogEntry } from '../../market/catalog.ts';
import { similarSymbol } from '../../market/similarSymbol.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { barsOf, costOf, seriesKey, type RunSeries } from './backtestCost.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { loopShare } from '../http/loopShare.ts';
import { problem, type ProblemIssue } from '../http/problems.ts';
import { notFound } from '../http/routeSchemas.ts';

/** How many symbols an issue names; GET /market-data lists all. */
const SYMBOLS_SHOWN = 20;

/** What the requests of one call have in common that run the same version on the same series. */
interface VersionOnSeries extends RunSeries {
  /** undefined: there are no such bars. */
  readonly base: CatalogEntry | undefined;
  /** The issue that there are no such bars; otherwise empty. */
  readonly unavailable: readonly ProblemIssue[];
  /** Series of other instruments that are missing. */
  readonly missing: readonly ProblemIssue[];
  /** The names of the snapshots that a run may read. */
  readonly snapshots: readonly string[];
}

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

  constructor(catalog: Catalog, asker: Asker) {
    this.#catalog = catalog;
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
    const series = await this.#seriesOf(version, config);
    const { base } = series;
    const snapshots = pinned === undefined ? series.snapshots : [...pinned].sort();
    const shared = this.#sharedConfig(version, config, base, snapshots);
    const estimated = this.#estimate(version, config, shared);
    const issues = allIssues(series, shared, estimated);
    if (issues.length > 0 || !base || !estimated.ok)
      throw problem('BACKTEST_CONFIG_INVALID', {
        message: issues.length === 1 ? issues[0].message : `The config has ${issues.length} faults; see issues.`,
        issues: issues.map((issue) => rooted(issue, root)),
        extras: { example: CONFIG_EXAMPLE },
      });
    this.#limitBars(barsInRange(shared.resolved, base));
    return {
      strategyId: version.strategyId,
      strategyVersionId: version.id,
      symbol: symbolsOf(config)[0],
      timeframe: config.timeframe,
      config,
      snapshots,
      runKey: shared.runKeyOf(config.params ?? {}),
      ...costOf(estimated.estimate, shared.resolved, base, series),
    };
  }

  /** Everything that keeps a well-formed config from running; paths begin with `/config` or lead into the strategy. */
  async issues(version: StrategyVersion, config: BacktestConfig): Promise<ProblemIssue[]> {
    const series = await this.#seriesOf(version, config);
    const shared = this.#sharedConfig(version, config, series.base, series.snapshots);
    return allIssues(series, shared, this.#estimate(version, config, shared));
  }

  #sharedConfig(
    version: StrategyVersion,
    config: BacktestConfig,
    base: CatalogEntry | undefined,
    snapshots: readonly string[],
  ): SharedConfig {
    const key = JSON.stringify([version.id, { ...config, params: undefined }, snapshots]);
    let shared = this.#configs.get(key);
    if (shared === undefined) {
      const { timeframe, overrides } = config;
      const resolved = resolveConfig(config);
      shared = {
        estimateKey: JSON.stringify([version.id, timeframe, symbolsOf(config)[0], overrides]),
        resolved,
        issues: configIssues(config, base?.instrument),
        runKeyOf: runKeyOf(version, resolved, snapshots),
      };
      this.#configs.set(key, shared);
    }
    return shared;
  }

  #seriesOf(version: StrategyVersion, config: BacktestConfig): Promise<VersionOnSeries> {
    const { timeframe } = config;
    const [symbol] = symbolsOf(config);
    const key = JSON.stringify([version.id, timeframe, symbol]);
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = this.#findSeries(version, { symbol, timeframe })));
    return series;
  }

  async #findSeries(version: StrategyVersion, own: SeriesName): Promise<VersionOnSeries> {
    const missing: ProblemIssue[] = [];
    const rows = new Map<string, number>();
    const entries = new Map<string, CatalogEntry>();
    const base = await this.#catalog.find(own.symbol, own.timeframe);
    const unavailable = base ? [] : [await this.#unavailable(own.symbol, own.timeframe)];
    for (const series of [own, ...foreignSeries(version.strategyAst, own.symbol, own.timeframe)]) {
      const { symbol, timeframe } = series;
      const found = series === own ? base : await this.#catalog.find(symbol, timeframe);
      if (found) rows.set(seriesKey(series), barsOf(found, timeframe));
      else if (series !== own) missing.push(foreignMissing(series));
      for (const entry of await this.#catalog.readable(symbol, timeframe)) entries.set(entry.sha256, entry);
    }
    const openedBars = [...entries.values()].reduce((sum, { bars }) => sum + bars, 0);
    return { base, unavailable, missing, snapshots: [...entries.keys()].sort(), rows, openedBars };
  }

  async #unavailable(symbol: string, timeframe: string): Promise<ProblemIssue> {
    const ofSymbol = (await this.#catalog.list()).filter((entry) => entry.symbol === symbol);
    if (ofSymbol.length > 0)
      return {
        code: 'TIMEFRAME_NOT_AVAILABLE',
        path: '/config/timeframe',
        field: 'config',
        severity: 'error',
        message: `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from.`,
        suggestion: `Use ${ofSymbol.map((entry) => entry.timeframe).join(' or ')}, or coarser.`,
      };
    const symbols = (await this.#catalog.instruments()).map((instrument) => instrument.symbol);
    return {
      code: 'SYMBOL_NOT_AVAILABLE',
      path: '/config/signalInstrument/symbol',
      field: 'config',
      severity: 'error',
      message: `There is no market data of "${symbol}".`,
      ...this.#symbolRepair(symbol, symbols),
    };
  }

  /** Another spelling of the same name is repaired for certain; a similar name may as well be another instrument. */
  #symbolRepair(symbol: string, symbols: readonly string[]): Pick<ProblemIssue, 'suggestion' | 'patch'> {
    const similar = similarSymbol(symbol, symbols);
    if (similar !== undefined) {
      const { symbol: value, isSpelling } = similar;
      const path = '/config/signalInstrument/symbol';
      return {
        suggestion: `Did you mean "${value}"?`,
        ...(isSpelling && { patch: [{ op: 'replace', path, value }] }),
      };
    }
    const shown = symbols.slice(0, SYMBOLS_SHOWN).join(', ');
    return { suggestion: `Use one of ${shown}; GET /public/v1/market-data lists all.` };
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

  #limitBars(bars: number): void {
    const { tier } = this.#asker;
    const limit = TIER_LIMITS[tier].barsPerBacktest;
    if (bars <= limit) return;
    throw problem('TIER_LIMIT_REACHED', {
      message:
        `This backtest has about ${bars} bars; the ${tier} tier allows ${limit}. Use a shorter range or a ` +
        'coarser timeframe.',
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

const foreignMissing = ({ symbol, timeframe }: SeriesName): ProblemIssue => ({
  code: 'SYMBOL_NOT_AVAILABLE',
  field: 'strategyVersionId',
  severity: 'error',
  path: '/strategyVersionId',
  message: `The strategy reads ${symbol} ${timeframe}, of which there is no market data.`,
  suggestion: 'Use a strategy version that reads only series of GET /public/v1/market-data.',
});

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

/** The most bars of the base timeframe that can open and close within the range. */
function barsInRange({ timeframe, range: { start, end } }: ResolvedConfig, base: CatalogEntry): number {
  const from = Math.max(start ?? base.start, base.start);
  const to = Math.min(end ?? base.end, base.end);
  const bars = Math.floor((to - from) / TIMEFRAME_MS[timeframe]);
  if (bars <= 0) {
    const available = { start: base.start, end: base.end };
    throw problem('RANGE_NO_DATA', {
      message:
        `The range holds no bars: ${base.symbol} has ${new Date(base.start).toISOString()} to ` +
        `${new Date(base.end).toISOString()}.`,
      extras: { available },
    });
  }
  return bars;
}
