// Rounds: the shards of a sweep. Rounds of tpe run one after the other, because each reads the results of all earlier
// ones.
import { STARTUP_VARIANTS, type SweepHistory } from './parzen.ts';
import { runShard, type ShardRange, type SweepScene } from './shard.ts';
import { objectiveOf, type SweepControl, type SweepJob } from './sweepJob.ts';
import { joinRows, type SweepRows } from './sweepRows.ts';
import { scoresOf } from './scores.ts';

/** The fewest variants per round of tpe: fewer would leave threads idle, more would learn later. */
const ROUND_VARIANTS = 16;
/** With a large budget, a round is a hundredth of it, so that reading the history does not take longer than running. */
const MAX_ROUNDS = 100;

/** Index ranges [first, last) of all shards. @param size variants per shard, except for tpe. */
export function shardsOf({ spec, indexes }: SweepJob, size: number): Omit<ShardRange, 'history'>[] {
  const isTpe = spec.method === 'tpe';
  const step = isTpe ? Math.max(ROUND_VARIANTS, Math.ceil(indexes / MAX_ROUNDS)) : Math.max(1, size);
  const shards: { first: number; last: number }[] = [];
  for (let first = 0; first < indexes; first = shards[shards.length - 1].last) {
    const length = isTpe && first === 0 ? Math.max(step, STARTUP_VARIANTS) : step;
    shards.push({ first, last: Math.min(indexes, first + length) });
  }
  return shards;
}

/** What a round of tpe learns from. */
export function historyOf({ job, space }: Pick<SweepScene, 'job' | 'space'>, rows: SweepRows): SweepHistory {
  const { key, sign } = objectiveOf(job.spec);
  return { coordinates: rows.coordinates, scores: scoresOf(space, rows, key, sign) };
}

/** The rounds of tpe in this thread; null when it was cancelled. */
export function runTpe(scene: SweepScene, control: SweepControl | null): SweepRows | null {
  let rows: SweepRows | null = null;
  for (const range of shardsOf(scene.job, 0)) {
    const made = runShard(scene, rows === null ? range : { ...range, history: historyOf(scene, rows) }, control);
    if (made === null) return null;
    rows = rows === null ? made : joinRows([rows, made]);
  }
  return rows;
}
