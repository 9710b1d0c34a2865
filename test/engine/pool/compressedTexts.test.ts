// Texts that are compressed once: never one for another.
import { expect, it } from 'vitest';
import { CompressedTexts } from '../../../src/engine/pool/compressedTexts.ts';
import { detailParts } from '../../../src/engine/pool/detailBytes.ts';

const NONE = new Float64Array();

/** Stands in for zstd: says what it was given, and counts. */
function counted() {
  const given: string[] = [];
  const compress = (text: Uint8Array): Uint8Array => {
    given.push(Buffer.from(text).toString());
    return Buffer.from(`compressed ${given.at(-1)}`);
  };
  return { given, compress };
}

it('compresses a text again only when it is another, even under the same key', () => {
  const { given, compress } = counted();
  const texts = new CompressedTexts();
  const scratch = Buffer.alloc(3);
  const read = (text: string): string => {
    scratch.write(text);
    return Buffer.from(texts.compressed(scratch, 'key', compress)).toString();
  };
  expect(['one', 'one', 'two', 'one'].map(read)).toEqual(
    ['one', 'one', 'two', 'one'].map((text) => `compressed ${text}`),
  );
  expect(given).toEqual(['one', 'two']);
});

it('keeps no large text', () => {
  const { given, compress } = counted();
  const texts = new CompressedTexts();
  const large = Buffer.alloc(65 << 10, 'x');
  texts.compressed(large, 'key', compress);
  texts.compressed(large, 'key', compress);
  expect(given).toHaveLength(2);
});

it('keeps the texts of details by owner, whose numbers and hashes differ', () => {
  const { given, compress } = counted();
  const hash = (digit: string): string => digit.repeat(64);
  const write = (owner: string, number: number): unknown =>
    detailParts(
      {
        summaryJson: [`{"a":${number}}`],
        series: { times: NONE, marks: NONE, months: NONE, monthEquity: NONE },
        warnings: [],
        configJson: `{"initialBalance":${number}}`,
        reproducibility: {
          engineVersion: '1',
          strategyHash: hash('a'),
          dataHash: hash('b'),
          configHash: hash('c'),
          runKey: hash('d'),
          resultHash: hash(String(number % 10)),
        },
      },
      owner,
      compress,
    );
  const details = (): number => given.filter((text) => text.startsWith('{"summary"')).length;
  for (const number of [1, 22, 333]) write('one', number);
  expect(details()).toBe(1);
  write('another', 1);
  expect(details()).toBe(2);
});
