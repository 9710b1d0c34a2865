// Files of tables, written piece by piece, against the same files written whole.
import { describe, expect, it } from 'vitest';
import { encodeTable } from '../../../src/engine/bars/arrowTable.ts';
import { numberColumn, type Table, type TableColumn } from '../../../src/engine/bars/table.ts';
import { csvFile, jsonFile, type TableFile } from '../../../src/engine/bars/tableText.ts';
import { wholeArrow, wholeCsv, wholeJson } from '../../support/reference/artifactFiles.ts';

const CELLS: Readonly<Record<TableColumn['type'], readonly unknown[]>> = {
  number: [1, -0, 0.1, 1e21, 5e-324, NaN, null, Infinity, -Infinity, 2 ** 53],
  count: [0, 1, -3, 2 ** 31 - 1, null],
  time: [0, Date.UTC(2024, 1, 29), Date.UTC(1969, 6, 20)],
  text: ['plain', '=1+1', 'a,b', 'say "x"', 'two\nlines', '', 'ü€😀', null],
  boolean: [true, false, null],
};
/** Names that an object would sort, hide or repeat. */
const NAMES = ['time', 'b', '10', '2', '__proto__', '=x', 'b', 'toString'];

function tableOf(length: number): Table {
  const types = Object.keys(CELLS) as TableColumn['type'][];
  const columns = NAMES.map((name, at): TableColumn => {
    const type = types[at % types.length];
    return { name, type, read: (row) => CELLS[type][(row * 7 + at) % CELLS[type].length] };
  });
  const values = Float64Array.from({ length }, (_, row) => (row % 5 === 0 ? NaN : row / 3));
  return {
    length,
    columns: [
      ...columns,
      numberColumn('packed', values),
      numberColumn(
        'full',
        values.map((_, at) => at),
      ),
    ],
  };
}

/** Rows of no table, of one word of bits, and of many pieces. */
const LENGTHS = [0, 1, 8, 63, 64, 65, 20_001];

const written = (file: TableFile, ...tables: Table[]): Buffer =>
  Buffer.concat([...tables.flatMap((table) => [...file.add(table)]), ...file.finish()]);

describe('a file of a table', () => {
  it.each(LENGTHS)('of %i rows is byte for byte the one that is written whole', (length) => {
    const table = tableOf(length);
    const json = written(jsonFile({ open: '\n', close: '\n' }), table);
    expect(json.equals(Buffer.from(wholeJson(table)))).toBe(true);
    expect(written(csvFile('\r\n'), table).equals(Buffer.from(wholeCsv(table)))).toBe(true);
    expect(Buffer.concat([...encodeTable(table)]).equals(wholeArrow(table))).toBe(true);
  });

  it('comes in pieces, none of them large', () => {
    const table = tableOf(20_001);
    for (const file of [csvFile('\r\n'), jsonFile({ open: '\n', close: '\n' })]) {
      const pieces = [...file.add(table)];
      expect(pieces.length).toBeGreaterThan(5);
      for (const { length } of pieces) expect(length).toBeLessThan(600_000);
    }
  });

  it('is the same of parts as of the whole', () => {
    const table = tableOf(100);
    const { columns } = table;
    const part = (first: number, end: number): Table => ({
      length: end - first,
      columns: columns.map(({ name, type, read }) => ({ name, type, read: (row) => read(first + row) })),
    });
    const parts = [part(0, 0), part(0, 1), part(1, 99), part(99, 100)];
    for (const file of [() => csvFile('\n'), () => jsonFile({ open: '', close: '' })])
      expect(written(file(), ...parts).equals(written(file(), table))).toBe(true);
  });
});
