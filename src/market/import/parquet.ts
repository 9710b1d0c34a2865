// Parquet: flat tables of numbers and instants, of any codec, into a Table.
import { parquetMetadata, parquetRead } from 'hyparquet';
import type { SchemaElement } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { DAY_MS } from '../../engine/bars/bars.ts';
import { CELL_BYTES, CellsBuilder, MAX_CELLS, MAX_COLUMNS } from './table.ts';
import type { Table } from './table.ts';
import { refuse } from './importError.ts';

/**
 * Instants as plain ms instead of Date, because a Date truncates fractions of a millisecond before they can be rounded.
 */
const PARSERS = {
  timestampFromMilliseconds: (value: bigint) => Number(value),
  timestampFromMicroseconds: (value: bigint) => Number(value) / 1e3,
  timestampFromNanoseconds: (value: bigint) => Number(value) / 1e6,
  dateFromDays: (days: number) => days * DAY_MS,
};

/**
 * @param maxBytes the most that its numbers may take
 * @throws MarketDataError FILE_TOO_LARGE; an Error of the reader when the file is damaged
 */
export async function readParquet(bytes: Uint8Array, maxBytes = Infinity): Promise<Table> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const metadata = parquetMetadata(file);
  const rowCount = Number(metadata.num_rows);
  const [, ...elements] = metadata.schema;
  const leaves = elements.filter((element) => element.num_children === undefined);
  if (leaves.length !== elements.length)
    refuse(
      'FORMAT_UNKNOWN',
      'The Parquet file has nested columns. Write it as a flat table with one column per field.',
    );
  const maxCells = Math.min(MAX_CELLS, Math.floor(maxBytes / CELL_BYTES));
  if (leaves.length > MAX_COLUMNS || leaves.length * rowCount > maxCells) {
    refuse(
      'FILE_TOO_LARGE',
      `The file has ${leaves.length} columns of ${rowCount} rows, more than ${maxCells} cells in all. ` +
        `Import fewer columns or a shorter range.`,
    );
  }
  const chunks = new Map<string, { rowStart: number; data: ArrayLike<unknown> }[]>();
  await parquetRead({
    file,
    metadata,
    compressors,
    parsers: PARSERS,
    onChunk: ({ columnName, columnData, rowStart }) => {
      const parts = chunks.get(columnName) ?? [];
      chunks.set(columnName, parts);
      parts.push({ rowStart, data: columnData });
    },
  });
  const columns = leaves.map((leaf) => {
    const parts = (chunks.get(leaf.name) ?? []).toSorted((a, b) => a.rowStart - b.rowStart);
    const cells = new CellsBuilder(Math.max(1, rowCount));
    for (const { data } of parts) for (let row = 0; row < data.length; row++) cells.push(data[row]);
    return cells.finish(isInstant(leaf) ? 'ms' : undefined);
  });
  return { format: 'parquet', names: leaves.map((leaf) => leaf.name), rowCount, columns, firstLine: null, notes: [] };
}

function isInstant({ type, converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  if (type === 'INT96' || converted === 'DATE' || converted?.startsWith('TIMESTAMP')) return true;
  return logical?.type === 'TIMESTAMP' || logical?.type === 'DATE';
}
