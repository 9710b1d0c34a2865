// Bars files: one file read straight into a snapshot, without a catalog (`--bars`).
import { basename } from 'node:path';
import { TIMEFRAMES } from '../../engine/bars/bars.ts';
import type { Timeframe } from '../../engine/bars/bars.ts';
import type { Snapshot } from '../../engine/bars/arrow.ts';
import type { ImportReport } from './importReport.ts';
import { makeInstrument } from '../instrument.ts';
import type { InstrumentFields } from '../instrument.ts';
import { MarketDataError, refuse } from './importError.ts';
import { readSeries } from './severalSeries.ts';
import { makeSnapshot } from '../snapshotFiles.ts';
import { readSourceFile } from './sourceFile.ts';

interface BarsFileOptions {
  /** Default: the start of the file's name, such as BTCUSDT in BTCUSDT-1h.csv.gz. */
  readonly symbol?: string;
  /** Default: inferred from the bars, or from the file's name if there is only one bar. */
  readonly timeframe?: Timeframe;
  readonly timeIs?: 'open' | 'close';
  /** Refuses a file that names another symbol, by its name or in a column. */
  readonly mustBe?: string;
  /** Overrides the defaults: tradesAllDay inferred from the bars, qtyStep 1e-8, no tickSize, no minNotional. */
  readonly instrument?: InstrumentFields;
}

/**
 * Reads CSV, CSV.gz, JSON, Parquet or Arrow.
 * @throws MarketDataError
 */
export async function readBarsFile(path: string, options: BarsFileOptions = {}): Promise<Snapshot> {
  return (await readBarsFileWithReport(path, options)).snapshot;
}

/** Reads a bars file, with a report of what was inferred from it. */
export async function readBarsFileWithReport(
  path: string,
  options: BarsFileOptions = {},
): Promise<{ snapshot: Snapshot; report: ImportReport }> {
  const named = nameParts(path);
  const symbol = options.symbol ?? named.symbol;
  // Checked before the file is read.
  makeInstrument(symbol, options.instrument);
  const table = await readSourceFile(path);
  const [{ symbol: said, bars }] = withoutOptions(() =>
    readSeries(table, { ...options, timeframeHint: named.timeframe }, symbol),
  );
  if (options.mustBe !== undefined) refuseOther(path, options.mustBe, said);
  const { columns, report } = bars;
  const instrument = makeInstrument(symbol, options.instrument, report.calendar);
  return { snapshot: makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument }), report };
}

/** Says where the options are that a refusal names: a file that is read without an import has none. */
function withoutOptions<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MarketDataError) || !/--(?!bars|timeframe)[a-z]/.test(error.message)) throw error;
    const message = `${error.message}\nThese are options of data import: import the file, and run without naming it.`;
    throw new MarketDataError(error.refusals, error.total, message);
  }
}

/** A name such as GOOG.csv: capitals, as exchanges write symbols. */
const LIKE_A_SYMBOL = /^[A-Z][A-Z0-9]{0,9}$/;
const plainSymbol = (symbol: string): string => symbol.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** @throws MarketDataError SYMBOL_MISMATCH when the file says that its bars are those of another symbol */
function refuseOther(path: string, wanted: string, said: string | null): void {
  const { symbol, timeframe } = nameParts(path);
  const byName = timeframe !== undefined || LIKE_A_SYMBOL.test(symbol) ? symbol : null;
  const other = [said, byName].find((each) => each !== null && plainSymbol(each) !== plainSymbol(wanted));
  // A column that names the symbol is right where the name of the file is not.
  if (other === undefined || other === null || (said !== null && plainSymbol(said) === plainSymbol(wanted))) return;
  refuse(
    'SYMBOL_MISMATCH',
    `${basename(path)} holds bars of ${other}, by its ${other === said ? 'columns' : 'name'}, and the run is on ` +
      `${wanted}. Give the file of ${wanted}, or, if the bars are those of ${wanted}, write ` +
      `--bars ${wanted}:${timeframe ?? '1d'}=${path}.`,
  );
}

/**
 * One `--bars` argument: FILE, or SYMBOL:TIMEFRAME=FILE. A path that contains `=` must be written `./a=b.csv`.
 * @throws MarketDataError TIMEFRAME_UNKNOWN
 */
export function parseBarsArgument(argument: string): { path: string; symbol?: string; timeframe?: Timeframe } {
  const match = /^([^/\\=]+):([^/\\=:]+)=(.+)$/.exec(argument);
  if (!match) return { path: argument };
  const [, symbol, timeframe, path] = match;
  return { symbol, timeframe: parseTimeframe(timeframe), path };
}

/** @throws MarketDataError TIMEFRAME_UNKNOWN */
function parseTimeframe(text: string): Timeframe {
  const found = TIMEFRAMES.find((timeframe) => timeframe === text);
  return found ?? refuse('TIMEFRAME_UNKNOWN', `"${text}" is not a stored timeframe. Use ${TIMEFRAMES.join(', ')}.`);
}

/**
 * BTCUSDT-1h.csv.gz is BTCUSDT at 1h; Binance's BTCUSDT-1m-2024-01.csv is BTCUSDT at 1m and BTCUSDT-1mo-2024-01.csv at
 * 1M; SYN-BTC-1m.csv is SYN-BTC at 1m, and 7203.T-1d.csv is 7203.T at 1d.
 */
export function nameParts(path: string): { symbol: string; timeframe?: Timeframe } {
  const name = basename(path);
  const [stem] = /^[^.]*/.exec(name)!;
  const timeframes = TIMEFRAMES.join('|');
  const match = new RegExp(`^(.+?)[-_ ](${timeframes}|1mo)(?:[-_ .].*)?$`, 'i').exec(name);
  if (!match) return { symbol: stem };
  return { symbol: match[1], timeframe: timeframeNamed(match[2]) };
}

/** Minutes and months differ in the size of the letter alone. */
function timeframeNamed(text: string): Timeframe {
  if (text === '1M' || text.toLowerCase() === '1mo') return '1M';
  return TIMEFRAMES.find((timeframe) => timeframe === text.toLowerCase())!;
}
