// Apache Arrow from the one file that its package has for browsers: as 146 modules it takes a tenth of a second to
// load, in every process and every thread.
import { createRequire } from 'node:module';
import type * as Arrow from 'apache-arrow';

const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as typeof Arrow;

export const {
  AsyncByteQueue,
  Bool,
  CompressionType,
  DataType,
  DateUnit,
  Field,
  Float64,
  Int32,
  Int64,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchReader,
  Schema,
  Struct,
  Table,
  TimeUnit,
  TimestampMillisecond,
  Utf8,
  compressionRegistry,
  makeBuilder,
  makeData,
  makeVector,
  tableFromIPC,
  tableToIPC,
} = arrow;

export type AsyncByteQueue = Arrow.AsyncByteQueue;
export type DataType = Arrow.DataType;
export type Schema = Arrow.Schema;
export type TimeUnit = Arrow.TimeUnit;
export type Vector = Arrow.Vector;
