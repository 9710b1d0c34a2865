// Rounds: the shards of a sweep. The rounds of a method that learns run one after the other, because each reads the
// results of all earlier ones.
import type { SweepHistory } from './methods/sweepMethod.ts';
import { methodOf } from './methods/sweepMethods.ts';
import type { ShardRange, SweepContext } from './shard.ts';
import { objectiveOf, type SweepJob } from './sweepJob.ts';
import type { SweepRows } from './sweepRows.ts';
import { scoresOf } from './scores.ts';

/** The fewest variants per round: fewer would leave threads idle, more would learn later. */
const ROUND_VARIANTS = 16;
/** With a large budget, a round is a hundredth of it, so that reading the history does not take longer than running. */
const MAX_ROUNDS = 100;

/** Index ranges [first, last) of all shards. @param size variants per shard that is not a round. */
export function shardsOf({ spec, indexes }: SweepJob, size: number): Omit<ShardRange, 'history'>[] {
  const { rounds } = methodOf(spec.method);
  const step = rounds === null ? Math.max(1, size) : Math.max(ROUND_VARIANTS, Math.ceil(indexes / MAX_ROUNDS));
  const shards: { first: number; last: number }[] = [];
  for (let first = 0; first < indexes; first = shards[shards.length - 1].last) {
    const length = rounds !== null && first === 0 ? Math.max(step, rounds.startupVariants) : step;
    shards.push({ first, last: Math.min(indexes, first + length) });
  }
  return shards;
}

/** What a round learns from. */
export function historyOf(
  { job, space }: Pick<SweepContext, 'job' | 'space'>,
  rows: Pick<SweepRows, 'coordinates' | 'metrics'>,
): SweepHistory {
  const { key, sign } = objectiveOf(job.spec);
  return { coordinates: rows.coordinates, scores: scoresOf(space, rows, key, sign) };
}
