// The inputs of commands that run a strategy: a checked strategy, its settings, a config, and the market they read.
import { basename } from 'node:path';
import type { Command } from 'commander';
import {
  BacktestConfig,
  checkConfigForm,
  checkStrategy,
  configIssues,
  createMarket,
  foreignSeries,
  placeOfSeries,
  sourceTimeframe,
  symbolsOf,
} from '../engine/index.ts';
import type {
  CheckOutcome,
  Market,
  SeriesName,
  Settings,
  SignalGraph,
  Snapshot,
  StoredTimeframe,
  StrategyAst,
  Timeframe,
} from '../engine/index.ts';
import { parseBarsArgument, readBarsFile } from '../market/barsFile.ts';
import { parseInstrumentFields } from '../market/instrument.ts';
import { fileSource, openMarketSource, seriesHint, type MarketSource, type SeriesSource } from './marketSource.ts';
import { CommandError, refusal, UsageError } from './output.ts';
import { readJsonObject, readPayloads, type StrategyOptions } from './strategyFile.ts';

export interface MarketOptions {
  readonly bars?: readonly string[];
  readonly instrument?: string;
  readonly data?: string;
}
interface CheckedStrategy {
  readonly strategyAst: StrategyAst;
  /** Set if the file holds a graph, into which the pointers of a space may point. */
  readonly signalGraph?: SignalGraph;
  readonly settings: Settings;
  readonly strategyHash: string;
  readonly issues: CheckOutcome['issues'];
  /** The name of the strategy, else that of its file; for the headings of reports. */
  readonly title: string;
}

/** An option that may be given several times. */
export const repeated = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Adds `--bars`, `--instrument` and `--data`, which `openMarket` reads. */
export const withMarketOptions = (command: Command): Command =>
  command
    .option(
      '--bars <file>',
      'bars in place of the catalog: FILE, or SYMBOL:TIMEFRAME=FILE for finer bars and other instruments; repeatable',
      repeated,
    )
    .option('--instrument <json>', 'metadata of the signal instrument, such as {"qtyStep":1}; only with --bars')
    .option('--data <folder>', 'a folder of files named SYMBOL-timeframe.csv.gz, in place of the catalog');

/** @throws CommandError STRATEGY_INVALID with every issue. */
export async function readCheckedStrategy(
  options: StrategyOptions,
  baseTimeframe?: Timeframe,
): Promise<CheckedStrategy> {
  const payloads = await readPayloads(options);
  const outcome = checkStrategy(payloads, { baseTimeframe });
  if (outcome.compiled === null || !outcome.valid)
    throw refusal('STRATEGY_INVALID', `${options.strategy} is not valid`, outcome.issues);
  const { strategyAst, strategyHash } = outcome.compiled;
  const signalGraph = payloads.signalGraph as SignalGraph | undefined;
  return {
    strategyAst,
    ...(signalGraph && { signalGraph }),
    settings: payloads.settings,
    strategyHash,
    issues: outcome.issues,
    title: titleOf([payloads.name, strategyAst.meta?.name], options.strategy),
  };
}

const titleOf = (names: readonly unknown[], path: string): string =>
  names.find((name): name is string => typeof name === 'string' && name !== '') ??
  basename(path).replace(/\.json$/i, '');

/** @throws CommandError BACKTEST_CONFIG_INVALID with every issue. */
export async function readConfigFile(path: string): Promise<BacktestConfig> {
  const content = await readJsonObject(path);
  const config = 'config' in content ? content.config : content;
  const parsed = BacktestConfig.safeParse(config);
  if (parsed.success) return parsed.data;
  if (config === content && ('strategyAst' in content || 'signalGraph' in content || 'protocol' in content))
    throw new CommandError(
      `${path} holds a strategy, not the config of a backtest: give it as --strategy.`,
      'BACKTEST_CONFIG_INVALID',
    );
  const { issues } = checkConfigForm(config);
  const unexplained = parsed.error.issues.map((issue) => ({
    path: `/config/${issue.path.join('/')}`,
    message: issue.message,
  }));
  throw refusal(
    'BACKTEST_CONFIG_INVALID',
    `${path} is not a backtest config`,
    issues.length > 0 ? issues : unexplained,
  );
}

export interface OpenedMarket {
  readonly market: Market;
  /** The sources of the bars: first the base, then what else the run reads. */
  readonly sources: readonly SeriesSource[];
  /** The snapshots that the market was opened from. */
  readonly snapshots: readonly Snapshot[];
}

/**
 * The bars named with `--bars`, else those of the catalog or of `--data`. A file without SYMBOL:TIMEFRAME= holds bars
 * of the config's instrument.
 */
