// candlepool data import and synth: puts bars into the catalog, and prints what was inferred and noticed.
import { basename } from 'node:path';
import { periodsPerYear, periodsPerYearReason } from '../engine/index.ts';
import type { Outlier } from '../engine/index.ts';
import { refuseExisting } from '../market/catalog.ts';
import type { CatalogEntry, StoredCatalog } from '../market/catalog.ts';
import { MarketDataError } from '../market/import/importError.ts';
import type { ImportReport } from '../market/import/importReport.ts';
import { counted, isoTime, rangeOf } from '../market/formatting.ts';
import { importSeries } from '../market/import/importSeries.ts';
import { expandPaths, readInputFile, skippedText } from '../market/import/inputFiles.ts';
import type { SkippedFile } from '../market/import/inputFiles.ts';
import { makeInstrument, parseInstrumentFields } from '../market/instrument.ts';
import { joinParts, readParts } from '../market/import/joinedSeries.ts';
import type { JoinedSeries, SeriesPart } from '../market/import/joinedSeries.ts';
import type { ReadOptions } from '../market/import/readOptions.ts';
import { synthesizeBars } from '../market/synth.ts';
import { openData } from './dataCatalog.ts';
import { readOptionsOf } from './importOptions.ts';
import { quotedJson } from './invocation.ts';
import { printJson, printLine, UsageError } from './output.ts';
import { startProgress } from './progress.ts';

