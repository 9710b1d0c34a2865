// Bars files: one file read straight into a snapshot, without a catalogue (`--bars`).
import { basename } from 'node:path';
import { STORED_TIMEFRAMES } from '../engine/columns/bars.ts';
import type { StoredTimeframe } from '../engine/columns/bars.ts';
import type { Snapshot } from '../engine/columns/arrow.ts';
import { readBars } from './barsTable.ts';
import type { ImportReport } from './barsTable.ts';
import { makeInstrument } from './instrument.ts';
import type { InstrumentFields } from './instrument.ts';
import { refuse } from './refusal.ts';
import { makeSnapshot } from './snapshotFiles.ts';
import { readSourceFile } from './sourceFile.ts';

export interface BarsFileOptions {
  /** Default: what the file's name begins with, BTCUSDT of BTCUSDT-1h.csv.gz. */
  readonly symbol?: string;
  /** Default: told by the bars; the file's name decides where a single bar cannot. */
  readonly timeframe?: StoredTimeframe;
  readonly timeIs?: 'open' | 'close';
  /** Overrides of the defaults: tradesAllDay true, qtyStep 1e-8, no tickSize, no minNotional. */
  readonly instrument?: InstrumentFields;
}

/**
 * Reads CSV, CSV.gz, JSON, Parquet or Arrow.
 * @throws MarketDataError
 */
export async function readBarsFile(path: string, options: BarsFileOptions = {}): Promise<Snapshot> {
  return (await readBarsFileWithReport(path, options)).snapshot;
}

/** The same, with what was found out of the file. */
export async function readBarsFileWithReport(
  path: string,
  options: BarsFileOptions = {},
): Promise<{ snapshot: Snapshot; report: ImportReport }> {
  const named = nameParts(path);
  const symbol = options.symbol ?? named.symbol;
  const instrument = makeInstrument(symbol, options.instrument);
  const { columns, report } = readBars(await readSourceFile(path), { ...options, timeframeHint: named.timeframe });
  return { snapshot: makeSnapshot(columns, { symbol, timeframe: report.timeframe, instrument }), report };
}

/**
 * One `--bars` argument: FILE, or SYMBOL:TIMEFRAME=FILE. A path that itself holds a `=` is written `./a=b.csv`.
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
  return found ?? refuse('TIMEFRAME_UNKNOWN', `"${text}" is no stored timeframe: use ${STORED_TIMEFRAMES.join(', ')}.`);
}

/** BTCUSDT-1h.csv.gz is BTCUSDT at 1h; Binance's BTCUSDT-1m-2024-01.csv is BTCUSDT at 1m; SYN-BTC-1m.csv is SYN-BTC at 1m. */
export function nameParts(path: string): { symbol: string; timeframe?: StoredTimeframe } {
  const [stem] = /^[^.]*/.exec(basename(path))!;
  const timeframes = STORED_TIMEFRAMES.join('|');
  const match = new RegExp(`^(.+?)[-_ ](${timeframes})(?:[-_ ].*)?$`, 'i').exec(stem);
  if (!match) return { symbol: stem };
  return { symbol: match[1], timeframe: match[2].toLowerCase() as StoredTimeframe };
}
