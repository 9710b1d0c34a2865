// Downloading a series: what is absent of it is asked for page by page, checked against the stored bars, and added.
import { openSnapshot } from '../../engine/bars/arrow.ts';
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import type { Bars } from '../../engine/bars/bars.ts';
import { closeOf } from '../../engine/bars/timeframes.ts';
import type { CatalogEntry } from '../catalog.ts';
import { counted, isoTime } from '../formatting.ts';
import { listGaps } from '../gaps.ts';
import { refuse } from '../import/importError.ts';
import { importSeries } from '../import/importSeries.ts';
import type { ImportedSeries, SeriesStore } from '../import/importSeries.ts';
import type { BarsTable } from '../import/importReport.ts';
import type { InstrumentFields } from '../instrument.ts';
import { SourceError } from './barSource.ts';
import type { BarSource, SourceMarket } from './barSource.ts';
import { DownloadRows } from './downloadRows.ts';
import type { DownloadTarget } from './downloadTarget.ts';
import { JournalFile } from './journal.ts';
import type { DownloadRange } from './journal.ts';
import { withRetries } from './retries.ts';
import type { Patience } from './retries.ts';

export interface DownloadRequest {
  /** First time that is wanted; absent: the first stored bar, or the first of a source that says which that is. */
  readonly since?: number;
  /** First time that is not wanted; absent: now. */
  readonly until?: number;
  /** Whether the stored series is downloaded again and replaced. */
  readonly isReplacing: boolean;
  readonly given: InstrumentFields;
  readonly dropNa?: boolean;
  readonly adjusted?: boolean;
}

export interface Downloaded {
  /** Bars that were not stored before. */
  readonly added: number;
  /** The last import; null when there was nothing to add. */
  readonly imported: ImportedSeries | null;
  /** The series as it is stored now; null if the source has no bar. */
  readonly stored: CatalogEntry | null;
}

export interface DownloadPatience extends Patience {
  /** Called after each page with the time that the download has reached. */
  readonly onPage: (range: DownloadRange, reached: number) => void;
}

/** A bar may still change in the moment after its end. */
const SETTLED_MS = 5_000;
/** More spans without bars are counted. */
const SHOWN_HOLES = 5;

/**
 * Downloads what is absent before and after the stored bars. The last stored bar is asked for again, and must agree.
 * @throws SourceError, and MarketDataError OVERLAP_DISAGREES and those of an import; the rows stay in the journal
 */
export async function downloadSeries(
  source: BarSource,
  market: SourceMarket,
  target: DownloadTarget,
  request: DownloadRequest,
  patience: DownloadPatience,
): Promise<Downloaded> {
  const download = new SeriesDownload(source, market, target, request, patience);
  return download.run();
}

class SeriesDownload {
  readonly #source: BarSource;
  readonly #market: SourceMarket;
  readonly #target: DownloadTarget;
  readonly #request: DownloadRequest;
  readonly #patience: DownloadPatience;
  readonly #store: SeriesStore;
  readonly #journal: JournalFile;
  /** The series as it is stored; null also when it is to be replaced, until it is. */
  #stored: CatalogEntry | null = null;
  #imported: ImportedSeries | null = null;
  #added = 0;

  constructor(
    source: BarSource,
    market: SourceMarket,
    target: DownloadTarget,
    request: DownloadRequest,
    patience: DownloadPatience,
  ) {
    this.#source = source;
    this.#market = market;
    this.#target = target;
    this.#request = request;
    this.#patience = patience;
    this.#store = target.storeOf(market.symbol);
    const name = `${source.name} ${market.sourceSymbol} ${market.timeframe} as ${market.symbol}`;
    this.#journal = new JournalFile(target.journals, request.isReplacing ? `${name} again` : name);
  }

