// Statistics of conditions with generated bits, against counting row by row.
import { describe, expect, it } from 'vitest';
import type { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import type { ConditionNode } from '../../../src/engine/plan/plan.ts';
import { neverTogether, soleBlockers, type ConditionBits } from '../../../src/engine/report/conditionBits.ts';
import { conditionStatistics, SAMPLED_ROWS } from '../../../src/engine/report/conditionStatistics.ts';
import { diceOf, type Dice } from '../../support/dice.ts';
import { scaled } from '../../support/scale.ts';
import { bitsAt } from '../simulate/input.ts';

const MINUTE = 60_000;
type Truth = 'true' | 'false' | 'unknown' | 'not evaluated';

/** Truths in runs, as conditions have them: of one row each up to some hundred. */
function truthsOf(dice: Dice, rows: number, isOverState: boolean): Truth[] {
  const change = dice.pick([1, 0.5, 0.1, 0.01]);
  const draw = (): Truth => dice.pick(['true', 'true', 'false', 'unknown', isOverState ? 'not evaluated' : 'false']);
  let truth = draw();
  return Array.from({ length: rows }, () => (dice.chance(change) ? (truth = draw()) : truth));
}

function bitsOf(truths: readonly Truth[], index: number, isOverState: boolean): ConditionBits {
  const rowsOf = (...wanted: Truth[]) => truths.flatMap((truth, row) => (wanted.includes(truth) ? [row] : []));
  const unknown = rowsOf('unknown');
  const node = { nodeId: `${index}`, role: 'trigger', ruleIndex: 0, isConjunct: true, kind: 'compare', left: index };
  return {
    node: { ...node, right: null } as unknown as ConditionNode,
    isTrue: bitsAt(truths.length, rowsOf('true')),
    // Its words end with the last unknown row.
    isUnknown: bitsAt(unknown.length === 0 ? 0 : unknown.at(-1)! + 1, unknown),
    evaluatedRows: isOverState ? bitsAt(truths.length, rowsOf('true', 'false', 'unknown')) : null,
  };
}

const planOf = (columns: readonly Float64Array[]): EvaluatedPlan => {
  const made = columns.map((values) => ({ values }));
  return {
    market: { base: { time: columns[0].map((_, row) => row * MINUTE) } },
    numberAt: () => undefined,
    columnAt: (slot: number) => made[slot],
    readRows: (slot: number, rows: Int32Array, out: Float64Array) =>
      rows.forEach((row, at) => (out[at] = columns[slot][row])),
  } as unknown as EvaluatedPlan;
};

interface Conditions {
  readonly truths: readonly (readonly Truth[])[];
  readonly columns: readonly Float64Array[];
}

function expectedOf({ truths, columns }: Conditions, index: number, start: number, end: number): object {
  const rows = Array.from({ length: end - start }, (_, at) => start + at);
  const own = truths[index];
  const isTrue = (row: number): boolean => own[row] === 'true';
  const withTruth = (truth: Truth): number => rows.filter((row) => own[row] === truth).length;
  const evaluated = rows.length - withTruth('not evaluated');
  const trueRows = rows.filter(isTrue);
  const streaks = rows.map((row) => (isTrue(row) ? '1' : '0')).join('');
  const others = truths.filter((_, at) => at !== index);
  const values = rows.map((row) => columns[index][row]);
  const present = values.filter((value) => !Number.isNaN(value));
  const timeOf = (row: number | undefined): number | null => (row === undefined ? null : row * MINUTE);
  const hasValues = present.length > 0;
  return {
    evaluated,
    trueCount: trueRows.length,
    falseCount: withTruth('false'),
    unknownCount: withTruth('unknown'),
    trueRate: evaluated === 0 ? null : trueRows.length / evaluated,
    firstTrueAt: timeOf(trueRows[0]),
    lastTrueAt: timeOf(trueRows.at(-1)),
    transitions: rows.filter((row) => row > start && isTrue(row) !== isTrue(row - 1)).length,
    maxStreakTrue: Math.max(...streaks.split('0').map((streak) => streak.length)),
    soleBlockerCount: rows.filter((row) => own[row] === 'false' && others.every((other) => other[row] === 'true'))
      .length,
    leftStats: {
      min: hasValues ? Math.min(...present) : null,
      max: hasValues ? Math.max(...present) : null,
      mean: hasValues ? present.reduce((sum, value) => sum + value, 0) / present.length : null,
      last: Number.isNaN(values.at(-1) ?? NaN) ? null : values.at(-1),
      sampled: rows.length,
    },
    rightStats: null,
  };
}

describe('condition statistics', () => {
  it('are what counting row by row gives, in any window', () => {
    const dice = diceOf(31);
    for (let round = 0; round < scaled(3_000); round++) {
      const rows = dice.whole(1, 300);
      const isOverState = dice.chance(0.3);
      const truths = Array.from({ length: dice.whole(1, 4) }, () => truthsOf(dice, rows, isOverState));
      // Whole numbers, so that their sums are exact.
      const columns = truths.map(() => Float64Array.from({ length: rows }, () => dice.pick([NaN, dice.whole(-9, 9)])));
      const bits = truths.map((each, index) => bitsOf(each, index, isOverState));
      const plan = planOf(columns);
      const start = dice.whole(0, rows - 1);
      for (const end of [dice.whole(start, rows), rows]) {
        const window = { start, end };
        const found = conditionStatistics(bits, soleBlockers(bits, window), plan, window);
        const expected = truths.map((_, index) => expectedOf({ truths, columns }, index, start, end));
        expect(found, `round ${round}: rows ${start} to ${end} of ${rows}`).toMatchObject(expected);
      }
    }
  });

  it('sample the first and the last row of a long window', () => {
    // 262,085 / 4,095 · 4,095 is less than 262,085.
    const lengths = [SAMPLED_ROWS + 1, 3 * SAMPLED_ROWS - 1, 262_086];
    const values = Float64Array.from({ length: 300_000 }, (_, row) => row);
    for (const rows of lengths) {
      const window = { start: 7, end: 7 + rows };
      const [{ leftStats }] = conditionStatistics([bitsOf(['false'], 0, false)], new Map(), planOf([values]), window);
      expect(leftStats).toMatchObject({ min: 7, max: rows + 6, last: rows + 6, sampled: SAMPLED_ROWS });
    }
  });
});

describe('two conditions', () => {
  it('are never together where no row of the window has both, and each is true on some row of it', () => {
    const dice = diceOf(32);
    let pairs = 0;
    for (let round = 0; round < scaled(3_000); round++) {
      const rows = dice.whole(1, 150);
      const truths = [0, 1, 2].map(() => truthsOf(dice, rows, false));
      const bits = truths.map((each, index) => bitsOf(each, index, false));
      const start = dice.whole(0, rows - 1);
      const end = dice.whole(start + 1, rows);
      const rowsOf = (index: number): number[] =>
        Array.from({ length: end - start }, (_, at) => start + at).filter((row) => truths[index][row] === 'true');
      const expected = [[0, 1], [0, 2], [1, 2]].filter(([a, b]) => {
        const [ofA, ofB] = [rowsOf(a), rowsOf(b)];
        return ofA.length > 0 && ofB.length > 0 && !ofA.some((row) => ofB.includes(row));
      }); // prettier-ignore
      const found = neverTogether(bits, { start, end }).map((pair) => pair.map(({ node }) => Number(node.nodeId)));
      expect(found, `round ${round}: rows ${start} to ${end} of ${rows}`).toEqual(expected);
      pairs += expected.length;
    }
    expect(pairs).toBeGreaterThan(20);
  });
});
