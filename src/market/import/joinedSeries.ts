// Joined series: the bars of many files, such as monthly dumps, as one series per symbol and timeframe.
import { basename } from 'node:path';
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import { nameParts } from './barsFile.ts';
import { MarketDataError } from './importError.ts';
import { summarizeSeries } from './importReport.ts';
import type { BarsTable } from './importReport.ts';
import type { InputFile } from './inputFiles.ts';
import { mergeBars } from './mergeBars.ts';
import type { ReadOptions } from './readOptions.ts';
import { readSeries } from './severalSeries.ts';
import { readSource } from './sourceFile.ts';

/** The bars of one symbol in one file. */
export interface SeriesPart {
  readonly symbol: string;
  readonly file: string;
  readonly bars: BarsTable;
}

/** One series, from all of its files. */
export interface JoinedSeries {
  readonly symbol: string;
  readonly bars: BarsTable;
  readonly files: readonly string[];
}

/**
 * The series of a file.
 * @param symbol default: what its name begins with, or what the file says if it holds several or has another name
 * @param maxBytes the most that it may unpack to
 * @throws MarketDataError whose message begins with the name of the file, if `isNamed`
 */
export async function readParts(
  { name, read }: InputFile,
  options: ReadOptions,
  symbol: string | undefined,
  isNamed: boolean,
  maxBytes?: number,
): Promise<readonly SeriesPart[]> {
  try {
    const named = nameParts(name);
    const found = readSeries(
      await readSource(await read(), maxBytes),
      { ...options, timeframeHint: named.timeframe },
      symbol,
    );
    return found.map((each) => {
      const said = each.symbol === null ? null : symbolText(each.symbol);
      // SYMBOL-timeframe names a series; another name may be anything.
      const isSaid = said !== null && (found.length > 1 || named.timeframe === undefined);
      const chosen = symbol ?? (isSaid ? said : named.symbol);
      return { symbol: chosen, file: name, bars: withSymbolNote(each.bars, said, chosen) };
    });
  } catch (error) {
    if (!isNamed || !(error instanceof MarketDataError)) throw error;
    throw new MarketDataError(error.refusals, error.total, `${basename(name)}: ${error.message}`);
  }
}

/** BTC/USDT as BTC-USDT, since a symbol has no slashes or spaces. */
const symbolText = (symbol: string): string => symbol.trim().replace(/[/\s]+/g, '-');

/** Says that a file names another symbol than the one that its bars are stored under. */
function withSymbolNote(bars: BarsTable, said: string | null, chosen: string): BarsTable {
  const plain = (symbol: string): string => symbol.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (said === null || plain(said) === plain(chosen)) return bars;
  const note = `The file names its bars ${said}, and they are those of ${chosen}: --symbol ${said} would name them so.`;
  return { ...bars, report: { ...bars.report, notes: [...bars.report.notes, note] } };
}

/**
 * Joins the parts of each symbol and timeframe, oldest first. Where two files have the same bar, they must agree.
 * @throws MarketDataError OVERLAP_DISAGREES, STEP_NOT_MULTIPLE
 */
export function joinParts(parts: readonly SeriesPart[]): readonly JoinedSeries[] {
  const groups = Map.groupBy(parts, ({ symbol, bars }) => `${symbol} ${bars.report.timeframe}`);
  return [...groups.values()].map(joinGroup);
}

function joinGroup(group: readonly SeriesPart[]): JoinedSeries {
  const [{ symbol }] = group;
  const parts = group.toSorted((a, b) => a.bars.columns.time[0] - b.bars.columns.time[0]);
  const files = parts.map(({ file }) => file);
  const [{ bars }] = parts;
  if (parts.length === 1) return { symbol, bars: { ...bars, sourceFile: basename(files[0]) }, files };
  const { timeframe } = bars.report;
  const columns = areApart(parts)
    ? concatenated(parts.map((part) => part.bars.columns))
    : parts.slice(1).reduce((joined, part) => merged(joined, part), bars.columns);
  const notes = new Set(parts.flatMap((part) => part.bars.report.notes));
  const common = parts.reduce((sum, part) => sum + part.bars.columns.time.length, 0) - columns.time.length;
  notes.add(
    `Joined ${parts.length} files` + (common === 0 ? '.' : `; bars in more than one: ${common}, in agreement.`),
  );
  const report = {
    ...bars.report,
    ...summarizeSeries(columns, timeframe),
    series: [...columns.series.keys()],
    ignored: [...new Set(parts.flatMap((part) => part.bars.report.ignored))],
    notes: [...notes],
  };
  return { symbol, bars: { columns, report, sourceFile: `${basename(files[0])} and ${files.length - 1} more` }, files };
}

/** Whether each part ends before the next begins, in the same columns and on the same grid of times. */
function areApart(parts: readonly SeriesPart[]): boolean {
  const [first, ...rest] = parts.map(({ bars }) => bars);
  const names = [...first.columns.series.keys()].join('\n');
  const stepMs = first.report.end - first.columns.time.at(-1)!;
  return rest.every(({ columns }, at) => {
    const before = parts[at].bars.columns.time;
    const gap = columns.time[0] - before[before.length - 1];
    return gap > 0 && gap % stepMs === 0 && [...columns.series.keys()].join('\n') === names;
  });
}

function concatenated(parts: readonly SnapshotColumns[]): SnapshotColumns {
  const length = parts.reduce((sum, { time }) => sum + time.length, 0);
  const join = (of: (columns: SnapshotColumns) => Float64Array): Float64Array => {
    const out = new Float64Array(length);
    let at = 0;
    for (const part of parts) {
      out.set(of(part), at);
      at += part.time.length;
    }
    return out;
  };
  return {
    time: join(({ time }) => time),
    open: join(({ open }) => open),
    high: join(({ high }) => high),
    low: join(({ low }) => low),
    close: join(({ close }) => close),
    volume: join(({ volume }) => volume),
    series: new Map([...parts[0].series.keys()].map((name) => [name, join(({ series }) => series.get(name)!)])),
  };
}

function merged(joined: SnapshotColumns, { file, bars }: SeriesPart): SnapshotColumns {
  try {
    return mergeBars(joined, bars.columns, bars.report.timeframe).columns;
  } catch (error) {
    if (!(error instanceof MarketDataError)) throw error;
    throw new MarketDataError(error.refusals, error.total, `${basename(file)}: ${error.message}`);
  }
}
