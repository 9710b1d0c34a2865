// Texts with their numbers apart: as the plain loop takes them out, and put together again as they were.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numbersApart, numbersTogether, type SplitText } from '../../../src/engine/report/splitText.ts';
import { bothWays } from './bothWays.ts';

const CODES = '0123456789\0+e-.';

/**
 * The plain loop: a number begins with a digit or a minus and goes on while it can. Behind an end in the lower half of
 * a byte, the upper one is anything.
 */
function apart(text: string): { text: string; numbers: number[] } {
  const numbers: number[] = [];
  const rest = text.replace(/[0-9-][0-9+e.-]*/g, (number) => {
    const codes = [...Array.from(number, (character) => CODES.indexOf(character)), 15];
    for (let at = 0; at < codes.length; at += 2) numbers.push(codes[at] | ((codes[at + 1] ?? 0) << 4));
    return '\0';
  });
  return { text: rest, numbers };
}

const character = fc.constantFrom(...Array.from('0123456789+e-.{}[]":, abE/é金😀\u001f'));
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 200 }),
  fc.json(),
  fc.array(fc.double(), { maxLength: 50 }).map((numbers) => JSON.stringify(numbers)),
  fc.array(fc.integer({ min: 0, max: 40 }).map((length) => '1'.repeat(length))).map((runs) => runs.join(',')),
);

/** From copies: both texts lie in one memory. */
const together = ({ text, numbers }: SplitText): string =>
  numbersTogether(Buffer.from(text), Buffer.from(numbers)).toString();

bothWays('a text and its numbers', () => {
  it('takes out what the plain loop does, and gives the text back', () => {
    fc.assert(
      fc.property(text, fc.nat(), (whole, cut) => {
        const at = cut % (whole.length + 1);
        // In two pieces, as bytes and as text; a cut within a character of two code units would make it another one.
        const isWithin = /[\uD800-\uDBFF]/.test(whole.charAt(at - 1));
        const pieces = isWithin ? [whole] : [Buffer.from(whole.slice(0, at)), whole.slice(at)];
        const split = numbersApart(pieces);
        const plain = apart(whole);
        expect(Buffer.from(split.text).toString()).toBe(plain.text);
        expect(split.numbers).toHaveLength(plain.numbers.length);
        for (let at = 0; at < split.numbers.length; at++) {
          const [code, expected] = [split.numbers[at], plain.numbers[at]];
          expect(expected === 15 ? code & 15 : code).toBe(expected);
        }
        const { hash } = split;
        expect(together(split)).toBe(whole);
        numbersApart(['x'.repeat(whole.length)]);
        expect(numbersApart([whole]).hash).toBe(hash);
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives the numbers of a text in half of its room, and texts that differ other hashes', () => {
    const split = numbersApart(['{"a":12.5,"b":-1e+21}']);
    expect(Buffer.from(split.text).toString()).toBe('{"a":\0,"b":\0}');
    expect(Array.from(split.numbers.subarray(0, 2), (byte) => byte.toString(16))).toEqual(['21', '5e']);
    expect(split.numbers).toHaveLength(3 + 4);
    const hashes = Array.from({ length: 1_000 }, (_, at) => numbersApart([`${'a'.repeat(at)}b`]).hash);
    expect(new Set(hashes).size).toBe(1_000);
    // One other character in each place, and words that change places.
    const text = 'abcdefghijklmnopqrstuvwxyz'.repeat(4);
    const others = Array.from(text, (_, at) => `${text.slice(0, at)}X${text.slice(at + 1)}`);
    for (let at = 0; at < 64; at += 8) others.push(text.slice(at, at + 32) + text.slice(0, at) + text.slice(at + 32));
    expect(new Set(others.map((other) => numbersApart([other]).hash)).size).toBe(others.length);
  });

  it('takes a text of any length', () => {
    const long = `${'金'.repeat(200_000)}${'1.5,'.repeat(100_000)}`;
    expect(together(numbersApart([long]))).toBe(long);
  });

  it.each([
    ['fewer numbers than places', 'a\0b\0', [0xf1]],
    ['more numbers than places', 'a\0b', [0xf1, 0xf2]],
    ['a number without an end', 'a\0', [0x11]],
    ['a long number without an end', '\0', Array<number>(16).fill(0x11)],
    ['numbers without a place', '', [0xf1]],
  ])('does not take %s', (_, text, numbers) => {
    expect(() => numbersTogether(Buffer.from(text), Uint8Array.from(numbers))).toThrow(RangeError);
  });
});
