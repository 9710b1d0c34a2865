// Arrow tables of results: named columns of numbers in the file format that pandas and polars open.
import {
  AsyncByteQueue,
  Bool,
  type DataType,
  Float64,
  Int32,
  makeBuilder,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Field,
  Table,
  tableToIPC,
  TimestampMillisecond,
  Utf8,
  type Vector,
} from './arrowPackage.ts';
import type { Table as ResultTable, TableColumn } from './table.ts';

/** The Arrow IPC file of a `time` column (ms UTC) and the columns after it, null where a value is NaN. */
export function encodeColumns(time: Float64Array, columns: ReadonlyMap<string, Float64Array>): Uint8Array {
  const { length } = time;
  const fields = [
    new Field('time', new TimestampMillisecond('UTC'), false),
    ...[...columns.keys()].map((name) => new Field(name, new Float64(), true)),
  ];
  const children = [
    makeData({ type: new TimestampMillisecond('UTC'), length, nullCount: 0, data: BigInt64Array.from(time, BigInt) }),
    ...[...columns.values()].map((data) => makeData({ type: new Float64(), length, data, ...presence(data) })),
  ];
  const schema = new Schema(fields);
  const batch = new RecordBatch(schema, makeData({ type: new Struct(fields), length, nullCount: 0, children }));
  return tableToIPC(new Table(schema, [batch]), 'file');
}

/** Arrow's bitmap of present values: bit (row & 7) of byte (row >>> 3). */
function presence(values: Float64Array): { nullCount: number; nullBitmap: Uint8Array | undefined } {
  const nullBitmap = new Uint8Array((values.length + 63) >>> 3);
  let nullCount = 0;
  values.forEach((value, row) => {
    if (Number.isNaN(value)) nullCount++;
    else nullBitmap[row >>> 3] |= 1 << (row & 7);
  });
  return { nullCount, nullBitmap: nullCount === 0 ? undefined : nullBitmap };
}

/**
 * The Arrow IPC file of a table in one batch, null where a value is missing; `metadata` becomes the schema's. The
 * columns are in memory together, but the file never is.
 */
export function* encodeTable(
  { length, columns }: ResultTable,
  metadata: Readonly<Record<string, string>> = {},
): Generator<Uint8Array, void, undefined> {
  const table = new Table(Object.fromEntries(columns.map((column) => [column.name, vectorOf(column, length)])));
  for (const [name, value] of Object.entries(metadata)) table.schema.metadata.set(name, value);
  const writer = new RecordBatchFileWriter({ autoDestroy: false });
  const sink = new ChunkSink();
  writer.reset(sink, table.schema);
  for (const batch of table.batches) {
    writer.write(batch);
    yield* sink.take();
  }
  writer.finish();
  yield* sink.take();
}

const ARROW_TYPES: Readonly<Record<TableColumn['type'], () => DataType>> = {
  text: () => new Utf8(),
  boolean: () => new Bool(),
  time: () => new TimestampMillisecond('UTC'),
  number: () => new Float64(),
  count: () => new Int32(),
};

function vectorOf({ type, values, read }: TableColumn, length: number): Vector {
  if (type === 'number' && values !== undefined)
    return makeVector(makeData({ type: new Float64(), length, data: values, ...presence(values) }));
  const builder = makeBuilder({ type: ARROW_TYPES[type](), nullValues: [null] });
  for (let row = 0; row < length; row++) {
    const value = read(row);
    builder.append(Number.isNaN(value) ? null : value);
  }
  return builder.finish().toVector();
}

/** An Arrow IPC file that is written batch by batch; every batch has the same columns. */
export class ArrowFileWriter {
  readonly #writer = new RecordBatchFileWriter({ autoDestroy: false });
  readonly #sink = new ChunkSink();
  #schema: Schema | undefined;

  /** @returns the bytes that the file has become longer by. */
  write({ length, columns }: ResultTable): Uint8Array[] {
    if (this.#schema === undefined) {
      this.#schema = new Schema(columns.map(({ name, type }) => new Field(name, ARROW_TYPES[type](), true)));
      this.#writer.reset(this.#sink, this.#schema);
    }
    const children = columns.map((column) => vectorOf(column, length).data[0] ?? emptyOf(column));
    const data = makeData({ type: new Struct(this.#schema.fields), length, nullCount: 0, children });
    this.#writer.write(new RecordBatch(this.#schema, data));
    return this.#sink.take();
  }

  /** @returns the last bytes of the file. */
  finish(): Uint8Array[] {
    this.#writer.finish();
    return this.#sink.take();
  }
}

const emptyOf = ({ type }: TableColumn) => makeBuilder({ type: ARROW_TYPES[type]() }).flush();

/** What an Arrow writer has written since it was last asked. */
class ChunkSink extends AsyncByteQueue {
  #chunks: Uint8Array[] = [];

  override write(chunk: Parameters<AsyncByteQueue['write']>[0]): void {
    const view = chunk as Uint8Array;
    // A copy: the writer may use the memory again.
    if (view.byteLength > 0) this.#chunks.push(new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice());
  }

  take(): Uint8Array[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }
}
