// The shards of a sweep on the threads of this process: a few in flight per thread, rounds one after the other.
import {
  decodeRows,
  historyOf,
  joinRankingRows,
  objectiveOf,
  rankingRows,
  runsInRounds,
  shardsOf,
  spaceOf,
  type Pool,
  type RankingRows,
  type ShardRange,
  type Space,
  type SweepJob,
} from '../engine/index.ts';
import type { SweepBatch, SweepOutcome } from '../engine/index.ts';
import { CommandError } from './output.ts';

export type SweepInputs = Omit<SweepBatch, 'work'>;
type Best = Extract<SweepOutcome, { kind: 'rows' }>['best'];

/** Enough shards that all threads finish together, few enough that starting one costs nothing. */
const SHARDS_PER_THREAD = 12;
const MIN_SHARD = 8;
/** The rows of so many variants take 10 MB with every metric. */
const MAX_SHARD = 20_000;
const PROGRESS_MS = 100;

interface FinishedShards {
  readonly rows: RankingRows;
  /** The encoded rows of every shard, in order; empty when they are not kept. */
  readonly shards: readonly Uint8Array[];
}

/**
 * Runs every shard of a sweep.
 * @param onProgress called ten times a second with the variants done and the best row so far
 * @throws CommandError when a shard fails
 */
export async function runShards(
  pool: Pool,
  inputs: SweepInputs,
  { threads, keepsShards }: { readonly threads: number; readonly keepsShards: boolean },
  onProgress: (indexesDone: number, best: Best) => void,
): Promise<FinishedShards> {
  const { job } = inputs;
  const size = Math.min(MAX_SHARD, Math.max(MIN_SHARD, Math.ceil(job.indexes / (threads * SHARDS_PER_THREAD))));
  const ranges = shardsOf(job, size);
  const collected = new Collected(inputs, keepsShards);
  if (runsInRounds(job.spec)) await runRounds(pool, inputs, threads, ranges, collected, onProgress);
  else await runRanges(pool, inputs, ranges, collected, onProgress);
  return collected.finish();
}

/** Collects finished shards: of each only the rows that are read, and its bytes when they are wanted. */
class Collected {
  readonly #context: { readonly job: SweepJob; readonly space: Space };
  readonly #keepsShards: boolean;
  readonly #parts: RankingRows[] = [];
  readonly #shards: { readonly first: number; readonly bytes: Uint8Array }[] = [];
  done = 0;
  best: Best = null;

  constructor({ job }: SweepInputs, keepsShards: boolean) {
    this.#context = { job, space: spaceOf(job) };
    this.#keepsShards = keepsShards;
  }

  add({ first, last }: ShardRange, { bytes, best }: Extract<SweepOutcome, { kind: 'rows' }>): void {
    this.#parts.push(rankingRows(this.#context, decodeRows(bytes)));
    if (this.#keepsShards) this.#shards.push({ first, bytes });
    this.done += last - first;
    this.best = better(this.best, best, this.#context.job);
  }

  /**
   * The ranking rows so far, without gaps: a round ends before the next one begins. They replace the parts,
   * which `joinRankingRows` removes from the list.
   */
  joinRows(): RankingRows {
    const rows = joinRankingRows(this.#parts);
    this.#parts.push(rows);
    return rows;
  }

  finish(): FinishedShards {
    const shards = this.#shards.toSorted((a, b) => a.first - b.first).map(({ bytes }) => bytes);
    return { rows: this.joinRows(), shards };
  }
}

/** The variants of a round depend only on earlier rounds, so that a round can be divided among the threads. */
async function runRounds(
  pool: Pool,
  inputs: SweepInputs,
  threads: number,
  rounds: readonly ShardRange[],
  collected: Collected,
  onProgress: (indexesDone: number, best: Best) => void,
): Promise<void> {
  const space = spaceOf(inputs.job);
  for (const { first, last } of rounds) {
    const history = first === 0 ? {} : { history: historyOf({ job: inputs.job, space }, collected.joinRows()) };
    const count = Math.min(threads, last - first);
    const parts = Array.from({ length: count }, (_, part) => ({
      first: first + Math.floor(((last - first) * part) / count),
      last: first + Math.floor(((last - first) * (part + 1)) / count),
      ...history,
    }));
    await runRanges(pool, inputs, parts, collected, onProgress);
  }
}

async function runRanges(
  pool: Pool,
  inputs: SweepInputs,
  ranges: readonly ShardRange[],
  collected: Collected,
  onProgress: (indexesDone: number, best: Best) => void,
): Promise<void> {
  const runs = ranges.map((range) => pool.sweep({ ...inputs, work: { kind: 'shard', range } }));
  const timer = setInterval(() => {
    const underWay = runs.reduce(
      (sum, run) => sum + (run.progress().state === 'running' ? run.progress().barsDone : 0),
      0,
    );
    onProgress(collected.done + underWay, collected.best);
  }, PROGRESS_MS);
  try {
    await Promise.all(
      runs.map(async (run, at) => {
        const outcome = await run.outcome;
        if (outcome.kind !== 'rows')
          throw new CommandError('error' in outcome ? outcome.error.message : 'The sweep was stopped.');
        collected.add(ranges[at], outcome);
      }),
    );
  } finally {
    clearInterval(timer);
  }
}

function better(a: Best, b: Best, job: SweepJob): Best {
  if (a === null || b === null) return a ?? b;
  const { sign } = objectiveOf(job.spec);
  return sign * b.value > sign * a.value ? b : a;
}
