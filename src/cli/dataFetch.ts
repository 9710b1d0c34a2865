// candlepool data fetch: downloads bars of an exchange or of Yahoo into the catalog, or into a folder of files.
import { setTimeout as wait } from 'node:timers/promises';
import { divides, longestMs } from '../engine/index.ts';
import type { Timeframe } from '../engine/index.ts';
import { SourceError } from '../market/download/barSource.ts';
import type { BarSource, SourceMarket } from '../market/download/barSource.ts';
import { ccxtSource } from '../market/download/ccxtSource.ts';
import type { CcxtModule } from '../market/download/ccxtSource.ts';
import { downloadSeries } from '../market/download/downloadSeries.ts';
import type { Downloaded, DownloadPatience } from '../market/download/downloadSeries.ts';
import { catalogTarget, folderTarget } from '../market/download/downloadTarget.ts';
import type { DownloadTarget } from '../market/download/downloadTarget.ts';
import { loadOptional } from '../market/download/optionalPackage.ts';
import { withRetries } from '../market/download/retries.ts';
import { yahooSource } from '../market/download/yahooSource.ts';
import type { YahooModule } from '../market/download/yahooSource.ts';
import { counted, durationText, isoTime, rangeOf } from '../market/formatting.ts';
import { MarketDataError } from '../market/import/importError.ts';
import { makeInstrument, parseInstrumentFields } from '../market/instrument.ts';
import type { InstrumentFields } from '../market/instrument.ts';
import { readConfig } from '../config.ts';
import { openData } from './dataCatalog.ts';
import { describeEntry, printImport } from './dataImport.ts';
import { CommandError, printJson, printLine, reportFailure, UsageError } from './output.ts';
import { startProgress } from './progress.ts';

export interface FetchOptions {
  readonly exchange?: string;
  readonly source?: 'yahoo';
  readonly symbol: readonly string[];
  readonly as?: string;
  readonly timeframe: Timeframe;
  readonly since?: number;
  readonly until?: number;
  readonly data?: string;
  readonly replace?: boolean;
  readonly adjusted?: boolean;
  readonly dropNa?: boolean;
  readonly instrument?: string;
  readonly url?: string;
  readonly json?: boolean;
}

export async function fetchBars(options: FetchOptions): Promise<void> {
  checkOptions(options);
  const given = options.instrument === undefined ? {} : parseInstrumentFields(options.instrument);
  // All of them before the first bar, because most mistakes are in their names.
  const source = await openSource(options);
  const markets: SourceMarket[] = [];
  for (const symbol of new Set(options.symbol)) {
    const market = await withRetries(() => source.market(symbol, options.timeframe), PATIENCE);
    const named = options.as === undefined ? market : { ...market, symbol: options.as };
    makeInstrument(named.symbol, given);
    markets.push(named);
  }
  await using target = await openTarget(options.data);
  for (const market of markets) {
    try {
      print(source, market, await downloadOne(source, market, target, options, given), options);
    } catch (error) {
      // The next series may be sound, unless nobody answers.
      const isOfSeries = error instanceof MarketDataError || (error instanceof CommandError && error.code === NO_BARS);
      if (!isOfSeries) throw error;
      process.exitCode = reportFailure(named(error, market), options.json === true);
    }
  }
}

function checkOptions({ exchange, source, symbol, as, since, until, adjusted }: FetchOptions): void {
  if ((exchange === undefined) === (source === undefined))
    throw new UsageError('Give either --exchange, such as --exchange binance, or --source yahoo.');
  if (as !== undefined && symbol.length > 1)
    throw new UsageError('--as renames one symbol. Give one --symbol with it.');
  if (since !== undefined && since >= (until ?? Date.now()))
    throw new UsageError('--since must be before --until, which is now by default.');
  if (adjusted && source === undefined)
    throw new UsageError('--adjusted belongs to --source yahoo: the bars of an exchange have no adjusted close.');
}

