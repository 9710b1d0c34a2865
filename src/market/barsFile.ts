// Bars files: one file read straight into a snapshot, without a catalog (`--bars`).
import { basename } from 'node:path';
import { STORED_TIMEFRAMES } from '../engine/bars/bars.ts';
import type { StoredTimeframe } from '../engine/bars/bars.ts';
import type { Snapshot } from '../engine/bars/arrow.ts';
import { readBars } from './barsTable.ts';
import type { ImportReport } from './importReport.ts';
import { makeInstrument } from './instrument.ts';
import type { InstrumentFields } from './instrument.ts';
import { refuse } from './importError.ts';
import { makeSnapshot } from './snapshotFiles.ts';
import { readSourceFile } from './sourceFile.ts';

interface BarsFileOptions {
  /** Default: the start of the file's name, such as BTCUSDT in BTCUSDT-1h.csv.gz. */
  readonly symbol?: string;
  /** Default: inferred from the bars, or from the file's name if there is only one bar. */
  readonly timeframe?: StoredTimeframe;
  readonly timeIs?: 'open' | 'close';
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
  const { columns, report } = readBars(await readSourceFile(path), { ...options, timeframeHint: named.timeframe });
  const instrument = makeInstrument(symbol, options.instrument, report.calendar);
  return { snapshot: makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument }), report };
}

/**
 * One `--bars` argument: FILE, or SYMBOL:TIMEFRAME=FILE. A path that contains `=` must be written `./a=b.csv`.
 * @throws MarketDataError TIMEFRAME_UNKNOWN
 */
export function parseBarsArgument(argument: string): { path: string; symbol?: string; timeframe?: StoredTimeframe } {
  const match = /^([^/\\=]+):([^/\\=:]+)=(.+)$/.exec(argument);
  if (!match) return { path: argument };
  const [, symbol, timeframe, path] = match;
  return { symbol, timeframe: parseTimeframe(timeframe), path };
}

/** @throws MarketDataError TIMEFRAME_UNKNOWN */
function parseTimeframe(text: string): StoredTimeframe {
  const found = STORED_TIMEFRAMES.find((timeframe) => timeframe === text);
  return (
    found ?? refuse('TIMEFRAME_UNKNOWN', `"${text}" is not a stored timeframe. Use ${STORED_TIMEFRAMES.join(', ')}.`)
  );
}

/**
 * BTCUSDT-1h.csv.gz is BTCUSDT at 1h; Binance's BTCUSDT-1m-2024-01.csv is BTCUSDT at 1m; SYN-BTC-1m.csv is SYN-BTC at
 * 1m.
 */
export function nameParts(path: string): { symbol: string; timeframe?: StoredTimeframe } {
  const [stem] = /^[^.]*/.exec(basename(path))!;
  const timeframes = STORED_TIMEFRAMES.join('|');
  const match = new RegExp(`^(.+?)[-_ ](${timeframes})(?:[-_ ].*)?$`, 'i').exec(stem);
  if (!match) return { symbol: stem };
  return { symbol: match[1], timeframe: match[2].toLowerCase() as StoredTimeframe };
}
