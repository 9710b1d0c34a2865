// Small arrays that share buffers: each has its own part until it is given back, and is empty when it is made.
import { expect, it } from 'vitest';
import {
  newBytes,
  newIntegers,
  newKeptNumbers,
  newKeptWords,
  newNumbers,
  newWords,
  SharedSpan,
} from '../../../src/engine/kernels/sharedBuffer.ts';

const MAKERS = [newNumbers, newWords, newIntegers, newBytes, newKeptWords, newKeptNumbers];

it('makes arrays of zeros, none of which another one overwrites', () => {
  const made: { readonly array: ReturnType<(typeof MAKERS)[number]>; readonly value: number }[] = [];
  // Enough for several buffers, with lengths that end inside a word, and some that need a buffer of their own.
  for (let count = 0; count < 300; count++) {
    const array = MAKERS[count % MAKERS.length]((count * 37) % 500);
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

/** Makes an array filled with `value` in a span of its own, as a run does. */
function taken(length: number, value: number) {
  const span = new SharedSpan();
  const numbers = newNumbers(length).fill(value);
  return { numbers, span: span.close() };
}

const expectValue = ({ numbers }: { readonly numbers: Float64Array }, value: number) =>
  expect(new Set(numbers)).toEqual(new Set([value]));

it('reuses what was given back, with zeros in it', () => {
  const first = taken(100, 1);
  first.span.giveBack();
  const second = newNumbers(100);
  expect(second.buffer).toBe(first.numbers.buffer);
  expect(second.byteOffset).toBe(first.numbers.byteOffset);
  expectValue({ numbers: second }, 0);
});

it('keeps what was taken after a span that is given back', () => {
  const first = taken(100, 1);
  const second = taken(100, 2);
  first.span.giveBack();
  const third = taken(200, 3);
  second.span.giveBack();
  expectValue(second, 2);
  expectValue(third, 3);
});

it('gives back nothing of the words that are kept', () => {
  const span = new SharedSpan();
  const kept = newKeptWords(100).fill(1);
  newNumbers(100).fill(2);
  span.close().giveBack();
  newNumbers(100).fill(3);
  newKeptWords(100).fill(4);
  expect(new Set(kept)).toEqual(new Set([1]));
});

it('refuses to give a span back twice', () => {
  const first = taken(100, 1);
  first.span.giveBack();
  const second = taken(100, 2);
  expect(() => first.span.giveBack()).toThrow('given back before');
  taken(100, 3);
  expectValue(second, 2);
});

it('gives back a span that continued in another buffer', () => {
  const before = taken(100, 1);
  const span = new SharedSpan();
  for (let at = 0; at < 20; at++) newNumbers(1_000).fill(2);
  span.close().giveBack();
  expect(newNumbers(10).byteOffset).toBe(0);
  expectValue(before, 1);
});
