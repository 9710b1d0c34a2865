// Arrow and Feather: IPC files and streams, compressed or not, into a Table.
import { zstdDecompressSync } from 'node:zlib';
import { decompress, decompressBound } from 'lz4js';
import {
  CompressionType,
  DataType,
  DateUnit,
  TimeUnit as ArrowTimeUnit,
  compressionRegistry,
  tableFromIPC,
  type Vector,
} from '../../engine/bars/arrowPackage.ts';
import { DAY_MS } from '../../engine/bars/bars.ts';
import { CELL_BYTES, CellsBuilder, MAX_CELLS, MAX_COLUMNS } from './table.ts';
import type { Cells, Table, TimeUnit } from './table.ts';
import { refuse } from './importError.ts';

// apache-arrow comes without codecs; pyarrow compresses Feather with LZ4 unless told otherwise.
compressionRegistry.set(CompressionType.ZSTD, {
  decode: (data) => spend(zstdDecompressSync(data, { maxOutputLength: Math.max(1, unpackedLeft) })),
});
compressionRegistry.set(CompressionType.LZ4_FRAME, {
  decode: (data) => {
    if (decompressBound(data) > unpackedLeft) throw new Error('it unpacks to more than is read of one file');
    return spend(decompress(data));
  },
});

/** What is left of the file that is being read: a few bytes can unpack to gigabytes. */
let unpackedLeft = MAX_CELLS * CELL_BYTES;

function spend(unpacked: Uint8Array): Uint8Array {
  unpackedLeft -= unpacked.length;
  return unpacked;
}

const UNITS: Readonly<Record<ArrowTimeUnit, TimeUnit>> = {
  [ArrowTimeUnit.SECOND]: 's',
  [ArrowTimeUnit.MILLISECOND]: 'ms',
  [ArrowTimeUnit.MICROSECOND]: 'us',
  [ArrowTimeUnit.NANOSECOND]: 'ns',
};

/**
 * @param maxBytes the most that its numbers may take
 * @throws MarketDataError FILE_TOO_LARGE; an Error of the reader when the file is damaged
 */
export function readArrow(bytes: Uint8Array, maxBytes = Infinity): Table {
  const maxCells = Math.min(MAX_CELLS, Math.floor(maxBytes / CELL_BYTES));
  unpackedLeft = maxCells * CELL_BYTES;
  const table = tableFromIPC(bytes);
  const { numRows: rowCount, numCols } = table;
  if (numCols > MAX_COLUMNS || numCols * rowCount > maxCells) {
    refuse(
      'FILE_TOO_LARGE',
      `The file has ${numCols} columns of ${rowCount} rows, more than ${maxCells} cells in all. Import ` +
        `fewer columns or a shorter range.`,
    );
  }
  const columns = table.schema.fields.map((_, index) => readVector(table.getChildAt(index)!));
  return {
    format: 'arrow',
    names: table.schema.fields.map((field) => field.name),
    rowCount,
    columns,
    firstLine: null,
    notes: [],
  };
}

function readVector(vector: Vector): Cells {
  const cells = new CellsBuilder(Math.max(1, vector.length));
  const { type } = vector;
  // Read raw: get() would turn nanoseconds into a fraction of milliseconds.
  if (DataType.isTimestamp(type) || DataType.isDate(type)) {
    for (const data of vector.data) {
      const values = data.values as ArrayLike<number | bigint>;
      for (let row = 0; row < data.length; row++) cells.push(data.getValid(row) ? scaled(values[row], type) : null);
    }
    return cells.finish(DataType.isTimestamp(type) ? UNITS[type.unit] : 'ms');
  }
  const cellOf = DataType.isDecimal(type) ? decimalReader(type.scale) : (cell: unknown): unknown => cell;
  for (let row = 0; row < vector.length; row++) cells.push(cellOf(vector.get(row)));
  return cells.finish();
}

/** Decimals are integers of 32-bit words, the lowest first, in two's complement; as text they keep every digit. */
function decimalReader(scale: number): (cell: unknown) => unknown {
  return (cell) => {
    if (!(cell instanceof Uint32Array)) return cell;
    const unsigned = cell.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n);
    return `${BigInt.asIntN(cell.length * 32, unsigned)}e${-scale}`;
  };
}

const scaled = (value: number | bigint, type: DataType): number =>
  DataType.isDate(type) && type.unit === DateUnit.DAY ? Number(value) * DAY_MS : Number(value);