  async run(): Promise<Downloaded> {
    const { since, until = Infinity, isReplacing } = this.#request;
    const { symbol, timeframe, columns, earliest } = this.#market;
    const existing = (await this.#store.list()).find(
      (entry) => entry.symbol === symbol && entry.timeframe === timeframe,
    );
    const from = since ?? existing?.start ?? earliest;
    if (from === null)
      refuse(
        'OPTION_INVALID',
        `Nothing is stored of ${symbol} ${timeframe}. Give --since, such as --since 2020-01-01.`,
      );
    const to = Math.min(until, (await withRetries(() => this.#source.now(), this.#patience)) - SETTLED_MS);
    this.#stored = isReplacing ? null : (existing ?? null);
    const begun = await this.#journal.read(columns);
    if (begun !== null) await this.#complete(begun.range, begun.rows);
    const stored = this.#stored;
    if (stored === null) await this.#complete({ from, to });
    else {
      if (from < stored.start) await this.#complete({ from, to: Math.min(to, stored.start) });
      if (closeOf(timeframe, stored.end) <= to) await this.#complete({ from: await this.#lastOpen(stored), to });
    }
    return { added: this.#added, imported: this.#imported, stored: this.#stored ?? existing ?? null };
  }

  /** Asks for the rest of a range, and adds its bars to the series. */
  async #complete(range: DownloadRange, rows?: DownloadRows): Promise<void> {
    if (rows === undefined) await this.#journal.begin(range, this.#market.columns);
    const stored = this.#stored === null ? null : await this.#open(this.#stored);
    const all = await this.#ask(range, rows ?? new DownloadRows(this.#market.columns), stored);
    const bars = all.asBars(this.#source, this.#market, this.#request);
    if (bars !== null) await this.#add(bars, stored, range);
    await this.#journal.remove();
  }

  async #ask(range: DownloadRange, rows: DownloadRows, stored: Bars | null): Promise<DownloadRows> {
    let isChecked = rows.length > 0;
    let next: number | null = Math.max(range.from, rows.lastTime + 1, this.#market.earliest ?? -Infinity);
    while (next !== null && next < range.to) {
      const at: number = next;
      const page = await withRetries(() => this.#market.page(at, range.to), this.#patience);
      await this.#journal.append(page.rows.filter((row) => rows.push(row)));
      // Before an hour of downloads, rather than after it.
      if (!isChecked && rows.length > 0)
        this.#withoutStored(rows.asBars(this.#source, this.#market, this.#request), stored);
      isChecked ||= rows.length > 0;
      if (page.next !== null && page.next <= at)
        throw new SourceError(`${this.#source.name} gave the same page of ${this.#market.sourceSymbol} twice.`);
      next = page.next;
      this.#patience.onPage(range, next ?? range.to);
    }
    return rows;
  }

  #withoutStored(bars: BarsTable | null, stored: Bars | null): ReturnType<typeof withoutStored> | null {
    const { symbol, timeframe } = this.#market;
    return bars && withoutStored(bars.columns, stored, this.#source.name, `${symbol} ${timeframe}`);
  }

  async #add(bars: BarsTable, stored: Bars | null, range: DownloadRange): Promise<void> {
    const fresh = this.#withoutStored(bars, stored)!;
    const { length } = fresh.columns.time;
    if (length === 0) return;
    const { symbol, instrument } = this.#market;
    const { given, isReplacing } = this.#request;
    const isFirst = stored === null;
    const notes = [...bars.report.notes, ...fresh.notes, ...this.#holes(bars.columns.time, stored, range)];
    this.#imported = await importSeries(this.#store, {
      symbol,
      bars: { ...bars, columns: fresh.columns, report: { ...bars.report, notes } },
      // Metadata that was stated of a stored series stays.
      given: isFirst && this.#target.keepsInstruments ? { ...instrument, ...given } : given,
      onExisting: isFirst && isReplacing ? 'replace' : 'append',
    });
    this.#stored = this.#imported.entry;
    this.#added += length;
  }

  /** Says where the source has no bars, in a market that never closes. */
  #holes(time: Float64Array, stored: Bars | null, { from, to }: DownloadRange): string[] {
    const { timeframe, timezone, earliest } = this.#market;
    const { name } = this.#source;
    const notes: string[] = [];
    if (earliest !== null && from < earliest && stored !== null)
      notes.push(`${name} has no ${timeframe} bars before ${isoTime(earliest)} any more.`);
    if (stored === null && closeOf(timeframe, from) <= time[0])
      notes.push(`The first ${timeframe} bar of ${name} is the one of ${isoTime(time[0])}.`);
    if (timezone !== undefined) return notes;
    const known = stored === null ? [] : [...stored.time.subarray(0, 1), ...stored.time.subarray(-1)];
    const before = known.filter((each) => each < time[0]).slice(-1);
    const after = known.filter((each) => each > time[time.length - 1]).slice(0, 1);
    const gaps = listGaps(Float64Array.from([...before, ...time, ...after]), timeframe);
    for (const gap of gaps.slice(0, SHOWN_HOLES))
      notes.push(
        `${name} has no bars from ${isoTime(gap.from)} to ${isoTime(gap.to)}: ${counted(gap.missingBars, 'bar')}.`,
      );
    if (gaps.length > SHOWN_HOLES)
      notes.push(`${name} has no bars in ${gaps.length - SHOWN_HOLES} more places: "data gaps" lists them all.`);
    const end = closeOf(timeframe, time[time.length - 1]);
    if (after.length === 0 && closeOf(timeframe, end) <= to) notes.push(`${name} has no bars after ${isoTime(end)}.`);
    return notes;
  }

  async #lastOpen(stored: CatalogEntry): Promise<number> {
    const { time } = await this.#open(stored);
    return time[time.length - 1];
  }

  async #open({ sha256 }: CatalogEntry): Promise<Bars> {
    const [snapshot] = await this.#store.open([sha256]);
    return openSnapshot(snapshot);
  }
}

