// Small arrays that share buffers: each has its own part, and is empty when it is made.
import { expect, it } from 'vitest';
import { newBytes, newIntegers, newNumbers, newWords } from '../../../src/engine/kernels/sharedBuffer.ts';

const MAKERS = [newNumbers, newWords, newIntegers, newBytes];

it('makes arrays of zeros, none of which another one overwrites', () => {
  const made: { readonly array: ReturnType<(typeof MAKERS)[number]>; readonly value: number }[] = [];
  // Enough for several buffers, with lengths that leave the next array no whole word, and some beyond a shared buffer.
  for (let count = 0; count < 300; count++) {
    const array = MAKERS[count % 4]((count * 37) % 500);
    expect(array.every((value) => value === 0)).toBe(true);
    const value = (count % 200) + 1;
    array.fill(value);
    made.push({ array, value });
  }
  made.push(...MAKERS.map((make) => ({ array: make(20_000).fill(7), value: 7 })));
  for (const { array, value } of made) expect(array.every((cell) => cell === value)).toBe(true);
});

it('gives several small arrays one buffer, and a large one its own', () => {
  const small = [newNumbers(10), newWords(10), newBytes(10), newIntegers(10)];
  expect(new Set(small.map(({ buffer }) => buffer)).size).toBeLessThanOrEqual(2);
  expect(newNumbers(20_000).buffer.byteLength).toBe(160_000);
});
