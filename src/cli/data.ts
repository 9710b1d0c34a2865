// candlepool data: list, import, synthesise and inspect market data.
import { openSnapshot, STORED_TIMEFRAMES, TIMEFRAME_MS } from '../engine/index.ts';
import type { Bars, StoredTimeframe } from '../engine/index.ts';
import type { Command } from 'commander';
import { nameParts } from '../market/barsFile.ts';
import { readBars } from '../market/barsTable.ts';
import type { ImportReport } from '../market/barsTable.ts';
import { openCatalogue } from '../market/catalogue.ts';
import type { CatalogueEntry, StoredCatalogue } from '../market/catalogue.ts';
import { listGaps } from '../market/gaps.ts';
import { makeInstrument, parseInstrumentFields } from '../market/instrument.ts';
import { MarketDataError } from '../market/refusal.ts';
import { importShipped } from '../market/shipped.ts';
import { readSourceFile } from '../market/sourceFile.ts';
import { MAX_DAYS, synthesiseBars } from '../market/synth.ts';
import { oneOf, shortText, wholeNumber } from './arguments.ts';
import { openDatabase } from './database.ts';
import { CommandError, printJson, printLine, printTable, withJson } from './output.ts';

const symbol = shortText(100);
const timeframe = oneOf(STORED_TIMEFRAMES);
/** Gaps of a year of minutes of a market that closes are some hundreds. */
const SHOWN_GAPS = 100;

export function register(program: Command): void {
  const data = program.command('data').description('list, import and synthesise market data');
  withJson(data.command('list').description('every stored series; coarser timeframes are resampled')).action(list);
  withJson(
    data
      .command('import')
      .description(
        'import bars: CSV, CSV.gz, JSON, Parquet, Arrow or Feather; what is wrong is refused by row, and nothing written',
      )
      .argument('<file>')
      .option('--symbol <symbol>', 'default: what the file name begins with (BTCUSDT-1h.csv is BTCUSDT)', symbol)
      .option('--timeframe <timeframe>', `one of ${STORED_TIMEFRAMES.join(', ')}; default: told by the bars`, timeframe)
      .option(
        '--time-is <which>',
        'whether the times are those of the open or the close of a bar; default: open',
        oneOf(['open', 'close']),
      )
      .option('--instrument <json>', 'metadata: base, quote, tickSize, qtyStep, minNotional, tradesAllDay'),
  ).action(importFile);
  withJson(
    data
      .command('synth')
      .description('make synthetic one-minute bars; the same symbol, seed and start give the same bars')
      .requiredOption('--symbol <symbol>', 'begins SYN-, such as SYN-BTC', symbol)
      .requiredOption('--days <n>', `1 to ${MAX_DAYS}`, wholeNumber(1, MAX_DAYS))
      .option('--seed <n>', 'a whole number', wholeNumber(0, Number.MAX_SAFE_INTEGER), 1),
  ).action(synth);
  withJson(series(data.command('show').description('one series: span, gaps, metadata, first and last bars'))).action(
    show,
  );
  withJson(
    series(data.command('gaps').description('where bars are absent, oldest first')).option(
      '--limit <n>',
      'gaps to print',
      wholeNumber(1, 1_000_000),
      SHOWN_GAPS,
    ),
  ).action(gaps);
}

const series = (command: Command): Command =>
  command
    .requiredOption('--symbol <symbol>', 'as list shows it', symbol)
    .requiredOption('--timeframe <timeframe>', `one of ${STORED_TIMEFRAMES.join(', ')}`, timeframe);

interface SeriesOptions {
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
  readonly json?: boolean;
}

async function list(options: { json?: boolean }): Promise<void> {
  await using opened = await openData();
  const entries = await opened.catalogue.list();
  if (options.json) return printJson({ data: entries.map(answer) });
  printTable<CatalogueEntry>(
    [
      { title: 'symbol', value: (entry) => entry.symbol },
      { title: 'timeframe', value: (entry) => entry.timeframe },
      { title: 'bars', value: (entry) => entry.bars, align: 'right' },
      { title: 'from', value: (entry) => iso(entry.start) },
      { title: 'to', value: (entry) => iso(entry.end) },
      { title: 'gaps', value: (entry) => entry.gaps, align: 'right' },
      { title: 'synthetic', value: (entry) => (entry.synthetic ? 'yes' : 'no') },
    ],
    entries,
  );
}

interface ImportOptions {
  readonly symbol?: string;
  readonly timeframe?: StoredTimeframe;
  readonly timeIs?: 'open' | 'close';
  readonly instrument?: string;
  readonly json?: boolean;
}

async function importFile(path: string, options: ImportOptions): Promise<void> {
  try {
    const named = nameParts(path);
    const symbol = options.symbol ?? named.symbol;
    const given = options.instrument === undefined ? {} : parseInstrumentFields(options.instrument);
    // Refused before any database is asked: most mistakes are in the file.
    makeInstrument(symbol, given);
    const bars = readBars(await readSourceFile(path), {
      timeframe: options.timeframe,
      timeIs: options.timeIs,
      timeframeHint: named.timeframe,
    });
    await using opened = await openData();
    const known = (await opened.catalogue.instruments()).find((instrument) => instrument.symbol === symbol);
    // What was said of the symbol at an earlier import holds until it is said otherwise.
    const { symbol: _, synthetic: __, ...kept } = known ?? makeInstrument(symbol);
    const entry = await opened.catalogue.add(symbol, bars, makeInstrument(symbol, { ...kept, ...given }));
    report(entry, bars.report, options.json === true);
  } catch (error) {
    if (!(error instanceof MarketDataError) || !options.json) throw error;
    const { code, message, refusals, total } = error;
    process.stderr.write(`${JSON.stringify({ error: { code, message, refusals, total } })}\n`);
    process.exitCode = 1;
  }
}

