// The bars of commands that run a strategy: from files, or from a catalog, opened as a market or as a universe.
import { basename } from 'node:path';
import type { Command } from 'commander';
import {
  configIssues,
  createUniverse,
  foreignSeries,
  isPortfolio,
  placeOfSeries,
  quoteIssues,
  sourceTimeframe,
  symbolsOf,
} from '../engine/index.ts';
import type { BacktestConfig, Market, SeriesName, Snapshot, Universe, ValidationIssue } from '../engine/index.ts';
import { parseBarsArgument, readBarsFileWithReport } from '../market/import/barsFile.ts';
import { isWarning } from '../market/import/importReport.ts';
import { parseInstrumentFields } from '../market/instrument.ts';
import { fileSource, openMarketSource, seriesHint, type MarketSource, type SeriesSource } from './marketSource.ts';
import { CommandError, refusal, UsageError } from './output.ts';
import type { CheckedStrategy } from './runInputs.ts';

export interface MarketOptions {
  readonly bars?: readonly string[];
  readonly instrument?: string;
  readonly data?: string;
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

interface OpenedMarket {
  readonly market: Market;
  /** The sources of the bars: first the base, then what else the run reads. */
  readonly sources: readonly SeriesSource[];
  /** The snapshots that the market was opened from. */
  readonly snapshots: readonly Snapshot[];
}

/** The market of a run, or the universe of a config with a list. */
export type OpenedRun = Omit<OpenedMarket, 'market'> & { readonly market: Market | Universe };

type OpenedStrategy = Pick<CheckedStrategy, 'strategyAst' | 'signalGraph'>;

/** What a run of one instrument reads; see `openRun`. */
export async function openMarket(
  config: BacktestConfig,
  strategy: OpenedStrategy,
  options: MarketOptions,
): Promise<OpenedMarket> {
  const { universe, ...opened } = await openUniverse(config, strategy, options);
  return { ...opened, market: universe.instruments[0] };
}

/**
 * The bars named with `--bars`, else those of the catalog or of `--data`. A file without SYMBOL:TIMEFRAME= holds bars
 * of the config's instrument.
 * @param listPath where the list of instruments stands, if not in the config
 */
export async function openRun(
  config: BacktestConfig,
  strategy: OpenedStrategy,
  options: MarketOptions,
  listPath?: string,
): Promise<OpenedRun> {
  const { universe, ...opened } = await openUniverse(config, strategy, options, listPath);
  return { ...opened, market: isPortfolio(config) ? universe : universe.instruments[0] };
}

async function openUniverse(
  config: BacktestConfig,
  { strategyAst, signalGraph }: OpenedStrategy,
  options: MarketOptions,
  listPath?: string,
): Promise<Omit<OpenedMarket, 'market'> & { readonly universe: Universe }> {
  const { timeframe, benchmark } = config;
  const symbols = symbolsOf(config);
  requireFittingOptions(config, options);
  const own = new Set(symbols);
  const foreign = [
    ...foreignSeries(strategyAst, '', timeframe).filter(({ symbol }) => !own.has(symbol)),
    ...(benchmark && !own.has(benchmark.symbol) ? [{ symbol: benchmark.symbol, timeframe }] : []),
  ];
  const wanted = [...symbols.map((symbol) => ({ symbol, timeframe })), ...foreign];
  const { snapshots, describe } = await (options.bars
    ? readBarsFiles(options.bars, symbols[0], options.instrument)
    : readSeries(wanted, options.data));
  await requireBars(config, snapshots, options, listPath);
  const universe = createUniverse(snapshots, symbols, timeframe);
  const { instruments } = universe;
  requireRunnable(config, universe, foreign, (series) =>
    series.symbol === benchmark?.symbol ? '/config/benchmark/symbol' : placeOfSeries(strategyAst, signalGraph, series),
  );
  const read = [
    ...instruments.map(({ base }) => base),
    ...foreign.map((series) => instruments[0].bars(series.symbol, series.timeframe)),
    ...instruments.map(({ fine }) => fine),
  ];
  const bySha256 = new Map(snapshots.map((snapshot) => [snapshot.meta.sha256, snapshot]));
  const sources = read.flatMap((bars) => {
    const snapshot = bars && bySha256.get(bars.sha256);
    return snapshot ? [describe(bars.symbol, bars.timeframe, snapshot.meta)] : [];
  });
  return { universe, sources, snapshots };
}

/** @throws UsageError */
function requireFittingOptions(config: BacktestConfig, { bars, instrument }: MarketOptions): void {
  if (instrument !== undefined && bars === undefined)
    throw new UsageError('--instrument describes the bars of a file. Give the file with --bars.');
  if (!isPortfolio(config)) return;
  if (instrument !== undefined)
    throw new UsageError('--instrument describes one instrument, and this config has a list. Import the bars instead.');
  const unnamed = bars?.find((argument) => parseBarsArgument(argument).symbol === undefined);
  if (unnamed !== undefined)
    throw new UsageError(`--bars ${unnamed} must say whose bars it holds: --bars SYMBOL:${config.timeframe}=FILE.`);
}

/** How many unknown symbols are looked up among the known ones. */
const MAX_HINTS = 20;

/**
 * @throws CommandError SYMBOL_NOT_AVAILABLE, or of a list, with every missing instrument, BACKTEST_CONFIG_INVALID or,
 *   where a space gave the list, SWEEP_INVALID
 */
async function requireBars(
  config: BacktestConfig,
  snapshots: readonly Snapshot[],
  { bars, data }: MarketOptions,
  listPath: string | undefined,
): Promise<void> {
  const { timeframe } = config;
  const bySymbol = Map.groupBy(snapshots, ({ meta }) => meta.symbol);
  const missing = symbolsOf(config).flatMap((symbol, at) => {
    const stored = (bySymbol.get(symbol) ?? []).map(({ meta }) => meta.timeframe);
    return sourceTimeframe(stored, timeframe, () => true) === undefined ? [{ symbol, at }] : [];
  });
  if (missing.length === 0) return;
  const hintOf = async (symbol: string): Promise<string> =>
    bars ? `The bars given are ${listOf(snapshots)}.` : seriesHint(symbol, data);
  const messageOf = (symbol: string): string =>
    `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from.`;
  if (!isPortfolio(config)) {
    const [{ symbol }] = missing;
    throw new CommandError(`${messageOf(symbol)} ${await hintOf(symbol)}`, 'SYMBOL_NOT_AVAILABLE');
  }
  const faults = [];
  for (const [index, { symbol, at }] of missing.entries())
    faults.push({
      path: listPath === undefined ? `/config/instruments/${at}/symbol` : `${listPath}/${at}`,
      message: messageOf(symbol),
      ...(index < MAX_HINTS && { suggestion: await hintOf(symbol) }),
    });
  if (listPath !== undefined) throw refusal('SWEEP_INVALID', 'The sweep cannot be run', faults);
  throw refusal('BACKTEST_CONFIG_INVALID', 'The config cannot be run', faults);
}

function requireRunnable(
  config: BacktestConfig,
  { instruments }: Universe,
  foreign: readonly SeriesName[],
  placeOf: (series: SeriesName) => string,
): void {
  const known = instruments.map(({ instrument }) => instrument);
  const faults: ValidationIssue[] = [...configIssues(config, ...known), ...quoteIssues(known)];
  for (const series of foreign) {
    const { symbol, timeframe } = series;
    const path = placeOf(series);
    if (!instruments[0].bars(symbol, timeframe))
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
      // Without SYMBOL:TIMEFRAME=, the name of the file must not contradict the config.
      const checked = named.symbol === undefined ? { mustBe: symbol } : {};
      const options = { symbol, ...named, ...checked, ...(isBase && fields && { instrument: fields }) };
      const { snapshot, report } = await readBarsFileWithReport(path, options);
      for (const note of report.notes) if (isWarning(note)) process.stderr.write(`${basename(path)}: ${note}\n`);
      return { path, snapshot };
    }),
  );
  refuseTwice(read);
  const pathOf = new Map(read.map(({ path, snapshot }) => [snapshot.meta.sha256, path]));
  return {
    snapshots: read.map(({ snapshot }) => snapshot),
    describe: (_, timeframe, meta) => fileSource(pathOf.get(meta.sha256) ?? '', timeframe, meta),
  };
}

/** @throws UsageError when two files hold the same series */
function refuseTwice(read: readonly { readonly path: string; readonly snapshot: Snapshot }[]): void {
  const nameOf = ({ meta }: Snapshot): string => `${meta.symbol} ${meta.timeframe}`;
  read.forEach(({ path, snapshot }, at) => {
    const first = read.findIndex((other) => nameOf(other.snapshot) === nameOf(snapshot));
    if (first === at) return;
    throw new UsageError(
      `--bars ${read[first].path} and --bars ${path} both hold ${nameOf(snapshot)}. Give one of them; data import ` +
        'joins the files of a series.',
    );
  });
}

async function readSeries(wanted: readonly SeriesName[], folder: string | undefined): Promise<ReadSnapshots> {
  const symbols = [...new Set(wanted.map(({ symbol }) => symbol))];
  const { catalog, describe } = await openMarketSource(symbols, folder);
  const found = await Promise.all(wanted.map(({ symbol, timeframe }) => catalog.snapshots(symbol, timeframe)));
  const bySha256 = new Map(found.flat().map((snapshot) => [snapshot.meta.sha256, snapshot]));
  return { snapshots: [...bySha256.values()], describe };
}