const NO_BARS = 'NO_ROWS';
const PATIENCE: DownloadPatience = { wait: (ms) => wait(ms), now: Date.now, onPage: () => {} };

/** @throws MarketDataError PACKAGE_MISSING */
async function openSource({ exchange, symbol, timeframe, url }: FetchOptions): Promise<BarSource> {
  const source =
    exchange === undefined
      ? yahooSource((await loadOptional('yahoo-finance2', 'A download from Yahoo')) as YahooModule, url)
      : ccxtSource((await loadOptional('ccxt', 'A download from an exchange')) as CcxtModule, {
          exchange,
          symbols: symbol,
          ...(url !== undefined && { url }),
        });
  if (source.timeframes.includes(timeframe)) return source;
  const finer = source.timeframes.filter((each) => divides(each, timeframe)).at(-1);
  throw new UsageError(
    `${source.name} has no ${timeframe} bars. It has ${source.timeframes.join(', ')}` +
      (finer === undefined ? '.' : `; runs make ${timeframe} bars out of ${finer} bars.`),
  );
}

async function openTarget(folder: string | undefined): Promise<DownloadTarget & AsyncDisposable> {
  if (folder !== undefined) return { ...(await folderTarget(folder)), [Symbol.asyncDispose]: async () => {} };
  const opened = await openData();
  const target = catalogTarget(opened.catalog, readConfig().dataDir);
  return { ...target, [Symbol.asyncDispose]: async () => opened[Symbol.asyncDispose]() };
}

async function downloadOne(
  source: BarSource,
  market: SourceMarket,
  target: DownloadTarget,
  options: FetchOptions,
  given: InstrumentFields,
): Promise<Downloaded> {
  const stepMs = longestMs(market.timeframe);
  let progress: ReturnType<typeof startProgress> | null = null;
  let begun: { readonly from: number } | null = null;
  let bars = 0;
  const patience: DownloadPatience = {
    ...PATIENCE,
    onPage: (range, reached) => {
      if (begun !== range)
        progress = startProgress(`${market.symbol} ${market.timeframe}`, Math.floor((range.to - range.from) / stepMs));
      begun = range;
      bars = Math.floor((reached - range.from) / stepMs);
      progress?.update(bars, isoTime(reached));
    },
    onWait: (ms, { message }) => progress?.update(bars, `waits ${durationText(ms)}: ${message}`, true),
  };
  const { since, until, replace, dropNa, adjusted } = options;
  try {
    return await downloadSeries(
      source,
      market,
      target,
      { since, until, isReplacing: replace === true, given, dropNa, adjusted },
      patience,
    );
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw new CommandError(
      `${market.symbol} ${market.timeframe}: ${error.message} The bars that arrived are kept, and the same ` +
        'command goes on after them.',
      'SOURCE_FAILED',
    );
  } finally {
    (progress as Disposable | null)?.[Symbol.dispose]();
  }
}

const named = (error: Error, { symbol, timeframe }: SourceMarket): Error =>
  error instanceof MarketDataError
    ? new MarketDataError(error.refusals, error.total, `${symbol} ${timeframe}: ${error.message}`)
    : error;

function print(
  { name }: BarSource,
  { sourceSymbol, timeframe }: SourceMarket,
  { added, imported, stored }: Downloaded,
  { json }: FetchOptions,
): void {
  if (imported !== null) return printImport(imported.entry, imported.report, json === true, { added });
  if (stored === null)
    throw new CommandError(`${name} has no ${timeframe} bars of ${sourceSymbol} in that time.`, NO_BARS);
  if (json) return printJson({ ...describeEntry(stored), added });
  printLine(
    `${stored.symbol} ${stored.timeframe} is up to date: ${counted(stored.bars, 'bar')}, ${rangeOf(stored)}. ` +
      `${name} has no newer bar that has ended.`,
  );
}
