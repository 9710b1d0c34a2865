// Every row of a sweep as a file: Arrow, CSV or JSON, one column per parameter and one per metric.
import { ArrowFileWriter } from '../bars/arrowTable.ts';
import { numberColumn, type Table, type TableColumn } from '../bars/table.ts';
import { csvFile, jsonFile, type TableFile } from '../bars/tableText.ts';
import { isNumeric, valueAt, type Dimension, type LevelValue, type Space } from './space.ts';
import { UNITS } from '../definitions/statistics/statistic.ts';
import { statisticOf } from '../definitions/statistics/statistics.ts';
import type { SweepRows } from './sweepRows.ts';

export const SWEEP_FORMATS = ['arrow', 'csv', 'json'] as const;
export type SweepFormat = (typeof SWEEP_FORMATS)[number];

/** The bytes of a file, shard by shard: only one is in memory at a time. */
export async function* encodeSweepRows(
  space: Space,
  shards: AsyncIterable<SweepRows> | Iterable<SweepRows>,
  format: SweepFormat,
): AsyncGenerator<Uint8Array> {
  const file = FILES[format]();
  for await (const rows of shards) yield* file.add(tableOf(space, rows));
  yield* file.finish();
}

const FILES: Readonly<Record<SweepFormat, () => TableFile>> = {
  arrow: () => {
    const writer = new ArrowFileWriter();
    return { add: (table) => writer.write(table), finish: () => writer.finish() };
  },
  csv: () => csvFile('\n'),
  json: () => jsonFile({ open: '', close: '' }),
};

/** Params keep their names; a metric with the same name gets a prefix. */
function tableOf(space: Space, rows: SweepRows): Table {
  const taken = new Set(['variant', ...space.dimensions.map(({ name }) => name)]);
  const dimensions = space.dimensions.map((dimension, at): TableColumn => {
    const { name } = dimension;
    const column = rows.coordinates[at];
    if (isNumeric(dimension) && isWhole(dimension))
      return { name, type: 'count', read: (row) => valueAt(dimension, column[row]) };
    if (isNumeric(dimension))
      return numberColumn(
        name,
        column.map((coordinate) => valueAt(dimension, coordinate) as number),
      );
    if (isBoolean(dimension)) return { name, type: 'boolean', read: (row) => valueAt(dimension, column[row]) };
    return { name, type: 'text', read: (row) => String(valueAt(dimension, column[row])) };
  });
  const metrics = rows.metrics.map(({ key, values }): TableColumn => {
    const name = taken.has(key) ? `result.${key}` : key;
    const type = UNITS[statisticOf(key).unit].column;
    return type === 'number' ? numberColumn(name, values) : { name, type, read: (row) => values[row] };
  });
  const variant: TableColumn = { name: 'variant', type: 'count', read: (row) => rows.indexes[row] };
  return { length: rows.indexes.length, columns: [variant, ...dimensions, ...metrics] };
}

const isBoolean = (dimension: Dimension): boolean =>
  dimension.kind === 'levels' && dimension.values.every((value) => typeof value === 'boolean');

/** Whether all values of a numeric dimension are whole numbers of 32 bits. */
function isWhole(dimension: Dimension): boolean {
  const isInt = (value: LevelValue): boolean => typeof value === 'number' && value === (value | 0);
  if (dimension.kind === 'levels') return dimension.values.every(isInt);
  if (dimension.kind === 'continuous' || dimension.log) return false;
  const { min, step, count } = dimension;
  return isInt(min) && isInt(step) && isInt(min + step * count);
}
