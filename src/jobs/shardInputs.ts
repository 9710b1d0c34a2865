// Shards of a sweep as the engine takes them: the inputs and job of a claim, and the shard that follows it.
import type { RunnableVersion } from '../db/claims.ts';
import { strategyOf } from '../db/strategyVersions.ts';
import type { ShardClaim } from '../db/sweepShards.ts';
import { shardsOf } from '../engine/index.ts';
import type { Snapshot, SweepBatch, SweepJob, SweepSpec } from '../engine/index.ts';

export type PartInputs = Omit<SweepBatch, 'job' | 'work'>;

/** The snapshots and markets of a claim. @param opened its snapshots by name */
export function inputsOf(claim: ShardClaim, opened: ReadonlyMap<string, Snapshot>): PartInputs {
  const at = new Map([...opened.keys()].map((name, index) => [name, index]));
  const markets = claim.markets.map(({ symbol, timeframe, snapshots: names }) => ({
    symbol,
    timeframe: timeframe as PartInputs['markets'][number]['timeframe'],
    snapshots: names.map((name) => at.get(name)!),
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

/** Rounds of tpe follow each other; the shards of other methods were all queued at the start. */
export function nextShard(
  { first: from, last, cost }: ShardClaim,
  job: SweepJob,
): { first: number; last: number; cost: number } | null {
  if (job.spec.method !== 'tpe') return null;
  const next = shardsOf(job, 0).find(({ first }) => first === last);
  if (next === undefined || from === null || last === null) return null;
  return { ...next, cost: (cost / (last - from)) * (next.last - next.first) };
}
