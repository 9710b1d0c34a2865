// Correlations between the daily returns of each pair of runs, over the days that both cover (docs/compare.md).
import { lowerBound } from '../../kernels/search.ts';
import { mean, ROUNDING } from '../moments.ts';
import { powerSums } from '../returnSums.ts';
import { commonDays, equityBefore, type DailyEquity, type DayRange } from './dailyEquity.ts';

export interface Correlations {
  /** Pearson's correlation of each pair; null where a run has no variance, or the pair too few returns. */
  readonly returns: readonly (readonly (number | null)[])[];
  /** How many returns of each pair were compared. */
  readonly days: readonly (readonly number[])[];
}

/** Two returns always lie on a line. */
const FEWEST_RETURNS = 3;

/** @param range the days that count; absent: of each pair, the days that both runs cover */
export function correlationsOf(runs: readonly DailyEquity[], range?: DayRange): Correlations {
  const pairs = runs.map((a, at) => runs.slice(0, at + 1).map((b) => pairReturns(a, b, range)));
  const pairAt = (row: number, column: number) => pairs[Math.max(row, column)][Math.min(row, column)];
  const matrix = <Cell>(cell: (row: number, column: number) => Cell): Cell[][] =>
    runs.map((_, row) => runs.map((_run, column) => cell(row, column)));
  return {
    returns: matrix((row, column) => correlation(...pairAt(row, column))),
    days: matrix((row, column) => pairAt(row, column)[0].length),
  };
}

/**
 * The returns of two runs between the same days: from each day to the next by which both have a new mark. Where both
 * have a bar on every day, that is every day; beside weekly bars it is every week, and beside a market that is closed
 * at the weekend, Friday to Monday.
 */
export function pairReturns(
  a: DailyEquity,
  b: DailyEquity,
  range: DayRange | null = commonDays([a, b]),
): readonly [number[], number[]] {
  const returns: readonly [number[], number[]] = [[], []];
  if (range === null) return returns;
  const sides = [a, b].map((run) => {
    const before = equityBefore(run, range.first);
    return { run, row: lowerBound(run.days, range.first), base: before, mark: before, isNew: false };
  });
  for (;;) {
    const day = sides.reduce((least, { run, row }) => Math.min(least, run.days[row] ?? Infinity), Infinity);
    if (day > range.last) return returns;
    for (const side of sides) {
      if (side.run.days[side.row] !== day) continue;
      side.mark = side.run.equity[side.row++];
      side.isNew = true;
    }
    if (!sides.every(({ isNew }) => isNew)) continue;
    for (const [at, side] of sides.entries()) {
      returns[at].push(side.base > 0 ? side.mark / side.base - 1 : 0);
      side.base = side.mark;
      side.isNew = false;
    }
  }
}

function correlation(a: readonly number[], b: readonly number[]): number | null {
  if (a.length < FEWEST_RETURNS) return null;
  const [centerA, centerB] = [mean(a)!, mean(b)!];
  const { second: squaresA, product } = powerSums(a, centerA, b, centerB);
  const { second: squaresB } = powerSums(b, centerB);
  const least = a.length * ROUNDING ** 2;
  if (squaresA <= least || squaresB <= least) return null;
  return Math.max(-1, Math.min(1, product / Math.sqrt(squaresA * squaresB)));
}
