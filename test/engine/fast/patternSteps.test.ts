// The kernels of pattern programs: built from their source, and bit for bit the plain loops.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { simdMemory } from '../../../src/engine/kernels/simdMemory.ts';
import { encodeSteps, runSteps, type ProgramStep } from '../../../src/engine/patterns/programSteps.ts';
import { simdWasm, SIMD_WASM_FILE } from '../../../scripts/simd.ts';
import { scaled, seededRandom } from '../../support/scale.ts';
import { bothWays } from './bothWays.ts';

it('checks in what `npm run simd` builds from its sources', async () => {
  expect(readFileSync(SIMD_WASM_FILE, 'utf8')).toBe(await simdWasm());
});

const ROWS = 64;
const A = 1024;
const B = 2048;
const OUT = 4096;
const STEPS = 8192;

/** Numbers with ties, zeros of both signs and large ones, 16 rows before A and B included. */
function fill(seed: number): { a: Float64Array; b: Float64Array } {
  const random = seededRandom(seed);
  const some = [0, -0, 1, -1, 0.1, 1e300, -1e-300];
  const number = (): number => (random() < 0.3 ? some[Math.floor(random() * some.length)] : random() * 10 - 5);
  const { values } = simdMemory(STEPS + 4096);
  for (let i = 0; i < STEPS / 8; i++) values[i] = number();
  const column = (at: number): Float64Array => values.slice(at / 8 - 16, at / 8 + ROWS);
  return { a: column(A), b: column(B) };
}

function run(...steps: readonly ProgramStep[]): { numbers: number[]; words: number[] } {
  const { bytes, values, words } = simdMemory(STEPS + 4096);
  const encoded = encodeSteps(steps);
  bytes.set(encoded, STEPS);
  runSteps(STEPS, STEPS + encoded.length, ROWS * 8, ROWS / 8);
  return {
    numbers: Array.from(values.subarray(OUT / 8, OUT / 8 + ROWS)),
    words: Array.from(words.subarray(OUT / 4, OUT / 4 + ROWS / 32)),
  };
}

const wordsOf = (isTrue: (row: number) => boolean): number[] =>
  [0, 1].map((word) => {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++) if (isTrue(word * 32 + bit)) bits |= 1 << bit;
    return bits >>> 0;
  });

