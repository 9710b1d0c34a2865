// Backtest check: whether a well-formed request can run on the available market data, and what it would read.
import type { NewBacktest } from '../../db/backtests.ts';
import type { StrategyVersion } from '../../db/strategies.ts';
import {
  CONFIG_EXAMPLE,
  configIssues,
  nearestName,
  ENGINE_VERSION,
  TIMEFRAME_MS,
  foreignSeries,
  hashOf,
  prepareStrategy,
  resolveConfig,
} from '../../engine/index.ts';
import type { BacktestConfig, PatchOperation, SeriesName, SignalGraph, StrategyAst } from '../../engine/index.ts';
import type { Catalogue, CatalogueEntry } from '../../market/catalogue.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { BacktestCost, type Prepared } from './backtestCost.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { loopShare } from '../http/loopShare.ts';
import { problem, type ProblemIssue } from '../http/problems.ts';

/** How many symbols an issue names; another request lists all. */
const SYMBOLS_SHOWN = 20;
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Checks the requests of one call; equal strategies with equal params are prepared once. */
export class BacktestCheck {
  readonly #catalogue: Catalogue;
  readonly #asker: Asker;
  readonly #cost: BacktestCost;
  readonly #prepared = new Map<string, ReturnType<typeof prepareStrategy>>();

  constructor(catalogue: Catalogue, asker: Asker) {
    this.#catalogue = catalogue;
    this.#cost = new BacktestCost(catalogue);
    this.#asker = asker;
  }

