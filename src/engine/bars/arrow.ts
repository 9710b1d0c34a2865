// Snapshots: one series as an uncompressed Arrow IPC file, opened over shared memory without copying a price.
import {
  RecordBatch,
  Schema,
  Field,
  Float64,
  Int64,
  Struct,
  Table,
  makeData,
  tableFromIPC,
  tableToIPC,
} from './arrowPackage.ts';
import { allocateShared, bytesOf, knowMemory, type SharedBytes } from '../kernels/sharedMemory.ts';
import { TIMEFRAMES } from './bars.ts';
import type { Bars, Instrument, Timeframe } from './bars.ts';

export { allocateShared, bytesOf, type SharedBytes };

/**
 * The columns of a series before it becomes a snapshot; equal lengths, at least one row, times strictly ascending whole
 * ms.
 */
export interface SnapshotColumns {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
  readonly series: ReadonlyMap<string, Float64Array>;
}

/** The metadata of a snapshot, kept in the file's schema so that a pinned file holds everything a run depends on. */
export interface SnapshotAbout {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly instrument: Instrument;
}
export interface SnapshotMeta extends SnapshotAbout {
  /** The hash of the file's bytes, which is its name. */
  readonly sha256: string;
}
/** An opened file: plain data and shared memory, so a message that carries it to a thread copies no bar. */
export interface Snapshot extends SharedBytes {
  readonly meta: SnapshotMeta;
}

const PRICE_COLUMNS = ['open', 'high', 'low', 'close', 'volume'] as const;
/** The schema metadata key that holds SnapshotAbout. */
const ABOUT_KEY = 'candlepool';

/**
 * One record batch: `time` (int64, ms UTC), open, high, low, close, volume and the extra columns by name (float64). The
 * same series gives the same bytes: members and columns are written in a fixed order, and nothing incidental (clock,
 * path) is in the file.
 */
export function encodeSnapshot(columns: SnapshotColumns, about: SnapshotAbout): Uint8Array {
  const length = columns.time.length;
  if (length === 0) throw new Error('A snapshot needs at least one bar.');
  const names = [...columns.series.keys()].sort();
  const values = [...PRICE_COLUMNS.map((name) => columns[name]), ...names.map((name) => columns.series.get(name)!)];
  const fields = [
    new Field('time', new Int64(), false),
    ...[...PRICE_COLUMNS, ...names].map((name) => new Field(name, new Float64(), false)),
  ];
  const schema = new Schema(fields, new Map([[ABOUT_KEY, describe(about)]]));
  const children = [
    makeData({ type: new Int64(), length, nullCount: 0, data: BigInt64Array.from(columns.time, BigInt) }),
    ...values.map((data) => makeData({ type: new Float64(), length, nullCount: 0, data })),
  ];
  const batch = new RecordBatch(schema, makeData({ type: new Struct(fields), length, nullCount: 0, children }));
  return tableToIPC(new Table(schema, [batch]), 'file');
}

/**
 * Views on the snapshot's own memory; only `time` is converted (int64 to float64, once per opening).
 * @throws Error when the bytes are not a snapshot; a file that hashes to its name always is one.
 */
export function openSnapshot(snapshot: Snapshot): Bars {
  const { meta, memory } = snapshot;
  knowMemory(memory);
  const table = tableFromIPC(bytesOf(snapshot));
  if (table.batches.length !== 1)
    throw new Error(`Snapshot ${meta.sha256} has ${table.batches.length} record batches, expected 1.`);
  const [batch] = table.batches;
  const column = (name: string): Float64Array => {
    const values: unknown = batch.getChild(name)?.data[0]?.values;
    if (!(values instanceof Float64Array)) throw new Error(`Snapshot ${meta.sha256} has no float64 column "${name}".`);
    return values.subarray(0, batch.numRows);
  };
  const times: unknown = batch.getChild('time')?.data[0]?.values;
  if (!(times instanceof BigInt64Array)) throw new Error(`Snapshot ${meta.sha256} has no int64 column "time".`);
  const known = new Set<string>(['time', ...PRICE_COLUMNS]);
  const extra = table.schema.fields.map((field) => field.name).filter((name) => !known.has(name));
  return {
    symbol: meta.symbol,
    timeframe: meta.timeframe,
    length: batch.numRows,
    time: toFloat64(times, batch.numRows),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
    series: new Map(extra.map((name) => [name, column(name)])),
    sha256: meta.sha256,
    isResampled: false,
    partialBars: 0,
  };
}

/** The metadata of a file, from nothing but its bytes. */
export function readSnapshotAbout(bytes: Uint8Array): SnapshotAbout {
  return parseSnapshotAbout(tableFromIPC(bytes).schema.metadata);
}

/** @throws Error when the metadata of the file's schema does not describe a series */
export function parseSnapshotAbout(metadata: ReadonlyMap<string, string>): SnapshotAbout {
  const text = metadata.get(ABOUT_KEY);
  if (text === undefined) throw new Error('This Arrow file is not a snapshot: its schema does not describe a series.');
  const about = JSON.parse(text) as SnapshotAbout;
  if (!TIMEFRAMES.includes(about.timeframe))
    throw new Error(`This snapshot has the unknown timeframe "${about.timeframe}".`);
  return about;
}

/** Members in a fixed order: the text is part of what is hashed. */
function describe({ symbol, timeframe, instrument }: SnapshotAbout): string {
  const { base, quote, tickSize, qtyStep, minNotional, tradesAllDay, synthetic, calendarBasis } = instrument;
  const { periodsPerYear, calendar } = instrument;
  return JSON.stringify({
    symbol,
    timeframe,
    instrument: {
      symbol,
      base,
      quote,
      tickSize,
      qtyStep,
      minNotional,
      tradesAllDay,
      synthetic,
      calendarBasis,
      periodsPerYear,
      calendar,
    },
  });
}

/**
 * Replaces Float64Array.from(times, Number), which allocates a BigInt per row: reads both 32-bit halves (Arrow is
 * little-endian).
 */
function toFloat64(times: BigInt64Array, length: number): Float64Array {
  const low = new Uint32Array(times.buffer, times.byteOffset, length * 2);
  const high = new Int32Array(times.buffer, times.byteOffset, length * 2);
  const out = new Float64Array(length);
  for (let row = 0; row < length; row++) out[row] = high[2 * row + 1] * 4_294_967_296 + low[2 * row];
  return out;
}