bothWays('a step of a pattern program', () => {
  const binary: Record<string, (a: number, b: number) => number> = {
    subtract: (a, b) => a - b,
    add: (a, b) => a + b,
    distance: (a, b) => Math.abs(a - b),
    larger: (a, b) => (a < b ? b : a),
    smaller: (a, b) => (b < a ? b : a),
  };
  for (const [op, reference] of Object.entries(binary)) {
    it(`computes ${op} bit for bit`, () => {
      const { a, b } = fill(1);
      const { numbers } = run({ op: op as ProgramStep['op'], a: A, b: B, out: OUT });
      expect(numbers).toEqual(Array.from({ length: ROWS }, (_, row) => reference(a[16 + row], b[16 + row])));
    });
  }

  it('computes scale bit for bit', () => {
    const { a } = fill(2);
    const { numbers } = run({ op: 'scale', a: A, factor: 0.3, out: OUT });
    expect(numbers).toEqual(Array.from({ length: ROWS }, (_, row) => 0.3 * a[16 + row]));
  });

  it('compares two columns into words of bits', () => {
    const { a, b } = fill(3);
    simdMemory(0).values.set(a.subarray(20, 30), B / 8 + 4);
    b.set(a.subarray(20, 30), 20);
    expect(run({ op: 'greater', a: A, b: B, out: OUT }).words).toEqual(wordsOf((row) => a[16 + row] > b[16 + row]));
    expect(run({ op: 'atLeast', a: A, b: B, out: OUT }).words).toEqual(wordsOf((row) => a[16 + row] >= b[16 + row]));
  });

  it('combines words that are read some rows later', () => {
    for (const back of [0, 1, 4, 31]) {
      fill(4);
      const { words } = simdMemory(0);
      const at = (address: number, row: number): boolean =>
        ((words[address / 4 + (row >> 5)] >>> (row & 31)) & 1) === 1;
      const [a, b] = [A, B].map((address) => Array.from({ length: 96 }, (_, row) => at(address, row - 32)));
      const later = (column: readonly boolean[], row: number): boolean => column[32 + row - back];
      const copy = { op: 'copy', a: A, b: 0, out: OUT } as const;
      expect(run({ ...copy, b: back }).words).toEqual(wordsOf((row) => later(a, row)));
      expect(run(copy, { op: 'and', a: B, b: back, out: OUT }).words).toEqual(
        wordsOf((row) => a[32 + row] && later(b, row)),
      );
      expect(run(copy, { op: 'or', a: B, b: back, out: OUT }).words).toEqual(
        wordsOf((row) => a[32 + row] || later(b, row)),
      );
      expect(run({ op: 'not', a: A, out: OUT }).words).toEqual(wordsOf((row) => !a[32 + row]));
    }
  });

  it('keeps what the next block reads in front of it', () => {
    fill(5);
    const { values } = simdMemory(0);
    const last = values.slice(A / 8 + ROWS - 16, A / 8 + ROWS);
    run({ op: 'keep', a: A, b: ROWS * 8 });
    expect(values.slice(A / 8 - 16, A / 8)).toEqual(last);
  });

  it('divides by 5 and 10 as a division does, whatever the sum', () => {
    const random = seededRandom(12);
    for (let trial = 0; trial < scaled(300); trial++) {
      const period = trial % 2 === 0 ? 5 : 10;
      const { bytes, values } = simdMemory(STEPS + 4096);
      // Sums of any size and last bits, halves of units among them, and sums that cancel.
      const size = 2 ** Math.floor(random() * 600 - 300);
      const source = Array.from(
        { length: ROWS + 16 },
        () => size * (random() < 0.3 ? 1 + random() * 2 ** -48 : random() - 0.5),
      );
      values.set(source, A / 8 - 16);
      bytes.set(encodeSteps([{ op: 'meanBefore', a: A, out: OUT, period, factor: 1, skip: 8 }]), STEPS);
      runSteps(STEPS, STEPS + 40, ROWS * 8, ROWS / 8);
      let sum = 0;
      for (let row = 17 - period; row < 17; row++) sum += source[row];
      for (let row = 17; row < source.length; row++) {
        expect(values[OUT / 8 + row - 16]).toBe(sum / period);
        sum += source[row] - source[row - period];
      }
    }
  });

  it('runs a mean from its first row on, and on into the next block, alone or two at a time', () => {
    for (const isPaired of [false, true]) {
      const columns = [1024, 1792, 2560, 3328];
      const outs = [4096, 4864, 5632, 6400];
      const means = columns.map((a, index) => ({
        op: 'meanBefore' as const,
        a,
        out: outs[index],
        period: ([5, 10, 10, 5] as const)[index],
        factor: [1, 0.1, 0.5, 2][index],
        skip: (10 + index) * 8,
      }));
      fill(6);
      const { bytes, values } = simdMemory(STEPS + 4096);
      const encoded = encodeSteps(
        means.map((mean, index) => (isPaired && index % 2 === 0 ? { ...mean, op: 'twoMeans' as const } : mean)),
      );
      bytes.set(encoded, STEPS);
      const blocks = columns.map((): number[] => []);
      const found = columns.map((): number[] => []);
      for (let block = 0; block < 3; block++) {
        columns.forEach((at, index) => blocks[index].push(...values.slice(at / 8, at / 8 + ROWS)));
        runSteps(STEPS, STEPS + encoded.length, ROWS * 8, ROWS / 8);
        outs.forEach((at, index) => found[index].push(...values.slice(at / 8, at / 8 + ROWS)));
        for (const at of columns) values.copyWithin(at / 8 - 16, at / 8 + ROWS - 16, at / 8 + ROWS);
        for (const at of columns) for (let row = 0; row < ROWS; row++) values[at / 8 + row] = (block + row + at) % 7;
      }
      means.forEach(({ period, factor, skip }, index) => {
        const source = blocks[index];
        let sum = 0;
        const start = skip / 8;
        for (let row = start - period; row < start; row++) sum += source[row];
        for (let row = start; row < source.length; row++) {
          expect(found[index][row]).toBe(factor * (sum / period));
          sum += source[row] - source[row - period];
        }
      });
    }
  });
});
