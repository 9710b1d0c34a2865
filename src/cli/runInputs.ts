// What `backtest` and `explain` run on: a checked strategy, its settings, a config, and the market they read.
import {
  BacktestConfig,
  checkStrategy,
  configFaults,
  createMarket,
  foreignSeries,
  sourceTimeframe,
} from '../engine/index.ts';
import type {
  CheckOutcome,
  Market,
  Settings,
  Snapshot,
  StoredTimeframe,
  StrategyAst,
  Timeframe,
} from '../engine/index.ts';
import { parseBarsArgument, readBarsFile } from '../market/barsFile.ts';
import { parseInstrumentFields } from '../market/instrument.ts';
import { openShippedData } from '../market/shipped.ts';
import { CommandError } from './output.ts';
import { readJsonObject, readStrategyFile } from './strategyFile.ts';

export interface StrategyOptions {
  readonly strategy: string;
  readonly settings?: string;
}
export interface MarketOptions {
  readonly bars?: readonly string[];
  readonly instrument?: string;
  readonly data?: string;
}
export interface CheckedStrategy {
  readonly strategyAst: StrategyAst;
  readonly settings: Settings;
  readonly strategyHash: string;
  readonly issues: CheckOutcome['issues'];
}

/** An option that may be given several times. */
export const repeated = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** @throws CommandError STRATEGY_INVALID with every fault. */
export async function readCheckedStrategy(
  options: StrategyOptions,
  baseTimeframe?: Timeframe,
): Promise<CheckedStrategy> {
  const { settings: inBody, ...payloads } = await readStrategyFile(options.strategy);
  const settings = options.settings === undefined ? (inBody ?? {}) : await readJsonObject(options.settings);
  const outcome = checkStrategy({ ...payloads, settings }, { baseTimeframe });
  if (outcome.compiled === null || !outcome.valid)
    throw refusal('STRATEGY_INVALID', `${options.strategy} is not valid`, outcome.issues);
  const { strategyAst, strategyHash } = outcome.compiled;
  return { strategyAst, settings, strategyHash, issues: outcome.issues };
}

/** @throws CommandError BACKTEST_CONFIG_INVALID with every fault. */
export async function readConfig(path: string): Promise<BacktestConfig> {
  const content = await readJsonObject(path);
  const parsed = BacktestConfig.safeParse('config' in content ? content.config : content);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => ({
    path: `/config/${issue.path.join('/')}`,
    message: issue.message,
  }));
  throw refusal('BACKTEST_CONFIG_INVALID', `${path} is no backtest config`, faults);
}

/**
 * The bars named with `--bars` in place of the catalogue, else the shipped series or those of `--data`. A file without SYMBOL:TIMEFRAME= holds
 * bars of the config's instrument.
 */
export async function openMarket(config: BacktestConfig, ast: StrategyAst, options: MarketOptions): Promise<Market> {
  const { timeframe, signalInstrument } = config;
  const { symbol } = signalInstrument;
  const wanted = [{ symbol, timeframe }, ...foreignSeries(ast, symbol, timeframe)];
  const snapshots = options.bars
    ? await barsFiles(options.bars, symbol, options.instrument)
    : await shipped(wanted, options);
  if (sourceTimeframe(timeframesOf(snapshots, symbol), timeframe) === undefined) {
    const there = options.bars
      ? `The bars given are: ${listOf(snapshots)}.`
      : 'candlepool data list shows the series there are.';
    throw new CommandError(
      `There are no ${timeframe} bars of ${symbol}, nor finer ones to make them from. ${there}`,
      'SYMBOL_NOT_AVAILABLE',
    );
  }
  const market = createMarket(snapshots, symbol, timeframe);
  const faults = configFaults(config, market.instrument);
  for (const { symbol, timeframe } of wanted.slice(1)) {
    if (!market.bars(symbol, timeframe))
      faults.push({
        code: 'SYMBOL_NOT_AVAILABLE',
        path: '/strategyAst',
        field: 'strategyAst',
        severity: 'error',
        message: `there are no ${timeframe} bars of ${symbol}`,
      });
  }
  if (faults.length > 0) throw refusal('BACKTEST_CONFIG_INVALID', 'The config cannot be run', faults);
  return market;
}

const timeframesOf = (snapshots: readonly Snapshot[], symbol: string): StoredTimeframe[] =>
  snapshots.filter(({ meta }) => meta.symbol === symbol).map(({ meta }) => meta.timeframe);

const listOf = (snapshots: readonly Snapshot[]): string =>
  snapshots.map(({ meta }) => `${meta.symbol} ${meta.timeframe}`).join(', ');

function barsFiles(files: readonly string[], symbol: string, instrument: string | undefined): Promise<Snapshot[]> {
  const fields = instrument === undefined ? undefined : parseInstrumentFields(instrument);
  return Promise.all(
    files.map((argument) => {
      const { path, ...named } = parseBarsArgument(argument);
      const isBase = named.symbol === undefined || named.symbol === symbol;
      return readBarsFile(path, { symbol, ...named, ...(isBase && fields && { instrument: fields }) });
    }),
  );
}

async function shipped(
  wanted: readonly { symbol: string; timeframe: string }[],
  options: MarketOptions,
): Promise<Snapshot[]> {
  const catalogue = await openShippedData(options.data);
  const found = await Promise.all(
    wanted.map((series) => catalogue.snapshots(series.symbol, series.timeframe as Timeframe)),
  );
  return [...new Map(found.flat().map((snapshot) => [snapshot.meta.sha256, snapshot])).values()];
}

function refusal(
  code: string,
  what: string,
  faults: readonly { readonly path: string; readonly message: string; readonly suggestion?: string }[],
): CommandError {
  const lines = faults.map(
    (fault) => `  ${fault.path}: ${fault.message}${fault.suggestion ? ` (${fault.suggestion})` : ''}`,
  );
  return new CommandError(`${what}:\n${lines.join('\n')}`, code);
}
