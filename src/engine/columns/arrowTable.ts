// Arrow tables of results: named columns of numbers in the file format that pandas and polars open.
import {
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Field,
  Table,
  tableToIPC,
  TimestampMillisecond,
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
