// candlepool data: the stored market data, listed, imported, downloaded, synthesized, inspected, exported and removed.
import { exchangeOf, periodsPerYear, periodsPerYearReason, TIMEFRAMES } from '../engine/index.ts';
import type { Command } from 'commander';
import type { CatalogEntry } from '../market/catalog.ts';
import { EXPORT_FORMATS } from '../market/exportBars.ts';
import { closuresOf } from '../market/calendar.ts';
import { listGaps } from '../market/gaps.ts';
import { isoTime, rangeOf } from '../market/formatting.ts';
import { MAX_DAYS } from '../market/synth.ts';
import { instant, moreSymbols, oneOf, shortText, webAddress, wholeNumber } from './arguments.ts';
import { withReadOptions } from './importOptions.ts';
import { findEntry, openBars, openData } from './dataCatalog.ts';
import type { SeriesOptions } from './dataCatalog.ts';
import { exportSeries } from './dataExport.ts';
import { describeEntry, importFiles, synth } from './dataImport.ts';
import type { FetchOptions } from './dataFetch.ts';
import { printJson, printLine, printTable, withJson } from './output.ts';

const symbol = shortText(100);
const timeframe = oneOf(TIMEFRAMES);
const TIMEFRAME_LIST = TIMEFRAMES.join(', ');
/** How many gaps are shown: a market that closes has hundreds in a year of minutes. */
const SHOWN_GAPS = 100;

export function register(program: Command): void {
  const data = program.command('data').description('list, import, download, export and remove market data');
  withJson(data.command('list').description('list every stored series; coarser timeframes are resampled')).action(list);
  registerImport(data);
  registerFetch(data);
  withJson(
    data
      .command('synth')
      .description('make synthetic one-minute bars; the same symbol, seed and start give the same bars')
      .requiredOption('--symbol <symbol>', 'begins with SYN-, such as SYN-BTC', symbol)
      .requiredOption('--days <n>', `1 to ${MAX_DAYS}`, wholeNumber(1, MAX_DAYS))
      .option('--seed <n>', 'a whole number', wholeNumber(0, Number.MAX_SAFE_INTEGER), 1)
      .option('--replace', 'put the bars in place of stored ones that differ'),
  ).action(synth);
  withJson(
    withSeriesOptions(data.command('show').description('show one series: span, gaps, metadata, first and last bars')),
  ).action(show);
  withJson(
    withSeriesOptions(data.command('gaps').description('list where bars are absent, oldest first')).option(
      '--limit <n>',
      'gaps to print',
      wholeNumber(1, 1_000_000),
      SHOWN_GAPS,
    ),
  ).action(gaps);
  withJson(
    withSeriesOptions(data.command('export').description('write a series as a file that import reads back'))
      .option('--out <file>', 'by extension: .csv, .csv.gz, .json or .arrow; default: CSV on stdout')
      .option('--format <format>', `one of ${EXPORT_FORMATS.join(', ')}`, oneOf(EXPORT_FORMATS)),
  ).action(exportSeries);
  withJson(
    withSeriesOptions(
      data.command('remove').description('remove one series; backtests that ran on it keep their bars'),
    ),
  ).action(remove);
}

function registerImport(data: Command): void {
  withJson(
    withReadOptions(
      data
        .command('import')
        .description(
          'import bars from CSV, JSON, Parquet, Arrow or Feather, packed or not; files of one series are joined; a ' +
            'file with faults is refused by row, and nothing is written',
        )
        .argument('<file...>', 'files, folders, zip archives, or patterns such as "BTCUSDT-1m-*.zip"')
        .option('--symbol <symbol>', 'default: what the file name begins with (BTCUSDT-1h.csv is BTCUSDT)', symbol),
    )
      .option('--append', 'add the bars to the stored series; where both have a bar, they must agree')
      .option('--replace', 'put the bars in place of the stored series')
      .option(
        '--instrument <json>',
        'metadata: base, quote, tickSize, qtyStep, minNotional, periodsPerYear (252 or 365; default: inferred)',
      )
      .option(
        '--calendar <exchange>',
        'its trading days and hours, by the code of the exchange, such as XNYS; none: what the bars show; default: ' +
          'that of the stored series of the symbol',
      ),
  ).action(importFiles);
}

function registerFetch(data: Command): void {
  withJson(
    data
      .command('fetch')
      .description(
        'download bars of an exchange (package ccxt) or of Yahoo (package yahoo-finance2); the next call adds newer ' +
          'bars, and goes on where one was killed',
      )
      .option('--exchange <id>', 'a crypto exchange by its name in ccxt, such as binance', shortText(100))
      .option('--source <source>', 'yahoo', oneOf(['yahoo']))
      .requiredOption(
        '--symbol <symbols>',
        'as the source names it: BTC/USDT,ETH/USDT (stored as BTCUSDT …) or SPY',
        moreSymbols,
      )
      .option('--timeframe <timeframe>', `one of ${TIMEFRAME_LIST}`, timeframe, '1d' as const)
      .option(
        '--since <time>',
        'first bar, in UTC: 2020-01-01; default: the stored bars, or all that Yahoo has',
        instant,
      )
      .option('--until <time>', 'where to stop, in UTC; default: the last bar that has ended', instant)
      .option('--data <folder>', 'keep the bars in a folder of CSV files, not in the catalog'),
  )
    .option('--as <symbol>', 'store a single symbol under this name', symbol)
    .option('--replace', 'download the stored series again, from its start, and put the new bars in its place')
    .option('--adjusted', 'scale the bars of Yahoo to its adjusted close')
    .option('--drop-na', 'leave out rows in which a price or the volume is missing')
    .option('--instrument <json>', 'metadata, as for import; default: what the exchange says')
    .option('--url <address>', 'ask a mirror or a proxy: the host in place of that of the source', webAddress)
    .action(async (options: FetchOptions) => (await import('./dataFetch.ts')).fetchBars(options));
}

