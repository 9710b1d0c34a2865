// Text without quotes is read from its bytes, with quotes by a library: the same cells give the same table.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../src/market/import/csv.ts';
import { MarketDataError } from '../../src/market/import/importError.ts';
import { isoText } from '../../src/market/import/table.ts';
import type { Table } from '../../src/market/import/table.ts';
import { scaled } from '../support/scale.ts';

/** What a table says, or why there is none; times as the texts that they were. */
function answer(text: string): unknown {
  try {
    return contentOf(readCsv(Buffer.from(text)));
  } catch (error) {
    if (error instanceof MarketDataError) return error.message;
    throw error;
  }
}
const contentOf = ({ names, rowCount, columns, firstLine, notes }: Table): unknown => ({
  names,
  rowCount,
  firstLine,
  notes,
  columns: columns.map(({ numbers, texts, iso }) =>
    Array.from(numbers, (value, row) => texts?.[row] ?? (iso && !Number.isNaN(value) ? isoText(value, iso) : value)),
  ),
});
const quoted = (lines: readonly (readonly string[])[]): string =>
  lines.map((cells) => cells.map((cell) => `"${cell}"`).join(',')).join('\n');
const plain = (lines: readonly (readonly string[])[]): string => lines.map((cells) => cells.join(',')).join('\n');

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.tuple(fc.integer({ min: 0, max: 99_999 }), fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`),
  fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
  fc.constantFrom('', '-0', '.5', '5.', '-', '1e5', '1E-7', '1e', '00012', '+3', '0x10', 'NaN', 'Infinity', '1.5.2'),
);
const time = fc.oneof(
  fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')),
  fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString()),
  fc.constantFrom('2024-02-30 00:00:00', '2024-01-01 25:00:00', '2024-01-01', 'yesterday', ''),
);
const row = (first: fc.Arbitrary<string>) =>
  fc.tuple(first, number, number, number, number, number).map((cells) => [...cells]);

describe('a table without quotes', () => {
  const header = ['time', 'open', 'high', 'low', 'close', 'volume'];
  it.each([
    ['of any cells', fc.oneof(time, number)],
    ['with a symbol in front', fc.constantFrom('AAPL', 'MSFT', 'Ünïcode', '', '# no', 'Total')],
    ['of times alike', fc.integer({ min: 0, max: 4e9 }).map((s) => new Date(s * 1000).toISOString().slice(0, 19))],
  ])('%s is the same as one with quotes', (_, first) => {
    const long = fc.array(row(first), { minLength: 1, maxLength: 150 });
    fc.assert(
      fc.property(long, fc.boolean(), (rows, isNamed) => {
        const lines = isNamed ? [header, ...rows] : rows;
        expect(answer(plain(lines))).toEqual(answer(quoted(lines)));
      }),
      { numRuns: scaled(300), seed: 5 },
    );
  });

  it('keeps a number that has more digits than a product is exact with', () => {
    const rows = Array.from({ length: 80 }, (_, at) => `${at * 60},0.1234567890123456789,${2 ** 53 + at},1.1,1e-7,1`);
    const { columns } = readCsv(Buffer.from(`${header.join(',')}\n${rows.join('\n')}`));
    expect(columns[1].numbers[79]).toBe(Number('0.1234567890123456789'));
    expect(columns[2].numbers[79]).toBe(Number(String(2 ** 53 + 79)));
    expect(columns[4].numbers[79]).toBe(1e-7);
  });

  it('goes on as text where a later time is written otherwise', () => {
    const at = (minute: number): string => new Date(Date.UTC(2024, 0, 1, 0, minute)).toISOString();
    const rows = Array.from({ length: 120 }, (_, minute) => {
      const text = minute === 100 ? at(minute).slice(0, 16) : at(minute).slice(0, 19);
      return `${text},1,1,1,1,1`;
    });
    const { columns } = readCsv(Buffer.from(`${header.join(',')}\n${rows.join('\n')}`));
    expect(columns[0].texts?.[100]).toBe('2024-01-01T01:40');
    expect(columns[0].texts?.[99]).toBe('2024-01-01T01:39:00');
  });
});
