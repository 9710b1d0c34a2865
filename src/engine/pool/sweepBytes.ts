// Rows of a sweep as bytes: a JSON head that names the columns, then the columns as they lie in memory, compressed
// together.
import { constants } from 'node:zlib';
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import type { SweepRows, VariantFailures } from '../sweep/sweepRows.ts';
import { compressed, decompressed } from './nativeCalls.ts';

/** Level 1: columns of numbers shrink to about half, at half a gigabyte per second. */
const COMPRESSION_LEVEL = 1;
/** A million rows of twenty columns are 160 MB. */
const MAX_ROWS_BYTES = 1 << 30;

interface Head {
  readonly rows: number;
  readonly dimensions: number;
  readonly metrics: readonly FlatKey[];
  readonly folds: number;
  readonly sampled: number;
  readonly sums: number;
  readonly failures: VariantFailures;
}

/** Encodes the rows of a shard for the database. */
export function encodeRows(rows: SweepRows): Uint8Array {
  const head: Head = {
    rows: rows.indexes.length,
    dimensions: rows.coordinates.length,
    metrics: rows.metrics.map(({ key }) => key),
    folds: rows.training.length,
    sampled: rows.sampled.length,
    sums: rows.sums.length,
    failures: rows.failures,
  };
  const text = Buffer.from(JSON.stringify(head));
  const columns = columnsOf(rows);
  // The columns begin at a multiple of eight, so that they can be read where they lie.
  const start = 8 * Math.ceil((4 + text.length) / 8);
  const bytes = new Uint8Array(start + columns.reduce((sum, column) => sum + column.byteLength, 0));
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  let at = start;
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += column.byteLength;
  }
  return compressed(bytes, { params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL } });
}

const columnsOf = (rows: SweepRows): Float64Array[] => [
  rows.indexes,
  ...rows.coordinates,
  ...rows.metrics.map(({ values }) => values),
  rows.dailySharpe,
  ...rows.training,
  rows.sampled,
  rows.sums,
];

/**
 * Decodes rows; the columns are views of one buffer.
 * @throws Error when the bytes are not what `encodeRows` wrote, or unpack to more than 1 GiB
 */
export function decodeRows(stored: Uint8Array): SweepRows {
  const unpacked = decompressed(stored, { maxOutputLength: MAX_ROWS_BYTES });
  // A buffer of its own, so that it begins at a multiple of eight.
  const bytes = unpacked.byteOffset % 8 === 0 ? unpacked : new Uint8Array(unpacked);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(Buffer.from(bytes.subarray(4, 4 + length)).toString()) as Head;
  let at = bytes.byteOffset + 8 * Math.ceil((4 + length) / 8);
  const next = (count: number): Float64Array => {
    const column = new Float64Array(bytes.buffer, at, count);
    at += column.byteLength;
    return column;
  };
  const many = (count: number): Float64Array[] => Array.from({ length: count }, () => next(head.rows));
  return {
    indexes: next(head.rows),
    coordinates: many(head.dimensions),
    metrics: head.metrics.map((key) => ({ key, values: next(head.rows) })),
    dailySharpe: next(head.rows),
    training: many(head.folds),
    sampled: next(head.sampled),
    sums: next(head.sums),
    failures: head.failures,
  };
}
