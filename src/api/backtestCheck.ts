// Backtest check: whether a well-formed request can be run on the market data there is, and what it will read if so.
import type { NewBacktest } from '../db/backtests.ts';
import type { StrategyVersion } from '../db/strategies.ts';
import {
  configFaults,
  ENGINE_VERSION,
  TIMEFRAME_MS,
  foreignSeries,
  hashOf,
  prepareStrategy,
  resolveConfig,
} from '../engine/index.ts';
import type { BacktestConfig, SeriesName, StrategyAst } from '../engine/index.ts';
import type { Catalogue, CatalogueEntry } from '../market/catalogue.ts';
import { TIER_LIMITS, type Tier } from '../tiers.ts';
import { problem, type ProblemIssue } from './problems.ts';

/** Small backtests cost about as much to hand over as a thousand bars cost to run. */
const COST_OF_A_RUN = 1_000;
/** An issue names a few symbols; the whole list is one request away. */
const SYMBOLS_SHOWN = 20;

/** Looks at requests of one call; equal strategies with equal params are prepared once. */
export class BacktestCheck {
  readonly #catalogue: Catalogue;
  readonly #tier: Tier;
  readonly #prepared = new Map<string, readonly ProblemIssue[]>();

  constructor(catalogue: Catalogue, tier: Tier) {
    this.#catalogue = catalogue;
    this.#tier = tier;
  }

  /**
   * What is stored of the request. `root` goes before the paths of issues.
   * @throws BACKTEST_CONFIG_INVALID with every fault, RANGE_NO_DATA, TIER_LIMIT_REACHED
   */
  async accept(version: StrategyVersion, config: BacktestConfig, root = ''): Promise<NewBacktest> {
    const symbol = config.signalInstrument.symbol;
    const base = await this.#catalogue.find(symbol, config.timeframe);
    const foreign = foreignSeries(version.strategyAst, symbol, config.timeframe);
    const issues = [
      ...(base ? [] : [await this.#unavailable(symbol, config.timeframe)]),
      ...configFaults(config, base?.instrument),
      ...this.#strategyFaults(version, config),
      ...(await this.#foreignFaults(foreign)),
    ];
    if (issues.length > 0 || !base)
      throw problem('BACKTEST_CONFIG_INVALID', {
        message: issues.length === 1 ? issues[0].message : `The config has ${issues.length} faults; see issues.`,
        issues: issues.map((issue) => ({ ...issue, path: root + issue.path })),
      });
    const bars = barsInRange(config, base);
    this.#limitBars(bars);
    return {
      strategyId: version.strategyId,
      strategyVersionId: version.id,
      symbol,
      timeframe: config.timeframe,
      config,
      ...(await this.#inputs(version, config, foreign)),
      cost: costOf(config, base) + COST_OF_A_RUN,
    };
  }

  /** What it may read, and the key under which an equal run is found. */
  async #inputs(version: StrategyVersion, config: BacktestConfig, foreign: readonly SeriesName[]) {
    const series = [{ symbol: config.signalInstrument.symbol, timeframe: config.timeframe }, ...foreign];
    const read = await Promise.all(series.map((each) => this.#catalogue.readable(each.symbol, each.timeframe)));
    const snapshots = [...new Set(read.flat().map((entry) => entry.sha256))].sort();
    const resolved = resolveConfig(config);
    const runKey = hashOf({
      engine: ENGINE_VERSION,
      strategy: version.strategyHash,
      snapshots,
      config: resolved,
      // A pointer means a place in one spelling of the strategy.
      version: Object.keys(resolved.overrides).length > 0 ? version.id : null,
    });
    return { snapshots, runKey };
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
      suggestion: `Use one of ${symbols.slice(0, SYMBOLS_SHOWN).join(', ')}; GET /public/v1/market-data lists all.`,
    };
  }

  #strategyFaults(version: StrategyVersion, config: BacktestConfig): readonly ProblemIssue[] {
    const { timeframe, params = {}, overrides = {} } = config;
    const key = JSON.stringify([version.id, timeframe, params, overrides]);
    const known = this.#prepared.get(key);
    if (known) return known;
    // Stored payloads were checked when they became ready.
    const ast = version.strategyAst as unknown as StrategyAst;
    const prepared = prepareStrategy(ast, version.settings, { params, overrides }, { timeframe });
    const issues = prepared.ok ? [] : prepared.issues.filter((issue) => issue.severity === 'error');
    this.#prepared.set(key, issues);
    return issues;
  }

  async #foreignFaults(foreign: readonly SeriesName[]): Promise<ProblemIssue[]> {
    const faults = foreign.map(async ({ symbol, timeframe }): Promise<ProblemIssue[]> => {
      if (await this.#catalogue.find(symbol, timeframe)) return [];
      const message = `The strategy reads ${symbol} ${timeframe}, of which there is no market data.`;
      return [
        {
          code: 'SYMBOL_NOT_AVAILABLE',
          path: '/strategyVersionId',
          field: 'strategyVersionId',
          severity: 'error',
          message,
        },
      ];
    });
    return (await Promise.all(faults)).flat();
  }

  #limitBars(bars: number): void {
    const limit = TIER_LIMITS[this.#tier].barsPerBacktest;
    if (bars <= limit) return;
    throw problem('TIER_LIMIT_REACHED', {
      message: `This backtest has about ${bars} bars; the ${this.#tier} tier allows ${limit}. Use a shorter range or a coarser timeframe.`,
      extras: { limitName: 'barsPerBacktest', limit, usage: bars },
    });
  }
}

/** Bars of the base timeframe in the range, at most. */
function barsInRange(config: BacktestConfig, base: CatalogueEntry): number {
  const { start, end } = resolveConfig(config).range;
  const from = Math.max(start ?? base.start, base.start);
  const to = Math.min(end ?? base.end, base.end);
  if (from >= to) {
    const available = { start: base.start, end: base.end };
    throw problem('RANGE_NO_DATA', {
      message: `The range holds no bars: ${base.symbol} has ${new Date(base.start).toISOString()} to ${new Date(base.end).toISOString()}.`,
      extras: { available },
    });
  }
  return Math.ceil((to - from) / TIMEFRAME_MS[config.timeframe]);
}

/** Columns are computed from the first bar of the data to the end of the range. */
function costOf(config: BacktestConfig, base: CatalogueEntry): number {
  const end = Math.min(resolveConfig(config).range.end ?? base.end, base.end);
  return Math.ceil((end - base.start) / TIMEFRAME_MS[config.timeframe]);
}