export async function openMarket(
  config: BacktestConfig,
  { strategyAst, signalGraph }: Pick<CheckedStrategy, 'strategyAst' | 'signalGraph'>,
  options: MarketOptions,
): Promise<OpenedMarket> {
  if (options.instrument !== undefined && options.bars === undefined)
    throw new UsageError('--instrument describes the bars of a file. Give the file with --bars.');
  const { timeframe } = config;
  const [symbol] = symbolsOf(config);
  const wanted = [{ symbol, timeframe }, ...foreignSeries(strategyAst, symbol, timeframe)];
  const { snapshots, describe } = await (options.bars
    ? readBarsFiles(options.bars, symbol, options.instrument)
    : readSeries(wanted, options.data));
  if (sourceTimeframe(timeframesOf(snapshots, symbol), timeframe, () => true) === undefined) {
    const known = options.bars ? `The bars given are ${listOf(snapshots)}.` : await seriesHint(symbol, options.data);
    throw new CommandError(
      `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from. ${known}`,
      'SYMBOL_NOT_AVAILABLE',
    );
  }
  const market = createMarket(snapshots, symbol, timeframe);
  requireRunnable(config, market, wanted.slice(1), (series) => placeOfSeries(strategyAst, signalGraph, series));
  const read = [market.base, ...wanted.slice(1).map((series) => market.bars(series.symbol, series.timeframe))];
  if (market.fine) read.push(market.fine);
  const sources = read.flatMap((bars) => {
    const snapshot = snapshots.find(({ meta }) => meta.sha256 === bars?.sha256);
    return bars && snapshot ? [describe(bars.symbol, bars.timeframe, snapshot.meta)] : [];
  });
  return { market, sources, snapshots };
}

function requireRunnable(
  config: BacktestConfig,
  market: Market,
  foreign: readonly SeriesName[],
  placeOf: (series: SeriesName) => string,
): void {
  const faults = configIssues(config, market.instrument);
  for (const series of foreign) {
    const { symbol, timeframe } = series;
    const path = placeOf(series);
    if (!market.bars(symbol, timeframe))
      faults.push({
        code: 'SYMBOL_NOT_AVAILABLE',
        path,
        field: path.split('/')[1],
        severity: 'error',
        message:
          `The strategy reads ${timeframe} bars of ${symbol}, and there are none. Import them, or give them with ` +
          '--bars.',
      });
  }
  if (faults.length > 0) throw refusal('BACKTEST_CONFIG_INVALID', 'The config cannot be run', faults);
}

const timeframesOf = (snapshots: readonly Snapshot[], symbol: string): StoredTimeframe[] =>
  snapshots.filter(({ meta }) => meta.symbol === symbol).map(({ meta }) => meta.timeframe);

const listOf = (snapshots: readonly Snapshot[]): string =>
  snapshots.map(({ meta }) => `${meta.symbol} ${meta.timeframe}`).join(', ');

interface ReadSnapshots {
  readonly snapshots: readonly Snapshot[];
  readonly describe: MarketSource['describe'];
}

async function readBarsFiles(
  files: readonly string[],
  symbol: string,
  instrument: string | undefined,
): Promise<ReadSnapshots> {
  const fields = instrument === undefined ? undefined : parseInstrumentFields(instrument);
  const read = await Promise.all(
    files.map(async (argument) => {
      const { path, ...named } = parseBarsArgument(argument);
      const isBase = named.symbol === undefined || named.symbol === symbol;
      const snapshot = await readBarsFile(path, { symbol, ...named, ...(isBase && fields && { instrument: fields }) });
      return { path, snapshot };
    }),
  );
  const pathOf = new Map(read.map(({ path, snapshot }) => [snapshot.meta.sha256, path]));
  return {
    snapshots: read.map(({ snapshot }) => snapshot),
    describe: (_, timeframe, meta) => fileSource(pathOf.get(meta.sha256) ?? '', timeframe, meta),
  };
}

async function readSeries(wanted: readonly SeriesName[], folder: string | undefined): Promise<ReadSnapshots> {
  const symbols = [...new Set(wanted.map(({ symbol }) => symbol))];
  const { catalog, describe } = await openMarketSource(symbols, folder);
  const found = await Promise.all(wanted.map(({ symbol, timeframe }) => catalog.snapshots(symbol, timeframe)));
  const bySha256 = new Map(found.flat().map((snapshot) => [snapshot.meta.sha256, snapshot]));
  return { snapshots: [...bySha256.values()], describe };
}
