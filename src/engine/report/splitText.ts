// Texts and their numbers, split apart: the texts of similar runs differ mostly in their numbers, so that the rest of
// one usually equals the rest of another.
import { Accelerator } from '../kernels/accelerator.ts';

/** Valid until the next text is split or put together. */
export interface SplitText {
  /** A zero stands for each number. */
  readonly text: Uint8Array;
  /** A hash of the text: equal texts have equal ones. It is not stored. */
  readonly hash: number;
  /** The numbers, two characters to a byte, the lower half first. */
  readonly numbers: Uint8Array;
}

interface SplitTexts {
  readonly apart: (pieces: readonly (string | Uint8Array)[]) => SplitText;
  readonly together: (text: Uint8Array, numbers: Uint8Array) => Buffer;
}
/** What does both faster. */
export const SPLIT_TEXTS = new Accelerator<SplitTexts>();

/** A character is stored as its place in this text, END_CODE after the last. */
const CHARACTERS = '0123456789\0+e-.';
const END_CODE = 15;
const NUMBER = /[0-9-][0-9+e.-]*/g;

/** Splits the text that the pieces make up, in UTF-8. It must have no zero bytes. */
export function numbersApart(pieces: readonly (string | Uint8Array)[]): SplitText {
  if (SPLIT_TEXTS.current !== null) return SPLIT_TEXTS.current.apart(pieces);
  const whole = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
  const numbers: number[] = [];
  const rest = whole.toString('latin1').replaceAll(NUMBER, (number) => {
    const codes = [...Array.from(number, (character) => CHARACTERS.indexOf(character)), END_CODE];
    for (let at = 0; at < codes.length; at += 2) numbers.push(codes[at] | ((codes[at + 1] ?? 0) << 4));
    return '\0';
  });
  const text = Buffer.from(rest, 'latin1');
  return { text, hash: hashOf(text), numbers: Uint8Array.from(numbers) };
}

/** FNV-1a. */
function hashOf(text: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of text) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/**
 * The text with its numbers in their places, valid until the next one is split or put together.
 * @throws RangeError when there are more or fewer numbers than places
 */
export function numbersTogether(text: Uint8Array, numbers: Uint8Array): Buffer {
  if (SPLIT_TEXTS.current !== null) return SPLIT_TEXTS.current.together(text, numbers);
  let at = 0;
  const nextNumber = (): string => {
    let number = '';
    for (; at < numbers.length; at++)
      for (const code of [numbers[at] & 15, numbers[at] >> 4]) {
        if (code !== END_CODE) number += CHARACTERS[code];
        else {
          at++;
          return number;
        }
      }
    throw new RangeError('The numbers of a text are not as many as the places for them.');
  };
  const whole = Buffer.from(text).toString('latin1').replaceAll('\0', nextNumber);
  if (at < numbers.length) throw new RangeError('The numbers of a text are not as many as the places for them.');
  return Buffer.from(whole, 'latin1');
}
