// The shards of a sweep on the threads of this process: a few in flight per thread, rounds of tpe one after the other.
import {
  decodeRows,
  historyOf,
  joinRows,
  objectiveOf,
  shardsOf,
  spaceOf,
  type Pool,
  type ShardRange,
  type SweepRows,
} from '../engine/index.ts';
import type { SweepBatch, SweepOutcome } from '../engine/index.ts';
import { CommandError } from './output.ts';

export type SweepInputs = Omit<SweepBatch, 'work'>;
export type Best = Extract<SweepOutcome, { kind: 'rows' }>['best'];

/** Enough shards that all threads finish together, few enough that starting one costs nothing. */
const SHARDS_PER_THREAD = 12;
const MIN_SHARD = 8;
const MAX_SHARD = 20_000;
const PROGRESS_MS = 100;

/** @returns the encoded rows of every shard. @throws CommandError when one fails. */
export async function runShards(
  pool: Pool,
  inputs: SweepInputs,
  threads: number,
  onProgress: (indexesDone: number, best: Best) => void,
): Promise<Uint8Array[]> {
  const { job } = inputs;
  const size = Math.min(MAX_SHARD, Math.max(MIN_SHARD, Math.ceil(job.indexes / (threads * SHARDS_PER_THREAD))));
  const ranges = shardsOf(job, size);
  if (job.spec.method === 'tpe') return runRounds(pool, inputs, threads, ranges, onProgress);
  return runRanges(pool, inputs, ranges, onProgress, 0);
}

/** The variants of a round depend only on earlier rounds, so that a round can be divided among the threads. */
async function runRounds(
  pool: Pool,
  inputs: SweepInputs,
  threads: number,
  rounds: readonly ShardRange[],
  onProgress: (indexesDone: number, best: Best) => void,
): Promise<Uint8Array[]> {
  const space = spaceOf(inputs.job);
  const shards: Uint8Array[] = [];
  let rows: SweepRows | null = null;
  for (const { first, last } of rounds) {
    const history = rows === null ? {} : { history: historyOf({ job: inputs.job, space }, rows) };
    const parts = Array.from(
      { length: Math.min(threads, last - first) },
      (_, part, count = Math.min(threads, last - first)) => ({
        first: first + Math.floor(((last - first) * part) / count),
        last: first + Math.floor(((last - first) * (part + 1)) / count),
        ...history,
      }),
    );
    const made = await runRanges(pool, inputs, parts, onProgress, first);
    for (const each of made) shards.push(each);
    rows = joinRows([...(rows === null ? [] : [rows]), ...made.map(decodeRows)]);
  }
  return shards;
}

async function runRanges(
  pool: Pool,
  inputs: SweepInputs,
  ranges: readonly ShardRange[],
  onProgress: (indexesDone: number, best: Best) => void,
  doneBefore: number,
): Promise<Uint8Array[]> {
  let best: Best = null;
  let done = doneBefore;
  const runs = ranges.map((range) => pool.sweep({ ...inputs, work: { kind: 'shard', range } }));
  const timer = setInterval(() => {
    const underWay = runs.reduce(
      (sum, run) => sum + (run.progress().state === 'running' ? run.progress().barsDone : 0),
      0,
    );
    onProgress(done + underWay, best);
  }, PROGRESS_MS);
  try {
    return await Promise.all(
      runs.map(async (run, at) => {
        const outcome = await run.outcome;
        if (outcome.kind !== 'rows')
          throw new CommandError('error' in outcome ? outcome.error.message : 'The sweep was stopped.');
        done += ranges[at].last - ranges[at].first;
        best = better(best, outcome.best, inputs);
        return outcome.bytes;
      }),
    );
  } finally {
    clearInterval(timer);
  }
}

function better(a: Best, b: Best, { job }: SweepInputs): Best {
  if (a === null || b === null) return a ?? b;
  const { sign } = objectiveOf(job.spec);
  return sign * b.value > sign * a.value ? b : a;
}
