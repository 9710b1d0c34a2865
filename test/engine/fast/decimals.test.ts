// Doubles as text: every digit and every form is what JSON.stringify writes, as the plain function writes it.
import { expect, it } from 'vitest';
import { writeDecimals } from '../../../src/engine/fast/decimals/decimals.ts';
import { NO_NUMBER, TEXTS_AT, writePieces } from '../../../src/engine/report/jsonWriter.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

const COUNT = 1_000;

/** Each text and the number behind it, and what stands behind the last one. */
function textOf(texts: readonly string[], values: readonly number[], last = ''): string {
  const all = Buffer.from(texts.join('') + last);
  const places: number[] = [];
  let end = TEXTS_AT;
  for (const text of texts) places.push(end, (end += Buffer.byteLength(text)));
  if (last !== '') places.push((end | NO_NUMBER) >>> 0, TEXTS_AT + all.length);
  const pieces = {
    kept: new Uint8Array(),
    texts: all,
    places: Uint32Array.from(places),
    values: Float64Array.from(values),
    length: all.length,
  };
  const text = Buffer.from(writeDecimals(pieces)).toString();
  expect(Buffer.from(writePieces(pieces)).toString()).toBe(text);
  return text;
}

const listed = (values: readonly number[]): string =>
  textOf(
    values.map((_, index) => (index === 0 ? '[' : ',')),
    values,
    ']',
  );

const random = seededRandom(20_261_122);
const whole = (below: number): number => Math.floor(random() * below);
const bits = new DataView(new ArrayBuffer(8));
const doubleOf = (upper: number, lower: number): number => {
  bits.setUint32(0, upper >>> 0);
  bits.setUint32(4, lower >>> 0);
  return bits.getFloat64(0);
};

const DRAWS: Readonly<Record<string, () => number>> = {
  'random bits': () => doubleOf(whole(2 ** 32), whole(2 ** 32)),
  'subnormal numbers': () => doubleOf(whole(2 ** 20), whole(2 ** 32)),
  'money and fractions': () => (random() - 0.5) * 10 ** whole(16),
  'numbers with few digits': () => whole(1e6) / 10 ** whole(8),
  'whole numbers': () => whole(2 ** 53),
  'the middle between two texts': () => doubleOf(((1_063 + whole(24)) << 20) + whole(2 ** 20), whole(2 ** 32)),
  'powers of ten and their neighbors': () => Number(`${whole(1_000)}e${whole(640) - 330}`),
  'powers of two and their neighbors': () => doubleOf((whole(2_047) << 20) - whole(2), whole(3) - 1),
};

it.each(Object.entries(DRAWS))('writes %s as JSON does', (_, draw) => {
  for (let round = 0; round < scaled(1_000); round++) {
    const values = Array.from({ length: COUNT }, draw);
    expect(listed(values)).toBe(JSON.stringify(values));
  }
});

it('writes zeros, what is not finite, and the ends of every form as JSON does', () => {
  const edges = [
    0, -0, 0, NaN, Infinity, -Infinity, 1, -1, 0.1, 1e20, 1e21, 123456789012345680000, 1.5e21, 1e-6, 1.5e-6, 1e-7,
    9.5e-7, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 9007199254740992, 4.35, 0.000001, 100, 1e100,
    9.5e9,
  ]; // prettier-ignore
  expect(listed(edges)).toBe(JSON.stringify(edges));
});

it('writes each number behind its text, of any length and in UTF-8', () => {
  const names = ['', 'a', 'é–', 'a longer text than eight bytes', '"', '', 'x'.repeat(70_000), 'end'];
  const values = [1.25, 1.25, 1.25, -7, -7, 0.5, 0.5, 1e300];
  const expected = names.map((name, index) => name + JSON.stringify(values[index])).join('');
  expect(textOf(names, values)).toBe(expected);
});

it('writes nothing for no numbers', () => {
  expect(textOf([], [])).toBe('');
});
