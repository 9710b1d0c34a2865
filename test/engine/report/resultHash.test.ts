// The hash of a result, against one of bytes that are put together plainly.
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { resultHash } from '../../../src/engine/report/resultHash.ts';
import { ROW_NUMBERS, type TradeTable, type TradeWords } from '../../../src/engine/report/tradeTable.ts';
import { seededRandom } from '../../support/scale.ts';

/** With an id of the greatest length, and letters of three bytes. */
const wordsOf = (kind: number): TradeWords => ({
  side: kind % 2 === 0 ? 'long' : 'short',
  exitReason: 'signal',
  exitMethod: 'direct',
  exitResolution: '1h',
  exitPolicy: kind % 3 === 0 ? null : 'pessimistic',
  entryRule: '金'.repeat(200),
  exitRule: kind % 2 === 0 ? null : `exit ${kind}`,
});

function tableOf(length: number, kinds: number, timeShare: number): TradeTable {
  const random = seededRandom(length + kinds);
  return {
    length,
    numbers: Float64Array.from({ length: length * ROW_NUMBERS }, random),
    fineTimes: Float64Array.from({ length }, () => (random() < timeShare ? Math.floor(random() * 1e12) : NaN)),
    kinds: Uint32Array.from({ length }, () => Math.floor(random() * kinds)),
    words: Array.from({ length: kinds }, (_, kind) => wordsOf(kind)),
  };
}

function plainHash(summary: string, { length, numbers, fineTimes, kinds, words }: TradeTable): string {
  const all: number[] = [];
  const lines: string[] = [];
  for (let row = 0; row < length; row++) {
    all.push(...numbers.subarray(row * ROW_NUMBERS, (row + 1) * ROW_NUMBERS));
    const hasTime = !Number.isNaN(fineTimes[row]);
    if (hasTime) all.push(fineTimes[row]);
    const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule } = words[kinds[row]];
    lines.push(side, exitReason, exitMethod, exitResolution, exitPolicy ?? '');
    if (!hasTime) lines.push('');
    lines.push(entryRule, exitRule ?? '');
  }
  const hash = createHash('sha256').update(Float64Array.from(all)).update(lines.join('\n'));
  return hash.update(summary).digest('hex');
}

it.each([
  [0, 1, 0],
  [1, 1, 0],
  [3, 2, 0],
  [4, 1, 0],
  [200, 5, 0.5],
  [255, 4, 0],
  [256, 4, 0],
  [503, 4, 0],
  [503, 5, 0],
  [1000, 3, 0.5],
  [1000, 1, 0],
  [1000, 1, 1],
])('covers the numbers and words of %i trades of %i kinds, %d of them with a time', (length, kinds, timeShare) => {
  const table = tableOf(length, kinds, timeShare);
  expect(resultHash(['{"a":', '1}'], table)).toBe(plainHash('{"a":1}', table));
});

it.each([1, 43_690, 43_691, 131_072, 200_000])('covers a summary of %i letters of three bytes', (letters) => {
  const table = tableOf(3, 1, 0);
  const summary = JSON.stringify({ text: '金'.repeat(letters), lone: '\ud800' });
  expect(resultHash([summary], table)).toBe(plainHash(summary, table));
});
