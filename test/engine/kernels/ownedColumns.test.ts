import { expect, it } from 'vitest';
import { memoryUnderOwned, newColumn, ownsBuffer } from '../../../src/engine/kernels/ownedColumns.ts';

const ROWS = 1_000;
/** The bits by which an AMD processor tells apart the lines of a set in its first cache come from these. */
const HASHED_BYTES = 4096;

it('begins columns that are made one after the other on different lines of different pages', () => {
  const columns = Array.from({ length: 8 }, () => newColumn(ROWS, 1));
  const lines = columns.map(({ byteOffset }) => (byteOffset % HASHED_BYTES) / 64);
  const pages = columns.map(({ byteOffset }) => Math.floor(byteOffset / HASHED_BYTES));
  expect(new Set(lines).size).toBe(8);
  expect(new Set(pages).size).toBe(8);
  expect(lines.every(Number.isInteger)).toBe(true);
  // A market's columns begin near the start of their memory.
  expect(pages).not.toContain(0);
});

it('holds all rows as zeros in a memory of its own, wherever in it the column begins', () => {
  for (let made = 0; made < 20; made++) {
    const column = newColumn(ROWS, 1);
    expect(column).toEqual(new Float64Array(ROWS));
    expect(memoryUnderOwned(column)?.buffer).toBe(column.buffer);
  }
});

it('owns the buffer of a whole column, not that of a part or of memory that others read', () => {
  for (const column of [newColumn(ROWS, 1), newColumn(ROWS)]) {
    expect(ownsBuffer(column)).toBe(true);
    expect(ownsBuffer(column.subarray(1))).toBe(false);
  }
  expect(ownsBuffer(new Float64Array(new SharedArrayBuffer(8)))).toBe(false);
});
