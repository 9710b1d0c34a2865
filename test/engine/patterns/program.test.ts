// Pattern programs against the same rules read row by row, and how much patterns of one series share.
import { expect, it } from 'vitest';
import { hasBit, wordCount } from '../../../src/engine/kernels/bits.ts';
import { newColumn } from '../../../src/engine/kernels/ownedColumns.ts';
import { computePatterns, findPatterns } from '../../../src/engine/patterns/patternDefinition.ts';
import { PatternProgram } from '../../../src/engine/patterns/patternProgram.ts';
import { PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import { scaled } from '../../support/scale.ts';
import { bothWays } from '../fast/bothWays.ts';
import { CONDITIONS, RowByRow, bars } from './rowByRow.ts';

bothWays('a pattern program', () => {
  it('finds every condition of every pattern on the rows on which the rule holds', () => {
    const columns = bars(scaled(4_000), 5);
    const program = new PatternProgram();
    const indexes = CONDITIONS.map(({ condition, first }) => program.add(condition, first));
    const words = CONDITIONS.map(() => new Uint32Array(wordCount(columns.open.length)));
    program.run(columns, (start, end, memory) => {
      for (let index = 0; index < wordCount(end - start); index++)
        CONDITIONS.forEach((_, at) => (words[at][start / 32 + index] = program.wordOf(indexes[at], memory, index)));
    });
    CONDITIONS.forEach(({ id, condition, first }, index) => {
      const reference = new RowByRow(columns, first);
      const wrong: number[] = [];
      for (let row = first; row < columns.open.length; row++)
        if (hasBit(words[index], row) !== reference.holds(condition, row)) wrong.push(row);
      expect({ id, wrong }).toEqual({ id, wrong: [] });
    });
  });

  it('gives all patterns together the values that each has alone, whatever the length', () => {
    for (const count of [0, 1, 14, 15, 40, 1023, 1024, 1025, 1056, 5000]) {
      const columns = bars(count, 9);
      const requests = PATTERNS.map((definition) => ({ definition, args: {}, out: new Float64Array(count).fill(NaN) }));
      computePatterns(columns, requests);
      for (const { definition, out } of requests) {
        const alone = new Float64Array(count).fill(NaN);
        definition.compute(columns.open, columns.high, columns.low, columns.close, {}, alone);
        expect({ count, id: definition.id, out }).toEqual({ count, id: definition.id, out: alone });
      }
    }
  });

  it('finds the sides of all patterns as bits, and the values as integers', () => {
    for (const count of [0, 1, 14, 40, 511, 512, 513, 3000]) {
      const columns = bars(count, 11);
      const sides = findPatterns(
        columns,
        PATTERNS.map((definition) => ({ definition, args: {} })),
      );
      PATTERNS.forEach((definition, at) => {
        const values = new Float64Array(count);
        const integers = new Int32Array(count);
        const { open, high, low, close } = columns;
        definition.compute(open, high, low, close, {}, values);
        definition.compute(open, high, low, close, {}, integers);
        const bitsWhere = (isSet: (value: number) => boolean): Uint32Array => {
          const words = new Uint32Array(wordCount(count));
          for (let row = definition.lookback({}); row < count; row++)
            if (isSet(values[row])) words[row >>> 5] |= 1 << (row & 31);
          return words;
        };
        expect({ id: definition.id, ...sides[at], integers: [...integers] }).toEqual({
          id: definition.id,
          bullish: bitsWhere((value) => value > 0),
          bearish: bitsWhere((value) => value < 0),
          integers: [...values],
        });
      });
    }
  });

  it('writes the same values in place, and nothing before the first row or behind the last', () => {
    const BEHIND = 16;
    const all = bars(2_100, 11);
    // Rows at the edges of blocks.
    [700, 1033, 1034, 2057].forEach((row, index) => (all.close[row] = [NaN, Infinity, -Infinity, NaN][index]));
    const owned = (count: number): Float64Array => newColumn(count + BEHIND, 1).fill(-7);
    for (const definition of PATTERNS) {
      const { id, declaration } = definition;
      for (const count of [declaration.lookback, 40, 512, 527, 1024, 1034, 1035, 1050, 1544, 2058, 2100]) {
        const [open, high, low, close] = [all.open, all.high, all.low, all.close].map((one) => one.slice(0, count));
        const expected = new Float64Array(count).fill(-7);
        definition.compute(open, high, low, close, {}, expected);
        const doubles = owned(count);
        const integers = new Int32Array(owned(count).buffer, 4, count + BEHIND).fill(-7);
        for (const out of [doubles, integers]) {
          definition.compute(open, high, low, close, {}, out.subarray(0, count));
          const isEqual = Buffer.from(Float64Array.from(out.subarray(0, count)).buffer).equals(
            Buffer.from(expected.buffer),
          );
          expect({ id, count, isEqual }).toEqual({ id, count, isEqual: true });
          expect([...out.subarray(count, count + BEHIND)]).toEqual(Array(BEHIND).fill(-7));
        }
      }
    }
  });

  it('computes what patterns have in common once', () => {
    const together = new PatternProgram();
    let alone = 0;
    for (const { condition, first } of CONDITIONS) {
      const program = new PatternProgram();
      program.add(condition, first);
      together.add(condition, first);
      alone += program.stepCount;
    }
    expect({ together: together.stepCount, alone }).toEqual({ together: 853, alone: 1934 });
  });
});
