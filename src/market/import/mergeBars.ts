// Merging: appends bars to a stored series, which must agree wherever both have a bar.
import type { Timeframe } from '../../engine/bars/bars.ts';
import { barsBetween } from '../../engine/bars/timeframes.ts';
import type { SnapshotColumns } from '../../engine/bars/arrow.ts';
import { MarketDataError, MAX_REFUSALS, refuse } from './importError.ts';
import type { Refusal } from './importError.ts';
import { isoTime } from '../formatting.ts';

const BAR_COLUMNS = ['open', 'high', 'low', 'close', 'volume'] as const;

interface MergedBars {
  readonly columns: SnapshotColumns;
  /** Bars that were not stored before. */
  readonly addedBars: number;
  /** Bars that both have. */
  readonly commonBars: number;
}

/**
 * All bars of both, in order; the new ones may lie before, after and between the stored ones. Extra columns that only
 * one of them has are NaN in the rest.
 * @throws MarketDataError OVERLAP_DISAGREES, STEP_NOT_MULTIPLE
 */
export function mergeBars(stored: SnapshotColumns, added: SnapshotColumns, timeframe: Timeframe): MergedBars {
  checkGrid(stored.time, added.time, timeframe);
  const { storedRows, addedRows } = matchRows(stored.time, added.time);
  const names = [...new Set([...stored.series.keys(), ...added.series.keys()])];
  const pairs = (name: string): [Float64Array | undefined, Float64Array | undefined] => [
    stored.series.get(name),
    added.series.get(name),
  ];
  const compared = [
    ...BAR_COLUMNS.map((name) => ({ name: name as string, ours: stored[name], theirs: added[name] })),
    ...names.flatMap((name) => {
      const [ours, theirs] = pairs(name);
      return ours && theirs ? [{ name, ours, theirs }] : [];
    }),
  ];
  checkAgreement(compared, added.time, storedRows, addedRows);
  const join = (ours: Float64Array | undefined, theirs: Float64Array | undefined): Float64Array =>
    Float64Array.from(storedRows, (row, at) =>
      row >= 0 ? (ours?.[row] ?? theirs?.[addedRows[at]] ?? NaN) : (theirs?.[addedRows[at]] ?? NaN),
    );
  const column = (name: 'time' | (typeof BAR_COLUMNS)[number]): Float64Array => join(stored[name], added[name]);
  return {
    columns: {
      time: column('time'),
      open: column('open'),
      high: column('high'),
      low: column('low'),
      close: column('close'),
      volume: column('volume'),
      series: new Map(names.map((name) => [name, join(...pairs(name))])),
    },
    addedBars: storedRows.length - stored.time.length,
    commonBars: stored.time.length + added.time.length - storedRows.length,
  };
}

/** For each merged bar its row on either side, -1 where that side has none. */
function matchRows(stored: Float64Array, added: Float64Array): { storedRows: Int32Array; addedRows: Int32Array } {
  const most = stored.length + added.length;
  const [storedRows, addedRows] = [new Int32Array(most), new Int32Array(most)];
  let [left, right, length] = [0, 0, 0];
  while (left < stored.length || right < added.length) {
    const ours = left < stored.length ? stored[left] : Infinity;
    const theirs = right < added.length ? added[right] : Infinity;
    storedRows[length] = ours <= theirs ? left++ : -1;
    addedRows[length] = theirs <= ours ? right++ : -1;
    length++;
  }
  return { storedRows: storedRows.subarray(0, length), addedRows: addedRows.subarray(0, length) };
}

function checkGrid(stored: Float64Array, added: Float64Array, timeframe: Timeframe): void {
  if (Number.isInteger(barsBetween(timeframe, stored[0], added[0]))) return;
  refuse(
    'STEP_NOT_MULTIPLE',
    `The new bars begin at ${isoTime(added[0])}, the stored ones at ${isoTime(stored[0])}: that is not a ` +
      `whole number of ${timeframe} bars apart. Check the times, or use --replace.`,
  );
}

function checkAgreement(
  compared: readonly { readonly name: string; readonly ours: Float64Array; readonly theirs: Float64Array }[],
  time: Float64Array,
  storedRows: Int32Array,
  addedRows: Int32Array,
): void {
  const refusals: Refusal[] = [];
  let total = 0;
  for (let at = 0; at < storedRows.length; at++) {
    const [row, newRow] = [storedRows[at], addedRows[at]];
    if (row < 0 || newRow < 0) continue;
    for (const { name, ours, theirs } of compared) {
      if (Object.is(ours[row], theirs[newRow]) || ours[row] === theirs[newRow]) continue;
      total++;
      if (refusals.length === MAX_REFUSALS) continue;
      const message =
        `${isoTime(time[newRow])}: ${name} is ${theirs[newRow]} in the file and ${ours[row]} in the stored ` +
        `bars. Correct the file, or use --replace.`;
      refusals.push({ code: 'OVERLAP_DISAGREES', row: null, line: null, message });
    }
  }
  if (total > 0) throw new MarketDataError(refusals, total);
}
