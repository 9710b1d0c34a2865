// Arrow tables of results: named columns of numbers in the file format that pandas and polars open.
import {
  AsyncByteQueue,
  Bool,
  Float64,
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
  vectorFromArray,
  type Vector,
} from 'apache-arrow';

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

/** A named column; a NaN number is missing. Times are ms UTC. */
export type TableColumn =
  | {
      readonly name: string;
      readonly type: 'number' | 'time';
      readonly values: ArrayLike<number | null> | readonly unknown[];
    }
  | { readonly name: string; readonly type: 'text' | 'boolean'; readonly values: readonly unknown[] };

/** The Arrow IPC file of columns of several types, null where a value is missing; `metadata` becomes the schema's. */
export function encodeTable(
  columns: readonly TableColumn[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const table = new Table(Object.fromEntries(columns.map((column) => [column.name, vectorOf(column)])));
  for (const [name, value] of Object.entries(metadata)) table.schema.metadata.set(name, value);
  return tableToIPC(table, 'file');
}

function vectorOf(column: TableColumn): Vector {
  // Numbers that are a Float64Array already are not copied one by one: a sweep has millions of them.
  if (column.type === 'number' && column.values instanceof Float64Array) {
    const { values } = column;
    return makeVector(makeData({ type: new Float64(), length: values.length, data: values, ...presence(values) }));
  }
  const values = Array.from(column.values as ArrayLike<unknown>);
  switch (column.type) {
    case 'text':
      return vectorFromArray(values, new Utf8());
    case 'boolean':
      return vectorFromArray(values, new Bool());
    case 'time':
      return vectorFromArray(values, new TimestampMillisecond('UTC'));
    case 'number':
      return vectorFromArray(
        values.map((value) => (Number.isNaN(value) ? null : value)),
        new Float64(),
      );
  }
}

/** An Arrow IPC file that is written batch by batch; every batch has the same columns, numbers or texts. */
export class ArrowFileWriter {
  readonly #writer = new RecordBatchFileWriter({ autoDestroy: false });
  readonly #sink = new ChunkSink();
  #schema: Schema | undefined;

  /** @returns the bytes that the file has become longer by. */
  write(columns: readonly TableColumn[]): Uint8Array[] {
    if (this.#schema === undefined) {
      this.#schema = new Schema(
        columns.map(({ name, type }) => new Field(name, type === 'text' ? new Utf8() : new Float64(), true)),
      );
      this.#writer.reset(this.#sink, this.#schema);
    }
    const length = columns[0].values.length;
    const children = columns.map((column) => vectorOf(column).data[0] ?? emptyOf(column));
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

const emptyOf = ({ type }: TableColumn) =>
  type === 'text' ? makeData({ type: new Utf8(), length: 0 }) : makeData({ type: new Float64(), length: 0 });

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
