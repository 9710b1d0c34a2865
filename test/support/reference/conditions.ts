// Three-valued truths and the conditions that look back over them, each bar by bar.

export type Truth = boolean | null;

export const and = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(null) ? null : true;
export const or = (truths: readonly Truth[]): Truth =>
  truths.includes(true) ? true : truths.includes(null) ? null : false;
export const not = (truth: Truth): Truth => (truth === null ? null : !truth);

/** eq holds within the tolerance, gt and lt need more than it, gte and lte forgive it (docs/language.md). */
export function compare(op: string, left: number, right: number, tolerance = 0): Truth {
  if (Number.isNaN(left) || Number.isNaN(right)) return null;
  switch (op) {
    case 'gt':
      return left > right + tolerance;
    case 'gte':
      return left >= right - tolerance;
    case 'lt':
      return left < right - tolerance;
    case 'lte':
      return left <= right + tolerance;
    case 'eq':
      return Math.abs(left - right) <= tolerance;
    case 'neq':
      return Math.abs(left - right) > tolerance;
    default:
      throw new Error(`No comparison ${op}.`);
  }
}

export function cross(op: string, left: readonly number[], right: readonly number[], row: number): Truth {
  const [leftBefore, rightBefore] = [left[row - 1] ?? NaN, right[row - 1] ?? NaN];
  const up = and([compare('lte', leftBefore, rightBefore), compare('gt', left[row], right[row])]);
  const down = and([compare('gte', leftBefore, rightBefore), compare('lt', left[row], right[row])]);
  return op === 'cross_up' ? up : op === 'cross_down' ? down : or([up, down]);
}

/** True on any of the last `bars` rows; rows before the first are unknown. */
export const within = (truths: readonly Truth[], bars: number): Truth[] =>
  truths.map((_, row) => or(Array.from({ length: bars }, (_each, back) => truths[row - back] ?? null)));

/** Strictly in one direction, `bars` times in a row. */
export const moving = (source: readonly number[], bars: number, op: 'gt' | 'lt'): Truth[] =>
  source.map((_, row) =>
    and(Array.from({ length: bars }, (_each, i) => compare(op, source[row - i], source[row - i - 1] ?? NaN))),
  );

/** The last `window` rows: how many can be true at least and at most decides what is known. */
export function rollingWindow(
  truths: readonly Truth[],
  window: number,
  mode: string,
  value: number | undefined,
): Truth[] {
  return truths.map((_, row) => {
    const last = Array.from({ length: window }, (_each, back) => truths[row - back] ?? null);
    const least = last.filter((truth) => truth === true).length;
    const most = least + last.filter((truth) => truth === null).length;
    const wanted = value ?? 0;
    switch (mode) {
      case 'any':
        return or(last);
      case 'none':
        return not(or(last));
      case 'all':
        return and(last);
      case 'streak':
        return and(Array.from({ length: value ?? window }, (_each, back) => truths[row - back] ?? null));
      case 'count_gt':
        return least > wanted ? true : most <= wanted ? false : null;
      case 'count_lt':
        return most < wanted ? true : least >= wanted ? false : null;
      case 'count_eq':
        return least > wanted || most < wanted ? false : least === most ? true : null;
      default:
        throw new Error(`No mode ${mode}.`);
    }
  });
}

export interface Step {
  readonly truths: readonly Truth[];
  readonly minBars?: number;
  readonly maxBars?: number;
}

/** True where the steps are met at rows t1 < … < tn = t, each minBars to maxBars after the last. */
export function sequence(steps: readonly Step[]): boolean[] {
  let met: boolean[] = steps[0].truths.map((truth) => truth === true);
  for (const { truths, minBars = 1, maxBars = Infinity } of steps.slice(1)) {
    const before = met;
    met = truths.map(
      (truth, row) => truth === true && before.some((isMet, at) => isMet && row - at >= minBars && row - at <= maxBars),
    );
  }
  return met;
}

/** On from the set bar, off on the reset bar; `ttlBars` counts the set bar. */
export function stateMachine(
  set: readonly Truth[],
  reset: readonly Truth[] | undefined,
  ttlBars: number,
  policy: string,
): boolean[] {
  let isOn = false;
  let setRow = -1;
  return set.map((truth, row) => {
    if (isOn && row - setRow >= ttlBars) isOn = false;
    const isSet = truth === true;
    const isReset = reset?.[row] === true;
    const wins = isSet && isReset ? policy : isSet ? 'set' : isReset ? 'reset' : 'hold';
    if (wins === 'set') {
      isOn = true;
      setRow = row;
    } else if (wins === 'reset') isOn = false;
    return isOn;
  });
}
