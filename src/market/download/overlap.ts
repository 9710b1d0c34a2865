// Overlaps of a download: bars that are stored are compared with those of the source, and only new ones are kept.
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import type { Bars } from '../../engine/bars/bars.ts';
import { counted, isoTime } from '../formatting.ts';
import { refuse } from '../import/importError.ts';

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
export function withoutStored(columns: SnapshotColumns, stored: Bars | null, source: string, series: string): NewBars {
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
