// Scores: the objective of every row as a number where higher is better, and the rows with the best ones.
import type { FlatKey } from '../definitions/statistics/statistics.ts';
import { holds, type Space } from './space.ts';
import { metricOf, type SweepRows } from './sweepRows.ts';

/** The score of every row: higher is better, NaN for a row that cannot win. */
export function scoresOf(space: Space, rows: Pick<SweepRows, 'metrics'>, key: FlatKey, sign: 1 | -1): Float64Array {
  const scores = metricOf(rows, key).map((value) => sign * value);
  for (const { key: other, op, value } of space.resultConstraints) {
    const column = metricOf(rows, other);
    for (let row = 0; row < scores.length; row++) if (!holds(column[row], op, value)) scores[row] = NaN;
  }
  return scores;
}

/**
 * The rows with the best scores, best first; ties keep the first. A point that was run several times counts once.
 * @param coordinates of each row, per dimension
 */
export function bestRows(scores: Float64Array, count: number, coordinates: readonly Float64Array[]): number[] {
  const best: number[] = [];
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row];
    if (score !== score || (best.length === count && score <= scores[best[count - 1]])) continue;
    let place = best.length;
    while (place > 0 && scores[best[place - 1]] < score) place--;
    // Runs of one point have one score.
    const isSamePoint = (other: number): boolean =>
      scores[other] === score && coordinates.every((column) => column[other] === column[row]);
    if (best.some(isSamePoint)) continue;
    best.splice(place, 0, row);
    if (best.length > count) best.pop();
  }
  return best;
}
