import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBit, setBits, wordCount } from '../../../src/engine/kernels/bits.ts';
import type { ConditionColumn } from '../../../src/engine/kernels/column.ts';
import { trimUnknown } from '../../../src/engine/kernels/compare.ts';
import { rollingWindow, type RollingWindowMode } from '../../../src/engine/kernels/rollingCounts.ts';
import { rollingWindow as reference } from '../../support/reference/conditions.ts';

type Truth = boolean | null;

function columnOf(truths: readonly Truth[]): ConditionColumn {
  const isTrue = new Uint32Array(wordCount(truths.length));
  const isUnknown = new Uint32Array(isTrue.length);
  truths.forEach((truth, row) => {
    if (truth !== false) setBits(truth === null ? isUnknown : isTrue, row, row + 1);
  });
  return { isTrue, isUnknown: trimUnknown(isUnknown) };
}

const truthsOf = ({ isTrue, isUnknown }: ConditionColumn, rows: number): Truth[] =>
  Array.from({ length: rows }, (_, row) => (hasBit(isUnknown, row) ? null : hasBit(isTrue, row)));

const MODES: readonly RollingWindowMode[] = ['any', 'none', 'all', 'streak', 'count_gt', 'count_lt', 'count_eq'];

describe('counts of the last rows', () => {
  it('answers as counting the truths of each window does, whatever is unknown', () => {
    const truths = fc.array(fc.constantFrom<Truth>(true, true, false, false, false, null), { maxLength: 200 });
    const known = fc.array(fc.boolean(), { maxLength: 200 });
    const value = fc.oneof(fc.integer({ min: -2, max: 80 }), fc.constantFrom(0.5, 2.5, -0.5));
    fc.assert(
      fc.property(
        fc.oneof(truths, known),
        fc.integer({ min: 1, max: 90 }),
        fc.constantFrom(...MODES),
        value,
        (list, window, mode, number) => {
          const wanted = mode === 'streak' ? Math.max(1, Math.ceil(number)) : number;
          const found = rollingWindow(columnOf(list), window, mode, number, list.length);
          expect(truthsOf(found, list.length)).toEqual(reference(list, window, mode, wanted));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('leaves the bits past the last row at 0', () => {
    const list = Array.from({ length: 37 }, (): Truth => false);
    const { isTrue, isUnknown } = rollingWindow(columnOf(list), 3, 'none', 0, list.length);
    expect([isTrue[1] >>> 5, isUnknown.length]).toEqual([0, 1]);
  });
});
