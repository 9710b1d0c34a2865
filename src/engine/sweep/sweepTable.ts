// Every row of a sweep as a file: Arrow, CSV or JSON, one column per parameter and one per metric.
import { ArrowFileWriter, type TableColumn } from '../bars/arrowTable.ts';
import { csvCell } from '../bars/csvCell.ts';
import { isNumeric, valueAt, type Space } from './space.ts';
import { INSTANT_KEY, isoTime } from '../report/shownSummary.ts';
import type { SweepRows } from './sweepRows.ts';

export const SWEEP_FORMATS = ['arrow', 'csv', 'json'] as const;
export type SweepFormat = (typeof SWEEP_FORMATS)[number];

/** Chunks of at most `rows` text lines, so that a million rows are never one string. */
const LINES_PER_PIECE = 5_000;

/** The bytes of a file, shard by shard: only one is in memory at a time. */
export async function* encodeSweepRows(
  space: Space,
  shards: AsyncIterable<SweepRows> | Iterable<SweepRows>,
  format: SweepFormat,
): AsyncGenerator<Uint8Array> {
  const file = { arrow: arrowFile, csv: csvFile, json: jsonFile }[format]();
  for await (const rows of shards) yield* file.add(columnsOf(space, rows));
  yield* file.finish();
}

interface TableFile {
  add(columns: readonly TableColumn[]): Iterable<Uint8Array>;
  finish(): Iterable<Uint8Array>;
}

function arrowFile(): TableFile {
  const writer = new ArrowFileWriter();
  return { add: (columns) => writer.write(columns), finish: () => writer.finish() };
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
    ...rows.metrics.map(({ key, values }): TableColumn => {
      const name = taken.has(key) ? `result.${key}` : key;
      if (key !== INSTANT_KEY) return { name, type: 'number', values };
      return { name, type: 'text', values: Array.from(values, (ms) => (ms === ms ? isoTime(ms) : null)) };
    }),
  ];
}

const encoder = new TextEncoder();

function csvFile(): TableFile {
  let isBegun = false;
  return {
    *add(columns) {
      if (!isBegun) yield encoder.encode(`${columns.map(({ name }) => csvCell(name)).join(',')}\n`);
      isBegun = true;
      yield* piecesOf(columns, (row) => `${columns.map(({ values }) => csvCell(values[row])).join(',')}\n`);
    },
    finish: () => [],
  };
}

function jsonFile(): TableFile {
  let isBegun = false;
  return {
    *add(columns) {
      yield* piecesOf(columns, (row) => {
        const before = isBegun ? ',\n' : '[';
        isBegun = true;
        return (
          before + JSON.stringify(Object.fromEntries(columns.map(({ name, values }) => [name, orNull(values[row])])))
        );
      });
    },
    finish: () => [encoder.encode(isBegun ? ']\n' : '[]\n')],
  };
}

function* piecesOf(columns: readonly TableColumn[], lineOf: (row: number) => string): Generator<Uint8Array> {
  const count = columns[0].values.length;
  for (let from = 0; from < count; from += LINES_PER_PIECE) {
    let text = '';
    for (let row = from; row < Math.min(count, from + LINES_PER_PIECE); row++) text += lineOf(row);
    yield encoder.encode(text);
  }
}

const orNull = (value: unknown): unknown => (typeof value === 'number' && value !== value ? null : value);