async function synth(options: { symbol: string; days: number; seed: number; json?: boolean }): Promise<void> {
  const bars = synthesiseBars(options);
  await using opened = await openData();
  const entry = await opened.catalogue.add(options.symbol, bars, makeInstrument(options.symbol));
  report(entry, bars.report, options.json === true);
}

function report(entry: CatalogueEntry, found: ImportReport, isJson: boolean): void {
  const { isTimeframeInferred, format, time, series, ignored, notes } = found;
  if (isJson) return printJson({ ...answer(entry), isTimeframeInferred, format, time, series, ignored, notes });
  printLine(
    `Imported ${entry.bars} bars of ${entry.symbol} ${entry.timeframe}, ${iso(entry.start)} to ${iso(entry.end)}.`,
  );
  printLine(
    `Timeframe ${isTimeframeInferred ? 'told by the bars' : 'as given'}; times from "${time.column}": ${time.unit}, zone ${time.zone}, ${time.is} of the bar.`,
  );
  printLine(`Gaps: ${entry.gaps} places, ${entry.missingBars} bars absent; nothing was filled.`);
  if (series.length > 0) printLine(`Kept as series: ${series.join(', ')}.`);
  if (ignored.length > 0) printLine(`Not kept: ${ignored.join(', ')}.`);
  for (const note of notes) printLine(note);
}

async function show(options: SeriesOptions): Promise<void> {
  await using opened = await openData();
  const { entry, bars } = await openBars(opened.catalogue, options);
  const rows = [...new Set([0, 1, 2, bars.length - 3, bars.length - 2, bars.length - 1])].filter(
    (row) => row >= 0 && row < bars.length,
  );
  const shown = rows.map((row) => ({
    time: iso(bars.time[row]),
    open: bars.open[row],
    high: bars.high[row],
    low: bars.low[row],
    close: bars.close[row],
    volume: bars.volume[row],
  }));
  if (options.json) return printJson({ ...answer(entry), series: [...bars.series.keys()], rows: shown });
  printLine(
    `${entry.symbol} ${entry.timeframe}: ${entry.bars} bars, ${iso(entry.start)} to ${iso(entry.end)}${entry.synthetic ? ', synthetic' : ''}`,
  );
  printLine(`gaps: ${entry.gaps} places, ${entry.missingBars} bars absent`);
  printLine(`snapshot: ${entry.sha256}`);
  printLine(`instrument: ${JSON.stringify(entry.instrument)}`);
  if (bars.series.size > 0) printLine(`series: ${[...bars.series.keys()].join(', ')}`);
  const names = ['time', 'open', 'high', 'low', 'close', 'volume'] as const;
  printTable(
    names.map((name) => ({
      title: name,
      value: (row: (typeof shown)[number]) => row[name],
      align: name === 'time' ? 'left' : 'right',
    })),
    shown,
  );
}

async function gaps(options: SeriesOptions & { limit: number }): Promise<void> {
  await using opened = await openData();
  const { entry, bars } = await openBars(opened.catalogue, options);
  const all = listGaps(bars.time, TIMEFRAME_MS[entry.timeframe]);
  const shown = all.slice(0, options.limit);
  if (options.json) return printJson({ ...answer(entry), data: shown });
  printTable(
    [
      { title: 'from', value: (gap) => iso(gap.from) },
      { title: 'to', value: (gap) => iso(gap.to) },
      { title: 'bars absent', value: (gap) => gap.missingBars, align: 'right' },
    ],
    shown,
  );
  if (shown.length < all.length)
    process.stderr.write(`${all.length - shown.length} more: --limit ${all.length} shows all.\n`);
}

/** The catalogue of this machine; a first call finds the shipped series in it, as `serve` would leave them. */
async function openData(): Promise<AsyncDisposable & { readonly catalogue: StoredCatalogue }> {
  const database = await openDatabase();
  const dispose = (): Promise<void> => Promise.resolve(database[Symbol.asyncDispose]());
  try {
    const catalogue = openCatalogue(database.sql, database.config.dataDir);
    await importShipped(catalogue);
    return { catalogue, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function openBars(
  catalogue: StoredCatalogue,
  { symbol, timeframe }: SeriesOptions,
): Promise<{ entry: CatalogueEntry; bars: Bars }> {
  const entry = (await catalogue.list()).find((each) => each.symbol === symbol && each.timeframe === timeframe);
  if (!entry) {
    throw new CommandError(
      `No series ${symbol} ${timeframe} is stored. candlepool data list shows what is.`,
      'SERIES_UNKNOWN',
    );
  }
  const [snapshot] = await catalogue.open([entry.sha256]);
  return { entry, bars: openSnapshot(snapshot.buffer, snapshot.meta) };
}

/** Times in ms, as the API answers them. */
function answer({
  symbol,
  timeframe,
  sha256,
  bars,
  start,
  end,
  gaps,
  missingBars,
  synthetic,
  instrument,
}: CatalogueEntry): object {
  return { symbol, timeframe, bars, start, end, gaps, missingBars, synthetic, sha256, instrument };
}

const iso = (time: number): string => new Date(time).toISOString().replace(/(:00)?\.000Z$/, 'Z');
