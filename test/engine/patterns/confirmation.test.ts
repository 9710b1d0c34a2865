// Patterns that later bars confirm: the same wherever a block of rows ends.
import { expect, it } from 'vitest';
import { findPatterns } from '../../../src/engine/patterns/patternDefinition.ts';
import { PATTERNS } from '../../../src/engine/patterns/patternRegistry.ts';
import { seededRandom } from '../../support/scale.ts';

const COUNT = 5000;
/** Blocks have a power of two of rows: a bar of the cycle is once on every row of one. */
const CYCLE = 7;
/** Rows after which the averages of a cycle are those of every other. */
const SETTLED = 28;

it('repeats itself where the bars do', () => {
  const random = seededRandom(41);
  const price = (): number => Math.floor(random() * 8) * 0.25;
  let confirmed = 0;
  for (let round = 0; round < 100; round++) {
    const bars = Array.from({ length: CYCLE }, () => {
      const low = 100 + price();
      const high = low + price();
      return { open: random() < 0.5 ? low : high, high, low, close: random() < 0.5 ? low : high };
    });
    const column = (field: 'open' | 'high' | 'low' | 'close'): Float64Array =>
      Float64Array.from({ length: COUNT }, (_, row) => bars[row % CYCLE][field]);
    const columns = { open: column('open'), high: column('high'), low: column('low'), close: column('close') };
    for (const definition of PATTERNS.filter(({ declaration }) => declaration.isConfirmable)) {
      const out = new Int32Array(COUNT);
      definition.compute(columns.open, columns.high, columns.low, columns.close, {}, out);
      const [{ bullish, bearish }] = findPatterns(columns, [{ definition, args: {} }]);
      const bit = (words: Uint32Array, row: number): number => (words[row >>> 5] >>> (row & 31)) & 1;
      const wrong = out.findIndex(
        (value, row) =>
          (row >= SETTLED && value !== out[row - CYCLE]) ||
          Math.sign(value) !== bit(bullish, row) - bit(bearish, row) ||
          bit(bullish, row) + bit(bearish, row) > 1,
      );
      expect({ round, id: definition.id, wrong }).toEqual({ round, id: definition.id, wrong: -1 });
      if (out.some((value) => Math.abs(value) === 200)) confirmed++;
    }
  }
  expect(confirmed).toBeGreaterThan(10);
});
