// Extremes of a moving window against a scan of each window.
import { expect, it } from 'vitest';
import { rollingMax, rollingMin } from '../../../src/engine/kernels/rollingExtremes.ts';
import { newColumn } from '../../../src/engine/kernels/ownedColumns.ts';
import { seededRandom } from '../../support/scale.ts';
import { bothWays } from './bothWays.ts';

/** The extreme of each window, the latest of equals: which zero is found counts as well. */
function scanned(source: Float64Array, first: number, length: number, isBetter: (a: number, b: number) => boolean) {
  const out = new Float64Array(source.length).fill(NaN);
  for (let row = first + length - 1; row < source.length; row++) {
    out[row] = source[row];
    for (let back = 1; back < length; back++) if (isBetter(source[row - back], out[row])) out[row] = source[row - back];
  }
  return out;
}

const BEHIND = 8;

bothWays('a rolling extreme', () => {
  const random = seededRandom(3);
  const kinds: Record<string, () => number> = {
    'distinct numbers': random,
    'many ties and both zeros': () => [0, -0, 1, -1, 2][Math.floor(random() * 5)],
  };
  for (const [kind, next] of Object.entries(kinds)) {
    it(`finds the latest of the best in every window, for ${kind}`, () => {
      for (const count of [0, 1, 4, 50, 2047, 2048, 2049, 4200]) {
        const source = Float64Array.from({ length: count }, next);
        for (const length of [1, 2, 3, 4, 5, 14, 16, 17, 50, 64, 65, 600]) {
          for (const first of [0, 7]) {
            const expected = {
              high: scanned(source, first, length, (a, b) => a > b),
              low: scanned(source, first, length, (a, b) => a < b),
            };
            // Where results are copied to, and where kernels write them.
            for (const place of [new Float64Array(count + BEHIND), newColumn(count + BEHIND, 1)]) {
              const out = place.subarray(0, count);
              place.fill(NaN);
              rollingMax(source, first, length, out);
              expect(out).toEqual(expected.high);
              place.fill(NaN);
              rollingMin(source, first, length, out);
              expect(out).toEqual(expected.low);
              expect([...place.subarray(count)]).toEqual(Array(BEHIND).fill(NaN));
            }
          }
        }
      }
    });
  }
});
