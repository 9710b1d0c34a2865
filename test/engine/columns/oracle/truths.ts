// Three-valued logic in the open: 1 true, 0 false, 2 unknown, one number a bar (semantics §1.4, §1.8).
export type Truth = 0 | 1 | 2;

export const not = (a: Truth): Truth => (a === 2 ? 2 : a === 1 ? 0 : 1);
export const all = (items: readonly Truth[]): Truth => (items.includes(0) ? 0 : items.includes(2) ? 2 : 1);
export const any = (items: readonly Truth[]): Truth => (items.includes(1) ? 1 : items.includes(2) ? 2 : 0);

/** Every answer that the unknowns allow, tried out: true if all say yes, false if none does. */
export function ofCount(truths: readonly Truth[], says: (trues: number) => boolean): Truth {
  const least = truths.filter((truth) => truth === 1).length;
  const unknowns = truths.filter((truth) => truth === 2).length;
  const answers = Array.from({ length: unknowns + 1 }, (_, more) => says(least + more));
  return answers.every(Boolean) ? 1 : answers.some(Boolean) ? 2 : 0;
}

export interface Step {
  readonly met: readonly Truth[];
  readonly minBars: number;
  readonly maxBars: number;
}

/** True at `row` if the steps up to the last are met at t1 < … < row, by trying every row for the step before. */
export function isSequence(steps: readonly Step[], row: number, last = steps.length - 1): Truth {
  if (row < 0 || steps[last].met[row] !== 1) return 0;
  if (last === 0) return 1;
  const { minBars, maxBars } = steps[last];
  for (let before = row - minBars; before >= Math.max(0, row - maxBars); before--)
    if (isSequence(steps, before, last - 1) === 1) return 1;
  return 0;
}

/** The machine run from the first bar to `row` of its inputs. */
export function machine(
  set: readonly Truth[],
  reset: readonly Truth[] | null,
  ttlBars: number | null,
  policy: 'reset' | 'set' | 'hold',
): Truth[] {
  let left = 0;
  return set.map((one, row) => {
    left = Math.max(0, left - 1);
    const [isSet, isReset] = [one === 1, reset?.[row] === 1];
    const wins = isSet && isReset ? policy : isSet ? 'set' : isReset ? 'reset' : 'hold';
    if (wins === 'set') left = ttlBars ?? Infinity;
    if (wins === 'reset') left = 0;
    return left > 0 ? 1 : 0;
  });
}