interface ImportOptions extends ReadOptions {
  readonly symbol?: string;
  readonly instrument?: string;
  /** The exchange whose trading days and hours the instrument has. */
  readonly calendar?: string;
  readonly append?: boolean;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** How many outliers a terminal shows; `--json` lists all. */
const SHOWN_OUTLIERS = 20;

export async function importFiles(paths: readonly string[], options: ImportOptions): Promise<void> {
  if (options.append && options.replace) throw new UsageError('Give either --append or --replace.');
  try {
    const given = parseInstrumentFields(options.instrument ?? '{}', options.calendar);
    // Checked before a database is opened, because most mistakes are in the command or the files.
    if (options.symbol !== undefined) makeInstrument(options.symbol, given);
    const { series, skipped } = await readAll(paths, options);
    for (const { symbol } of series) makeInstrument(symbol, given);
    const onExisting = options.append ? 'append' : options.replace ? 'replace' : 'refuse';
    await using opened = await openData();
    // Before the first of them is written.
    if (onExisting === 'refuse') await refuseStored(opened.catalog, series);
    for (const { symbol, bars } of series) {
      const { entry, report } = await importSeries(opened.catalog, { symbol, bars, given, onExisting });
      printImport(entry, report, options.json === true);
    }
    if (skipped.length > 0) process.stderr.write(`${skippedText(skipped)}\n`);
  } catch (error) {
    if (!(error instanceof MarketDataError) || !options.json) throw error;
    const { code, message, refusals, total } = error;
    process.stderr.write(`${JSON.stringify({ error: { code, message, refusals, total } })}\n`);
    process.exitCode = 1;
  }
}

/** @throws MarketDataError SERIES_EXISTS */
async function refuseStored(catalog: StoredCatalog, series: readonly JoinedSeries[]): Promise<void> {
  const entries = await catalog.list();
  for (const { symbol, bars } of series) {
    const stored = entries.find((entry) => entry.symbol === symbol && entry.timeframe === bars.report.timeframe);
    if (stored) refuseExisting(stored, bars.report);
  }
}

/** The series of all files, read one after the other, so that only one is in memory beside the bars. */
async function readAll(
  paths: readonly string[],
  options: ImportOptions,
): Promise<{ readonly series: readonly JoinedSeries[]; readonly skipped: readonly SkippedFile[] }> {
  const { files, skipped } = await expandPaths(paths);
  const parts: SeriesPart[] = [];
  using progress = startProgress('Reading', files.length);
  for (const [index, path] of files.entries()) {
    progress.update(index, basename(path));
    const inside = await readInputFile(path);
    for (const [at, file] of inside.entries()) {
      if (inside.length > 1)
        progress.update(index, `${basename(file.name)}, ${at + 1} of ${inside.length} in ${basename(path)}`);
      const isNamed = files.length > 1 || inside.length > 1;
      for (const part of await readParts(file, readOptionsOf(options), options.symbol, isNamed)) parts.push(part);
    }
  }
  return { series: joinParts(parts), skipped };
}

interface SynthOptions {
  readonly symbol: string;
  readonly days: number;
  readonly seed: number;
  readonly replace?: boolean;
  readonly json?: boolean;
}

export async function synth(options: SynthOptions): Promise<void> {
  const bars = synthesizeBars(options);
  const { symbol } = options;
  await using opened = await openData();
  const { catalog } = opened;
  const stored = options.replace
    ? (await catalog.list()).find((entry) => entry.symbol === symbol && entry.timeframe === bars.report.timeframe)
    : undefined;
  const entry = await catalog.add(symbol, bars, makeInstrument(symbol, {}, bars.report.calendar), stored);
  printImport(entry, bars.report, options.json === true);
}

/** Prints what was imported. @param more members for `--json` */
export function printImport(entry: CatalogEntry, report: ImportReport, isJson: boolean, more: object = {}): void {
  const { isTimeframeInferred, isCloseOnly, format, time, series, ignored, outliers, notes } = report;
  const { instrument } = entry;
  const periods = periodsPerYear(instrument);
  const reason = periodsPerYearReason(instrument);
  if (isJson) {
    const inferred = { isTimeframeInferred, isCloseOnly, format, time, series, ignored };
    const calendar = { periodsPerYear: periods, periodsPerYearReason: reason };
    return printJson({ ...describeEntry(entry), ...inferred, ...calendar, outliers, notes, ...more });
  }
  printLine(`Imported ${entry.symbol} ${entry.timeframe}: ${counted(entry.bars, 'bar')}, ${rangeOf(entry)}.`);
  printLine(
    `Timeframe ${isTimeframeInferred ? 'inferred from the bars' : 'as given'}. Times from ${columnName(time.column)} ` +
      `(${time.unit}, ${zoneText(time.zone)}) are the ${time.is} of each bar.`,
  );
  const other = periods === 252 ? 365 : 252;
  printLine(
    `${periods} periods per year, ${reason}. --instrument ${quotedJson(`{"periodsPerYear":${other}}`)} would ` +
      `annualize by ${other}.`,
  );
  printLine(
    entry.gaps === 0
      ? 'No gaps.'
      : `Gaps: ${counted(entry.missingBars, 'bar')} absent, in ${counted(entry.gaps, 'place')}. Nothing was filled.`,
  );
  if (series.length > 0) printLine(`Kept as extra series: ${series.join(', ')}.`);
  if (ignored.length > 0) printLine(`Not kept: ${ignored.join(', ')}.`);
  for (const note of notes) printLine(note);
  printOutliers(outliers);
}

/** pandas leaves the column of its index without a name. */
const columnName = (name: string): string => (name === '' ? 'the column without a name' : `"${name}"`);

const zoneText = (zone: ImportReport['time']['zone']): string =>
  zone === 'given by each time'
    ? `zone ${zone}`
    : zone === 'none given, read as UTC'
      ? 'no zone given, read as UTC'
      : zone;

function printOutliers(outliers: readonly Outlier[]): void {
  if (outliers.length === 0) return;
  printLine(`Outliers: ${outliers.length}. They were imported as they are; check them against another source.`);
  for (const { time, kind, column, price, neighbor } of outliers.slice(0, SHOWN_OUTLIERS)) {
    const change = `${Math.abs((price / neighbor - 1) * 100).toFixed(1)} % ${price > neighbor ? 'above' : 'below'}`;
    const beside = kind === 'spike' ? `the bars beside it (${neighbor})` : `the close before it (${neighbor})`;
    printLine(`  ${isoTime(time)}: ${column} ${price} is ${change} ${beside}`);
  }
  if (outliers.length > SHOWN_OUTLIERS)
    printLine(`  … and ${outliers.length - SHOWN_OUTLIERS} more: --json lists them all.`);
}

/** An entry for `--json`, with times in ms as the API answers them. */
export function describeEntry(entry: CatalogEntry): object {
  const { symbol, timeframe, sha256, bars, start, end, gaps, missingBars, synthetic, instrument } = entry;
  return { symbol, timeframe, bars, start, end, gaps, missingBars, synthetic, sha256, instrument };
}
