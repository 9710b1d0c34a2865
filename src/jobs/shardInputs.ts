// Shards of a sweep as the engine takes them: the inputs and job of a claim, and the shard that follows it.
import type { RunnableVersion } from '../db/claims.ts';
import { strategyOf } from '../db/strategyVersions.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { runsInRounds, shardsOf } from '../engine/index.ts';
import type { ShardRange, Snapshot, SweepBatch, SweepJob, SweepSpec } from '../engine/index.ts';

export type PartInputs = Omit<SweepBatch, 'job' | 'work'>;

/** The variants or steps that a claim is to run; null: all have been run, and it is to make their result. */
export const rangeOf = ({ first, last }: ShardClaim): ShardRange | null =>
  first === null || last === null ? null : { first, last };

/** The snapshots and markets of a claim. @param opened its snapshots by name */
export function inputsOf(claim: ShardClaim, opened: ReadonlyMap<string, Snapshot>): PartInputs {
  const indexes = new Map([...opened.keys()].map((name, index) => [name, index]));
  const markets = claim.markets.map(({ timeframe, snapshots: names, ...market }) => ({
    ...market,
    timeframe: timeframe as PartInputs['markets'][number]['timeframe'],
    snapshots: names.map((name) => indexes.get(name)!),
  }));
  return { owner: claim.workspaceId, snapshots: [...opened.values()], markets };
}

/** What is stored was checked when it was accepted. */
export function sweepJobOf(claim: ShardClaim, version: RunnableVersion): SweepJob {
  return {
    strategy: strategyOf(version),
    spec: claim.spec as SweepSpec,
    variants: claim.variants,
    indexes: claim.indexes,
  };
}

/** Rounds follow each other; the shards of a sweep without rounds were all queued at the start. */
export function nextShard(
  range: ShardRange,
  cost: number,
  job: SweepJob,
): { first: number; last: number; cost: number } | null {
  if (!runsInRounds(job.spec)) return null;
  const next = shardsOf(job, 0).find(({ first }) => first === range.last);
  if (next === undefined) return null;
  return { ...next, cost: (cost / (range.last - range.first)) * (next.last - next.first) };
}
