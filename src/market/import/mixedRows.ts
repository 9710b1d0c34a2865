// Mixed rows: a file whose rows share their times because they belong to several instruments, contracts or timeframes.
import type { ColumnRoles } from './header.ts';
import { refuse } from './importError.ts';
import { symbolOfRow } from './table.ts';
import type { Cells } from './table.ts';

/** Two downloads that overlap share fewer of their times than the rows of two instruments. */
const MIN_SHARE = 1 / 3;
/** A column of values, such as a count of trades, has more different ones. */
const MAX_VALUES = 1 / 3;
const SHOWN = 3;

/**
 * Refuses rows that a column tells apart wherever they have the same time: to keep the first would mix instruments.
 * @throws MarketDataError SEVERAL_INSTRUMENTS
 */
export function refuseMixedRows({ extra }: Pick<ColumnRoles, 'extra'>, times: Float64Array): void {
  const groups = repeatedTimes(times);
  const rows = groups.reduce((sum, group) => sum + group.length - 1, 0);
  if (rows < times.length * MIN_SHARE) return;
  for (const { name, cells } of extra) {
    const values = valuesOf(cells, times.length);
    if (values === null || !groups.every((group) => areDifferent(cells, group))) continue;
    const shown = values.slice(0, SHOWN).join(', ') + (values.length > SHOWN ? ', …' : '');
    refuse(
      'SEVERAL_INSTRUMENTS',
      `Rows have the same time, and column "${name}" tells them apart (${shown}). Make a series of each: --columns ` +
        `"symbol=${name}". If it is the same series, say so: --columns symbol=.`,
    );
  }
}

/** The rows of each time that appears more than once. */
function repeatedTimes(times: Float64Array): number[][] {
  const firsts = new Map<number, number>();
  const groups = new Map<number, number[]>();
  times.forEach((time, row) => {
    const first = firsts.get(time);
    if (first === undefined) firsts.set(time, row);
    else groups.set(time, [...(groups.get(time) ?? [first]), row]);
  });
  return [...groups.values()];
}

/** The different values of a column; null if there are too many, or one. */
function valuesOf(cells: Cells, rowCount: number): readonly (string | null)[] | null {
  const values = new Set<string | null>();
  for (let row = 0; row < rowCount && values.size <= rowCount * MAX_VALUES; row++) values.add(symbolOfRow(cells, row));
  return values.size < 2 || values.size > rowCount * MAX_VALUES ? null : [...values];
}

const areDifferent = (cells: Cells, rows: readonly number[]): boolean =>
  new Set(rows.map((row) => symbolOfRow(cells, row))).size === rows.length;