  /**
   * What is stored of the request. `root` is prefixed to the paths of issues in the request. With `pinned`, the run
   * reads those snapshots even when their series have been imported again since.
   * @throws BACKTEST_CONFIG_INVALID with every issue, RANGE_NO_DATA, TIER_LIMIT_REACHED
   */
  async accept(
    version: StrategyVersion,
    config: BacktestConfig,
    { root = '', pinned }: { readonly root?: string; readonly pinned?: readonly string[] | undefined } = {},
  ): Promise<NewBacktest> {
    const symbol = config.signalInstrument.symbol;
    const base = await this.#catalogue.find(symbol, config.timeframe);
    const foreign = foreignSeries(version.strategyAst, symbol, config.timeframe);
    const issues = await this.#issues(version, config, base, foreign);
    if (issues.length > 0 || !base)
      throw problem('BACKTEST_CONFIG_INVALID', {
        message: issues.length === 1 ? issues[0].message : `The config has ${issues.length} faults; see issues.`,
        issues: issues.map((issue) => rooted(issue, root)),
        extras: { example: CONFIG_EXAMPLE },
      });
    const bars = barsInRange(config, base);
    this.#limitBars(bars);
    return {
      strategyId: version.strategyId,
      strategyVersionId: version.id,
      symbol,
      timeframe: config.timeframe,
      config,
      ...(await this.#inputs(version, config, foreign, pinned)),
    };
  }

  /** Everything that keeps a well-formed config from running; paths begin with `/config` or lead into the strategy. */
  async issues(version: StrategyVersion, config: BacktestConfig): Promise<ProblemIssue[]> {
    const symbol = config.signalInstrument.symbol;
    const base = await this.#catalogue.find(symbol, config.timeframe);
    return this.#issues(version, config, base, foreignSeries(version.strategyAst, symbol, config.timeframe));
  }

  async #issues(
    version: StrategyVersion,
    config: BacktestConfig,
    base: CatalogueEntry | undefined,
    foreign: readonly SeriesName[],
  ): Promise<ProblemIssue[]> {
    return [
      ...(base ? [] : [await this.#unavailable(config.signalInstrument.symbol, config.timeframe)]),
      ...configIssues(config, base?.instrument),
      ...this.#strategyFaults(version, config),
      ...(await this.#foreignFaults(foreign)),
    ];
  }

  /** What the run may read, the key for finding an equal run, and what the run will take. */
  async #inputs(
    version: StrategyVersion,
    config: BacktestConfig,
    foreign: readonly SeriesName[],
    pinned: readonly string[] | undefined,
  ) {
    const series = [{ symbol: config.signalInstrument.symbol, timeframe: config.timeframe }, ...foreign];
    const read = await Promise.all(series.map((each) => this.#catalogue.readable(each.symbol, each.timeframe)));
    const entries = new Map(read.flat().map((entry) => [entry.sha256, entry]));
    const snapshots = [...(pinned ?? entries.keys())].sort();
    const resolved = resolveConfig(config);
    const runKey = hashOf({
      engine: ENGINE_VERSION,
      strategy: version.strategyHash,
      snapshots,
      config: resolved,
      // A pointer refers to a place in one spelling of the strategy.
      version: Object.keys(resolved.overrides).length > 0 ? version.id : null,
    });
    // The config was accepted, so that its strategy can be prepared.
    const prepared = this.#prepare(version, config) as Prepared;
    return { snapshots, runKey, ...(await this.#cost.of(prepared, config, foreign, [...entries.values()])) };
  }

  async #unavailable(symbol: string, timeframe: string): Promise<ProblemIssue> {
    const ofSymbol = (await this.#catalogue.list()).filter((entry) => entry.symbol === symbol);
    if (ofSymbol.length > 0)
      return {
        code: 'TIMEFRAME_NOT_AVAILABLE',
        path: '/config/timeframe',
        field: 'config',
        severity: 'error',
        message: `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from.`,
        suggestion: `Use ${ofSymbol.map((entry) => entry.timeframe).join(' or ')}, or coarser.`,
      };
    const symbols = (await this.#catalogue.instruments()).map((instrument) => instrument.symbol);
    return {
      code: 'SYMBOL_NOT_AVAILABLE',
      path: '/config/signalInstrument/symbol',
      field: 'config',
      severity: 'error',
      message: `There is no market data of "${symbol}".`,
      ...this.#symbolRepair(symbol, symbols),
    };
  }

  /** Another spelling of the same name is certain; a similar name is another instrument as likely as a typing error. */
  #symbolRepair(symbol: string, symbols: readonly string[]): Pick<ProblemIssue, 'suggestion' | 'patch'> {
    const [same] = symbols.filter((each) => plain(each) === plain(symbol));
    const path = '/config/signalInstrument/symbol';
    if (same !== undefined)
      return { suggestion: `Did you mean "${same}"?`, patch: [{ op: 'replace', path, value: same }] };
    const nearest = nearestName(symbol, symbols);
    if (nearest !== undefined) return { suggestion: `Did you mean "${nearest.name}"?` };
    const shown = symbols.slice(0, SYMBOLS_SHOWN).join(', ');
    return { suggestion: `Use one of ${shown}; GET /public/v1/market-data lists all.` };
  }

  #strategyFaults(version: StrategyVersion, config: BacktestConfig): readonly ProblemIssue[] {
    const prepared = this.#prepare(version, config);
    return prepared.ok ? [] : prepared.issues.filter((issue) => issue.severity === 'error');
  }

  #prepare(version: StrategyVersion, config: BacktestConfig): ReturnType<typeof prepareStrategy> {
    const { timeframe, params = {}, overrides = {} } = config;
    const key = JSON.stringify([version.id, timeframe, params, overrides]);
    const known = this.#prepared.get(key);
    if (known) return known;
    // Stored payloads were checked when they became ready.
    const ast = version.strategyAst as unknown as StrategyAst;
    const signalGraph = version.signalGraph as unknown as SignalGraph | null;
    const context = { timeframe, ...(signalGraph && { signalGraph }) };
    const prepared = loopShare.measure(this.#asker.workspaceId, () =>
      prepareStrategy(ast, version.settings, { params, overrides }, context),
    );
    this.#prepared.set(key, prepared);
    return prepared;
  }

  async #foreignFaults(foreign: readonly SeriesName[]): Promise<ProblemIssue[]> {
    const faults = foreign.map(async ({ symbol, timeframe }): Promise<ProblemIssue[]> => {
      if (await this.#catalogue.find(symbol, timeframe)) return [];
      const message = `The strategy reads ${symbol} ${timeframe}, of which there is no market data.`;
      const suggestion = 'Use a strategy version that reads only series of GET /public/v1/market-data.';
      const issue = { code: 'SYMBOL_NOT_AVAILABLE', field: 'strategyVersionId', severity: 'error' } as const;
      return [{ ...issue, path: '/strategyVersionId', message, suggestion }];
    });
    return (await Promise.all(faults)).flat();
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

/** Bars of the base timeframe that open and close within the range, at most. */
function barsInRange(config: BacktestConfig, base: CatalogueEntry): number {
  const { start, end } = resolveConfig(config).range;
  const from = Math.max(start ?? base.start, base.start);
  const to = Math.min(end ?? base.end, base.end);
  const bars = Math.floor((to - from) / TIMEFRAME_MS[config.timeframe]);
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
