// Importing a series: as a new one, as a replacement for a stored one, or appended to it.
import { CONTRADICTION_ADVICE, describeContradictions } from '../../engine/bars/contradictionCause.ts';
import { contradictionsOf, type Contradictions } from '../../engine/bars/contradictions.ts';
import { coversBars } from '../../engine/bars/coverage.ts';
import type { Bars, Instrument } from '../../engine/bars/bars.ts';
import { compareDays } from '../../engine/bars/exchangeDays.ts';
import { exchangeOf } from '../../engine/bars/runCalendar.ts';
import { divides, isFiner } from '../../engine/bars/timeframes.ts';
import { openSnapshot } from '../../engine/bars/arrow.ts';
import { refuseExisting } from '../catalog.ts';
import type { CatalogEntry, StoredCatalog } from '../catalog.ts';
import { summarizeSeries } from './importReport.ts';
import type { BarsTable, ImportReport } from './importReport.ts';
import { makeInstrument, updateInstrument } from '../instrument.ts';
import type { InstrumentFields } from '../instrument.ts';
import { mergeBars } from './mergeBars.ts';
import { counted, rangeOf } from '../formatting.ts';

/** What an import reads of the place that it adds to. */
export type SeriesStore = Pick<StoredCatalog, 'list' | 'open' | 'add'>;

export interface ImportRequest {
  readonly symbol: string;
  readonly bars: BarsTable;
  /** Metadata that this import states. */
  readonly given: InstrumentFields;
  /** What to do with a stored series of the same symbol and timeframe. */
  readonly onExisting: 'refuse' | 'append' | 'replace';
}
export interface ImportedSeries {
  /** The catalog's entry after the import. */
  readonly entry: CatalogEntry;
  readonly report: ImportReport;
}

/** @throws MarketDataError SERIES_EXISTS, OVERLAP_DISAGREES, STEP_NOT_MULTIPLE, SERIES_CHANGED, SYMBOL_INVALID */
export async function importSeries(
  catalog: SeriesStore,
  { symbol, bars, given, onExisting }: ImportRequest,
): Promise<ImportedSeries> {
  const entries = (await catalog.list()).filter((entry) => entry.symbol === symbol);
  const existing = entries.find((entry) => entry.timeframe === bars.report.timeframe);
  if (existing && onExisting === 'refuse') refuseExisting(existing, bars.report);
  const stored = existing && onExisting === 'append' ? await appended(catalog, existing, bars) : bars;
  const known = existing ?? entries.at(0);
  const { calendar } = stored.report;
  const instrument = known
    ? updateInstrument(known.instrument, given, calendar)
    : makeInstrument(symbol, given, calendar);
  const entry = await catalog.add(symbol, stored, instrument, existing);
  const others = entries.filter((other) => other !== existing);
  const notes = [
    ...stored.report.notes,
    ...calendarNotes(stored, instrument),
    ...(await neighborNotes(catalog, entry, others)),
  ];
  return { entry, report: { ...stored.report, notes } };
}

async function appended(catalog: SeriesStore, existing: CatalogEntry, bars: BarsTable): Promise<BarsTable> {
  const { timeframe } = existing;
  const merged = mergeBars(await openEntry(catalog, existing), bars.columns, timeframe);
  const { addedBars, commonBars } = merged;
  const added = counted(addedBars, 'bar');
  const note = `Added ${added} to the ${existing.bars} stored ones; bars in both: ${commonBars}, in agreement.`;
  const report: ImportReport = {
    ...bars.report,
    ...summarizeSeries(merged.columns, timeframe),
    series: [...merged.columns.series.keys()],
    notes: [...bars.report.notes, note],
  };
  return { ...bars, columns: merged.columns, report };
}

/** What the calendar of the exchange and the days of the bars do not agree on. */
function calendarNotes({ columns, report }: BarsTable, instrument: Instrument): string[] {
  const exchange = exchangeOf(instrument);
  if (exchange === undefined) return [];
  const { missing, closed } = compareDays({ time: columns.time, timeframe: report.timeframe }, exchange);
  const notes = [`Trading days and hours of ${exchange.name}: ${exchange.title}.`];
  if (missing.length > 0)
    notes.push(`${counted(missing.length, 'trading day')} of ${exchange.name} without bars: ${firstDays(missing)}.`);
  if (closed.length > 0)
    notes.push(
      `${counted(closed.length, 'day')} with bars on which ${exchange.name} was closed: ${firstDays(closed)}.`,
    );
  return notes;
}

/** The first of many days. */
const SHOWN_DAYS = 5;
const firstDays = (days: readonly number[]): string =>
  days
    .slice(0, SHOWN_DAYS)
    .map((day) => new Date(day).toISOString().slice(0, 10))
    .join(', ') + (days.length > SHOWN_DAYS ? ' …' : '');

/**
 * Says which series of the symbol contradict a coarser one (semantics §3.2) or cover only a part of it
 * (semantics §1.13), and what that means.
 */
async function neighborNotes(
  catalog: SeriesStore,
  entry: CatalogEntry,
  others: readonly CatalogEntry[],
): Promise<string[]> {
  if (others.length === 0) return [];
  const notes: string[] = [];
  const bars = await openEntry(catalog, entry);
  for (const other of others) {
    const otherBars = await openEntry(catalog, other);
    const isFinest = isFiner(entry.timeframe, other.timeframe);
    const [finer, coarser] = isFinest ? [entry, other] : [other, entry];
    const [finerBars, coarserBars] = isFinest ? [bars, otherBars] : [otherBars, bars];
    // Weeks say nothing about months, nor 4h bars about those of 6h.
    if (!divides(finer.timeframe, coarser.timeframe)) continue;
    const contradictions = contradictionsOf(coarserBars, finerBars);
    if (contradictions !== null && contradictions.count > 0) notes.push(contradictionNote(contradictions));
    if (contradictions?.isDrillingOff || coversBars(finerBars, coarserBars)) continue;
    notes.push(
      `The ${finer.timeframe} bars (${rangeOf(finer)}) cover only a part of the ${coarser.timeframe} bars ` +
        `(${rangeOf(coarser)}): runs on ${coarser.timeframe} use them to look inside bars, and resample no ` +
        'other timeframe from them.',
    );
  }
  return notes;
}

function contradictionNote(found: Contradictions): string {
  const { base, fine } = found;
  const consequence = found.isDrillingOff
    ? `Runs on ${base.timeframe} neither drill into the ${fine.timeframe} bars nor resample from them.`
    : `Runs on ${base.timeframe} do not drill into the contradicted ones.`;
  return `${describeContradictions(found)} ${consequence} ${CONTRADICTION_ADVICE}`;
}

async function openEntry(catalog: SeriesStore, { sha256 }: CatalogEntry): Promise<Bars> {
  const [snapshot] = await catalog.open([sha256]);
  return openSnapshot(snapshot);
}
