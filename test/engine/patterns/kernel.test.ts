// Kernels of single patterns against the same rules read row by row, and against the program that short series take.
import { describe, expect, it } from 'vitest';
import { newColumn } from '../../../src/engine/kernels/simd/ownedColumns.ts';
import { allocateShared } from '../../../src/engine/kernels/simd/sharedMemory.ts';
import { SIGNS } from '../../../src/engine/kernels/simd/steps.ts';
import { allOf, type PriceColumns } from '../../../src/engine/patterns/candles.ts';
import { findPatterns, signsOf, type PatternDefinition } from '../../../src/engine/patterns/patternDefinition.ts';
import { PatternKernel } from '../../../src/engine/patterns/patternKernel.ts';
import { PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import type { PatternValues } from '../../../src/engine/patterns/signs.ts';
import { bars, RowByRow } from './rowByRow.ts';

/** The same columns in memory that kernels read in place, so many bytes after its beginning. */
function shared({ open, high, low, close }: PriceColumns, offset: number): PriceColumns {
  const n = open.length;
  const { buffer } = allocateShared(offset + 4 * 8 * n).memory;
  const place = (column: Float64Array, index: number): Float64Array => {
    const view = new Float64Array(buffer, offset + 8 * n * index, n);
    view.set(column);
    return view;
  };
  return { open: place(open, 0), high: place(high, 1), low: place(low, 2), close: place(close, 3) };
}

/** The rows on which a kernel finds each of its conditions. */
function found(kernel: PatternKernel, columns: PriceColumns): Record<'bullish' | 'bearish' | 'tied', number[]> {
  const rows = { bullish: [] as number[], bearish: [] as number[], tied: [] as number[] };
  kernel.run(columns, (start, end, words) => {
    for (const sign of ['bullish', 'bearish', 'tied'] as const)
      for (let row = start; row < end; row++)
        if ((kernel.wordOf(SIGNS[sign], words, (row - start) >>> 5) >>> ((row - start) & 31)) & 1) rows[sign].push(row);
  });
  return rows;
}

describe('the kernel of a pattern', () => {
  it('finds a pattern on the rows on which its conditions hold, in columns that it copies and in shared ones', () => {
    const columns = bars(2_003, 7);
    const places = [columns, shared(columns, 0), shared(columns, 1024)];
    for (const { declaration } of PATTERNS) {
      const signs = signsOf(declaration, declaration.penetration ?? 0);
      const first = declaration.isConfirmable ? declaration.lookback - 3 : declaration.lookback;
      const kernel = new PatternKernel(signs, first);
      const reference = new RowByRow(columns, first);
      const { when = [], bullish, bearish, tied } = signs;
      const rows = Array.from({ length: 2_003 - first }, (_, index) => first + index);
      const side = (items: typeof bullish): number[] =>
        items === undefined ? [] : rows.filter((row) => reference.holds(allOf(...when, ...items), row));
      const expected = { bullish: side(bullish), bearish: side(bearish) };
      const either = new Set([...expected.bullish, ...expected.bearish]);
      const ties = tied === undefined ? [] : [...either].filter((row) => reference.holds(tied, row));
      for (const place of places) {
        const { tied: alsoWithoutSide, ...sides } = found(kernel, place);
        expect({ id: declaration.id, ...sides }).toEqual({ id: declaration.id, ...expected });
        const tiesOfKernel = alsoWithoutSide.filter((row) => either.has(row));
        expect({ id: declaration.id, ties: tiesOfKernel }).toEqual({
          id: declaration.id,
          ties: ties.toSorted((a, b) => a - b),
        });
      }
    }
  });

  it('finds in a series of any length what it finds in the beginning of a longer one', () => {
    const columns = bars(2_200, 3);
    for (const id of ['doji', 'engulfing', 'rise_fall_three_methods', 'kicking_by_length', 'hikkake']) {
      const { declaration } = PATTERNS.find((one) => one.id === id)!;
      const kernel = new PatternKernel(signsOf(declaration, 0), declaration.lookback);
      const all = found(kernel, columns);
      for (const count of [0, 1, declaration.lookback, declaration.lookback + 1, 20, 40, 1023, 1024, 1040, 2199]) {
        const cut = (column: Float64Array): Float64Array => column.slice(0, count);
        const { open, high, low, close } = columns;
        const short = { open: cut(open), high: cut(high), low: cut(low), close: cut(close) };
        for (const place of [short, shared(short, 1024)])
          expect({ id, count, rows: found(kernel, place).bullish }).toEqual({
            id,
            count,
            rows: all.bullish.filter((row) => row < count),
          });
      }
    }
  });

  it('and the program write the same values in place, and nothing before the first row or behind the last', () => {
    const BEHIND = 16;
    const all = bars(2_100, 11);
    // Rows at the edges of blocks.
    [700, 1033, 1034, 2057].forEach((row, index) => (all.close[row] = [NaN, Infinity, -Infinity, NaN][index]));
    const owned = (count: number): Float64Array => newColumn(count + BEHIND, 1).fill(-7);
    const values = (definition: PatternDefinition, out: PatternValues, bars: PriceColumns): Buffer => {
      definition.compute(bars.open, bars.high, bars.low, bars.close, {}, out);
      return Buffer.from(Float64Array.from(out).buffer);
    };
    const check = (definition: PatternDefinition, bars: PriceColumns, counts: readonly number[]): void => {
      const { id, declaration } = definition;
      for (const count of [declaration.lookback, ...counts]) {
        const [open, high, low, close] = [bars.open, bars.high, bars.low, bars.close].map((all) => all.slice(0, count));
        const copied = { open, high, low, close };
        const expected = values(definition, new Float64Array(count).fill(-7), copied);
        const doubles = owned(count);
        const integers = new Int32Array(owned(count).buffer, 4, count + BEHIND).fill(-7);
        for (const place of [copied, shared(copied, 1024)])
          for (const out of [doubles, integers]) {
            const isEqual = values(definition, out.fill(-7).subarray(0, count), place).equals(expected);
            expect({ id, count, isEqual }).toEqual({ id, count, isEqual: true });
            expect([...out.subarray(count, count + BEHIND)]).toEqual(Array(BEHIND).fill(-7));
            expect([...out.subarray(0, declaration.lookback)]).toEqual(
              Array(Math.min(count, declaration.lookback)).fill(-7),
            );
          }
      }
    };
    const counts = [40, 512, 527, 1024, 1034, 1035, 1049, 1050, 1058, 1544, 2058, 2100];
    const long = bars(200_000, 2);
    for (const definition of PATTERNS) {
      // The program at first, and after so many rows the kernel, whose blocks may be longer.
      check(definition, all, counts);
      definition.compute(long.open, long.high, long.low, long.close, {}, new Int32Array(200_000));
      check(definition, all, counts);
      check(definition, long, [66_000]);
    }
  });

  it('gives the values and sides that the program gives, after which it takes its place', () => {
    const columns = bars(110_000, 2);
    const { open, high, low, close } = columns;
    for (const definition of PATTERNS) {
      const values = [new Int32Array(110_000), new Int32Array(110_000)];
      const doubles = new Float64Array(110_000);
      for (const out of values) definition.compute(open, high, low, close, {}, out);
      definition.compute(open, high, low, close, {}, doubles);
      expect({
        id: definition.id,
        isEqual: Buffer.from(values[0].buffer).equals(Buffer.from(values[1].buffer)),
      }).toEqual({ id: definition.id, isEqual: true });
      expect({ id: definition.id, isEqual: doubles.every((value, row) => value === values[0][row]) }).toEqual({
        id: definition.id,
        isEqual: true,
      });
      const [{ bullish, bearish }] = findPatterns(columns, [{ definition, args: {} }]);
      const wrong = doubles.findIndex(
        (value, row) =>
          value > 0 !== ((bullish[row >>> 5] >>> (row & 31)) & 1) > 0 ||
          value < 0 !== ((bearish[row >>> 5] >>> (row & 31)) & 1) > 0,
      );
      expect({ id: definition.id, wrong }).toEqual({ id: definition.id, wrong: -1 });
    }
  });
});