/** Adds `--symbol` and `--timeframe`, which name a stored series. */
const withSeriesOptions = (command: Command): Command =>
  command
    .requiredOption('--symbol <symbol>', 'as list shows it', symbol)
    .requiredOption('--timeframe <timeframe>', `one of ${TIMEFRAME_LIST}`, timeframe);

/** Shown where a series has a calendar. */
const CALENDAR_COLUMN = { title: 'calendar', value: ({ instrument }: CatalogEntry) => instrument.calendar ?? '' };

async function list(options: { json?: boolean }): Promise<void> {
  await using opened = await openData();
  const entries = await opened.catalog.list();
  if (options.json) return printJson({ data: entries.map(describeEntry) });
  printTable<CatalogEntry>(
    [
      { title: 'symbol', value: (entry) => entry.symbol },
      { title: 'timeframe', value: (entry) => entry.timeframe },
      { title: 'bars', value: (entry) => entry.bars, align: 'right' },
      { title: 'from', value: (entry) => fullTime(entry.start) },
      { title: 'to', value: (entry) => fullTime(entry.end) },
      { title: 'gaps', value: (entry) => entry.gaps, align: 'right' },
      ...(entries.some(({ instrument }) => instrument.calendar !== undefined) ? [CALENDAR_COLUMN] : []),
      { title: 'synthetic', value: (entry) => (entry.synthetic ? 'yes' : 'no') },
    ],
    entries,
  );
}

async function show(options: SeriesOptions): Promise<void> {
  await using opened = await openData();
  const { entry, bars } = await openBars(opened.catalog, options);
  const rows = [...new Set([0, 1, 2, bars.length - 3, bars.length - 2, bars.length - 1])].filter(
    (row) => row >= 0 && row < bars.length,
  );
  const shown = rows.map((row) => ({
    time: fullTime(bars.time[row]),
    open: bars.open[row],
    high: bars.high[row],
    low: bars.low[row],
    close: bars.close[row],
    volume: bars.volume[row],
  }));
  if (options.json) return printJson({ ...describeEntry(entry), series: [...bars.series.keys()], rows: shown });
  const { instrument } = entry;
  printLine(
    `${entry.symbol} ${entry.timeframe}: ${entry.bars} bars, ${rangeOf(entry)}${entry.synthetic ? ', synthetic' : ''}`,
  );
  printLine(`gaps: ${entry.missingBars} bars absent in ${entry.gaps} places`);
  printLine(`periods per year: ${periodsPerYear(instrument)}, ${periodsPerYearReason(instrument)}`);
  printLine(`snapshot: ${entry.sha256}`);
  printLine(`instrument: ${JSON.stringify(instrument)}`);
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
  const { entry, bars } = await openBars(opened.catalog, options);
  const all = listGaps(bars.time, entry.timeframe);
  const exchange = exchangeOf(entry.instrument);
  const closureOf = closuresOf(bars.time, entry.timeframe, exchange);
  const shown = all.slice(0, options.limit).map((gap) => ({ ...gap, closure: closureOf(gap) }));
  if (options.json) return printJson({ ...describeEntry(entry), data: shown });
  printTable(
    [
      { title: 'from', value: (gap) => fullTime(gap.from) },
      { title: 'to', value: (gap) => fullTime(gap.to) },
      { title: 'bars absent', value: (gap) => gap.missingBars, align: 'right' },
      { title: 'closed', value: (gap) => gap.closure },
    ],
    shown,
  );
  if (shown.length < all.length)
    process.stderr.write(`${all.length - shown.length} more: --limit ${all.length} shows all.\n`);
  const closed = all.filter((gap) => closureOf(gap) !== null).length;
  if (closed > 0)
    process.stderr.write(
      `${closed} of ${all.length} gaps are expected: the market closes then ` +
        `${exchange === undefined ? '(weekend, night). Holidays are not known.' : `(${exchange.name}).`}\n`,
    );
}

async function remove(options: SeriesOptions): Promise<void> {
  await using opened = await openData();
  const entry = await findEntry(opened.catalog, options);
  await opened.catalog.remove(entry.symbol, entry.timeframe);
  if (options.json) return printJson({ ...describeEntry(entry), removed: true });
  printLine(
    `Removed ${entry.symbol} ${entry.timeframe}: ${entry.bars} bars, ${isoTime(entry.start)} to ` +
      `${isoTime(entry.end)}. Backtests that ran on it can still be read and rerun.`,
  );
}

/** A time with its time of day even at midnight, so that the columns of a table line up. */
const fullTime = (time: number): string => new Date(time).toISOString().replace(/(:00)?\.000Z$/, 'Z');