/** Vendors write prices as 32-bit numbers, whose last digits differ from answer to answer. */
const ROUNDING = 1e-6;
const PRICES = ['open', 'high', 'low', 'close'] as const;

interface NewBars {
  readonly columns: SnapshotColumns;
  readonly notes: readonly string[];
}

/**
 * The bars that are not stored.
 * @param series the series, as messages name it
 * @throws MarketDataError OVERLAP_DISAGREES when the source has other prices for a stored bar
 */
function withoutStored(columns: SnapshotColumns, stored: Bars | null, source: string, series: string): NewBars {
  if (stored === null) return { columns, notes: [] };
  const fresh: number[] = [];
  let at = 0;
  let revised = 0;
  columns.time.forEach((time, row) => {
    while (at < stored.length && stored.time[at] < time) at++;
    if (at === stored.length || stored.time[at] !== time) return void fresh.push(row);
    for (const name of PRICES) {
      const [ours, theirs] = [stored[name][at], columns[name][row]];
      if (Math.abs(theirs - ours) > ROUNDING * Math.abs(ours))
        refuse(
          'OVERLAP_DISAGREES',
          `${series} is stored with ${name} ${ours} at ${isoTime(time)}, and ${source} has ${theirs}: the stored ` +
            'bars come from another source, or were adjusted since. Give --replace to download the series from its ' +
            'start, or --as to store it under another symbol.',
        );
    }
    if (stored.volume[at] !== columns.volume[row]) revised++;
  });
  const take = (column: Float64Array): Float64Array => Float64Array.from(fresh, (row) => column[row]);
  return {
    columns: {
      time: take(columns.time),
      open: take(columns.open),
      high: take(columns.high),
      low: take(columns.low),
      close: take(columns.close),
      volume: take(columns.volume),
      series: new Map([...columns.series].map(([name, column]) => [name, take(column)])),
    },
    notes:
      revised === 0
        ? []
        : [
            `${source} has changed the volume of ${counted(revised, 'stored bar')}, which stays as it was: --replace ` +
              'downloads the series again.',
          ],
  };
}
