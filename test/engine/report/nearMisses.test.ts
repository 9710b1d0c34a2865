// Near misses are the nearest of all rows on which one condition alone was false, found here by sorting all of them.
import { expect, it } from 'vitest';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import type { ConditionNode } from '../../../src/engine/plan/plan.ts';
import { nearMissesOf } from '../../../src/engine/report/nearMisses.ts';
import type { ReportInput } from '../../../src/engine/report/reportInput.ts';
import type { ConditionBits } from '../../../src/engine/report/conditionBits.ts';
import { scaled, seededRandom } from '../../support/scale.ts';

const ROWS = 700;
/** How many rows of a condition are looked at, evenly spaced (semantics §6.3). */
const MOST_ROWS = 4_096;
const random = seededRandom(20_261_123);
const whole = (below: number): number => Math.floor(random() * below);
const pick = <T>(values: readonly T[]): T => values[whole(values.length)];

const someBits = (): number => whole(2 ** 32);
/** One of 32. */
const fewBits = (): number => someBits() & someBits() & someBits() & someBits() & someBits();

/** Pairs of sides: equal and missing ones, and those at the ends of what a double can be. */
const SIDES: Readonly<Record<string, () => readonly [number, number]>> = {
  'prices that approach each other': () => {
    const price = 100 * random();
    return [price, price * (1 + (random() - 0.5) * 10 ** -whole(9))];
  },
  'values far from each other': () => [random() - 0.5, random() - 0.5],
  'few values, so that many are as near': () => [whole(5) - 2, whole(5) - 2],
  'values around zero': () => [(random() - 0.5) * 10 ** -whole(320), (random() - 0.5) * 10 ** -whole(320)],
  'values of one side only': () => (random() < 0.5 ? [NaN, random()] : [random(), NaN]),
  'huge, infinite and missing values': () => {
    const edge = () => pick([NaN, Infinity, -Infinity, 1.7e308, -1.7e308, 5e-324, 0, -0, 1e300 * random(), 1]);
    return [edge(), edge()];
  },
};

function relativeGap([left, right]: readonly [number, number]): number {
  const ratio = Math.abs(left - right) / Math.max(Math.abs(left), Math.abs(right), 1e-12);
  return Number.isNaN(ratio) ? Infinity : ratio;
}

/** Compares the near misses with what sorting finds, given the sides of conditions and the rows each was false on. */
function expectNearest(
  conditions: readonly (readonly (readonly [number, number])[])[],
  words: () => Uint32Array,
  input: { readonly start: number; readonly end: number },
): void {
  const bits = conditions.map((_, index) => ({
    node: { role: 'trigger', ruleIndex: index, isConjunct: true, kind: 'cross', text: `${index}` } as ConditionNode,
  })) as ConditionBits[];
  bits.forEach(({ node }, index) => Object.assign(node, { left: 2 * index, right: 2 * index + 1 }));
  const blockers = new Map(bits.map((condition) => [condition, words()]));
  const columns = conditions.flatMap((rows) => [0, 1].map((side) => Float64Array.from(rows, (row) => row[side])));
  const report = {
    boundRules: { entries: conditions.map((_, index) => ({ id: `${index}` })) },
    evaluated: {
      columnAt: (slot: number) => ({ values: columns[slot] }),
      readRows: (slot: number, rows: Int32Array, out: Float64Array) =>
        rows.forEach((row, at) => (out[at] = columns[slot][row])),
    },
    input: { ...input, bars: { time: new Float64Array(conditions[0].length) } },
    firstRow: 0,
  };
  const found = nearMissesOf(report as unknown as ReportInput, bits, blockers);
  const all = conditions.flatMap((rows, index) => {
    const blocked = rows
      .map((sides, bar) => ({ bar, text: `${index}`, near: relativeGap(sides) }))
      .filter(({ bar }) => bar >= input.start && bar < input.end && hasBit(blockers.get(bits[index])!, bar));
    const every = Math.ceil(blocked.length / MOST_ROWS);
    return blocked.filter((_, at) => at % every === 0);
  });
  // Sorting keeps the order of equal ones.
  const nearest = all.sort((a, b) => (a.near === b.near ? 0 : a.near - b.near)).slice(0, 10);
  expect(found.map(({ bar, text }) => ({ bar, text }))).toEqual(nearest.map(({ bar, text }) => ({ bar, text })));
  for (const { bar, text, left, right } of found)
    expect([left ?? NaN, right ?? NaN]).toEqual(conditions[Number(text)][bar]);
}

it.each(Object.entries(SIDES))('finds the ten nearest of %s, the earlier one of two', (_, draw) => {
  for (let round = 0; round < scaled(60); round++) {
    const conditions = [0, 1].map(() => Array.from({ length: ROWS }, draw));
    const words = () => Uint32Array.from({ length: Math.ceil(ROWS / 32) }, round % 2 ? someBits : fewBits);
    expectNearest(conditions, words, { start: whole(40), end: ROWS - whole(40) });
  }
});

it.each(['all', 'most', 'some', 'few', 'whole words, no words or half of one'])(
  'finds the nearest of a sample of a long window, of whose rows %s are blocked',
  (share) => {
    const wordsOf: Readonly<Record<string, () => number>> = {
      all: () => 2 ** 32 - 1,
      most: () => 2 ** 32 - 1 - fewBits(),
      some: someBits,
      few: fewBits,
    };
    const word = wordsOf[share] ?? (() => pick([0, 2 ** 32 - 1, 2 ** 16 - 1, 2 ** 32 - 2 ** 16]));
    for (let round = 0; round < scaled(40); round++) {
      const count = 4_097 + 40 + whole(3 * MOST_ROWS);
      const conditions = [0, 1].map(() => Array.from({ length: count }, SIDES['values far from each other']));
      const words = () => Uint32Array.from({ length: Math.ceil(count / 32) }, word);
      expectNearest(conditions, words, { start: whole(40), end: count - whole(40) });
    }
  },
);

it.each(['all', 'some'])('finds the nearest of a window of which it samples less than a row per word: %s', (share) => {
  const word = share === 'all' ? () => 2 ** 32 - 1 : someBits;
  for (let round = 0; round < 2; round++) {
    const count = 64 * MOST_ROWS + whole(64 * MOST_ROWS);
    const conditions = [Array.from({ length: count }, SIDES['values far from each other'])];
    const words = () => Uint32Array.from({ length: Math.ceil(count / 32) }, word);
    expectNearest(conditions, words, { start: whole(40), end: count - whole(40) });
  }
});

it('finds near misses that are farther than those of the run before', () => {
  const every = () => Uint32Array.of(2 ** 32 - 1);
  const rows = Array.from({ length: 20 }, (): [number, number] => [1, 0.9]);
  expectNearest([rows.with(3, [1, 0.875])], every, { start: 0, end: 20 });
  expectNearest([rows.map((): [number, number] => [1, 0.875])], every, { start: 0, end: 20 });
  // Nine are within four times that; of two others, the one that is nearer differs by more from its left side.
  const others = Array.from({ length: 20 }, (_, row): [number, number] => (row < 9 ? [1, 0.9] : [1, -1]));
  expectNearest([others.with(10, [0.45, 1]).with(12, [1, 0.4])], every, { start: 0, end: 20 });
});
