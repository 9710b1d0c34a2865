// Every row of a sweep as a file: Arrow, CSV or JSON, one column per parameter and one per metric.
import { csvCell } from '../bars/csvCell.ts';
import { encodeTable, type TableColumn } from '../bars/arrowTable.ts';
import { isNumeric, valueAt, type Space } from './space.ts';
import type { SweepRows } from './sweepRows.ts';

export const SWEEP_FORMATS = ['arrow', 'csv', 'json'] as const;
export type SweepFormat = (typeof SWEEP_FORMATS)[number];

/** Chunks of at most `rows` text lines, so that a million rows are never one string. */
const LINES_PER_PIECE = 5_000;

export function* encodeSweepRows(space: Space, rows: SweepRows, format: SweepFormat): Generator<Uint8Array> {
  const columns = columnsOf(space, rows);
  if (format === 'arrow') yield encodeTable(columns);
  else if (format === 'csv') yield* csvOf(columns, rows.indexes.length);
  else yield* jsonOf(columns, rows.indexes.length);
}

/** Params keep their names; a metric with the same name gets a prefix. */
function columnsOf(space: Space, rows: SweepRows): TableColumn[] {
  const taken = new Set(['variant', ...space.dimensions.map(({ name }) => name)]);
  return [
    { name: 'variant', type: 'number', values: rows.indexes },
    ...space.dimensions.map((dimension, at): TableColumn => {
      const read = (coordinate: number) => valueAt(dimension, coordinate);
      const column = rows.coordinates[at];
      return isNumeric(dimension)
        ? { name: dimension.name, type: 'number', values: column.map((coordinate) => read(coordinate) as number) }
        : { name: dimension.name, type: 'text', values: Array.from(column, (coordinate) => String(read(coordinate))) };
    }),
    ...rows.metrics.map(({ key, values }): TableColumn => ({
      name: taken.has(key) ? `result.${key}` : key,
      type: 'number',
      values,
    })),
  ];
}

function* csvOf(columns: readonly TableColumn[], count: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`${columns.map(({ name }) => csvCell(name)).join(',')}\n`);
  for (let from = 0; from < count; from += LINES_PER_PIECE) {
    let text = '';
    for (let row = from; row < Math.min(count, from + LINES_PER_PIECE); row++)
      text += `${columns.map(({ values }) => csvCell(values[row])).join(',')}\n`;
    yield encoder.encode(text);
  }
}

function* jsonOf(columns: readonly TableColumn[], count: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode('[');
  for (let from = 0; from < count; from += LINES_PER_PIECE) {
    const lines: string[] = [];
    for (let row = from; row < Math.min(count, from + LINES_PER_PIECE); row++)
      lines.push(JSON.stringify(Object.fromEntries(columns.map(({ name, values }) => [name, orNull(values[row])]))));
    yield encoder.encode(`${from === 0 ? '' : ',\n'}${lines.join(',\n')}`);
  }
  yield encoder.encode(']\n');
}

const orNull = (value: unknown): unknown => (typeof value === 'number' && value !== value ? null : value);
