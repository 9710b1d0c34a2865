// The rerun task: runs a stored backtest again, for an artifact or to verify it, and stores the outcome for the API.
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../db/connect.ts';
import { notify } from '../db/notifications.ts';
import { deleteOldReruns, deleteRerunChunks, findRerun, finishRerun, insertRerunChunk } from '../db/reruns.ts';
import type { Rerun, RerunOutcome, RerunRequest, RerunSize } from '../db/reruns.ts';
import { summaryOf } from '../db/summaries.ts';
import { addRerunJob } from '../db/tickets.ts';
import { decodeDetail, STATISTIC_POSITIONS } from '../engine/index.ts';
import type { ArtifactRequest, Result, Pool, PoolBatch, RunError } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';
import { maskInternalError } from './internalErrors.ts';
import { isPoolRun } from './inputs.ts';
import type { InputReader, NoteMissing } from './inputs.ts';

/** A rerun whose inputs are missing here is hidden for this long, then another worker may take it. */
const ELSEWHERE_MS = 100;
const EMPTY_FILE: RerunSize = { chunks: 0, bytes: 0 };

/**
 * Runs the reruns of one workspace one after the other: however many a workspace asks for, the worker has room for
 * others. Reruns that wait hold no job: if the process ends, their clients are told to ask again.
 */
export class RerunTurns {
  readonly #waiting = new Map<string, string[]>();
  readonly #maxWorkspaces: number;

  /** @param maxWorkspaces whose reruns run at a time, so that backtests have the other jobs */
  constructor(maxWorkspaces: number) {
    this.#maxWorkspaces = maxWorkspaces;
  }

  /**
   * @param run runs one rerun; when it fails, those that wait behind it still run
   * @returns false when the rerun was not taken and must be tried again later
   * @throws the first error of `run`
   */
  async take(workspaceId: string, rerunId: string, run: (rerunId: string) => Promise<void>): Promise<boolean> {
    const others = this.#waiting.get(workspaceId);
    if (others) {
      others.push(rerunId);
      return true;
    }
    if (this.#waiting.size >= this.#maxWorkspaces) return false;
    const own = [rerunId];
    this.#waiting.set(workspaceId, own);
    const failures: unknown[] = [];
    for (let next = own.shift(); next !== undefined; next = own.shift())
      await run(next).catch((error: unknown) => failures.push(error));
    this.#waiting.delete(workspaceId);
    if (failures.length > 0) throw failures[0];
    return true;
  }
}

/** What reruns share in a worker process. */
interface RerunParts {
  readonly sql: Sql;
  readonly pool: Pool;
  readonly inputs: InputReader;
  readonly log: Log;
  readonly noteMissing: NoteMissing;
  /** The most bytes that one file may have. */
  readonly maxFileBytes: number;
}

/** Runs one rerun and stores its outcome; nothing happens when the request has been abandoned. */
export async function runRerun(parts: RerunParts, rerunId: string): Promise<void> {
  const { sql, log } = parts;
  const rerun = await findRerun(sql, rerunId, STATISTIC_POSITIONS);
  if (!rerun) return;
  // An earlier attempt may have been cut off when the database went away.
  await deleteRerunChunks(sql, rerunId);
  const file = new KeptFile(sql, rerunId, parts.maxFileBytes);
  const made = await runRequest(parts, rerun, file);
  if (made === 'elsewhere') return addRerunJob(sql, rerunId, rerun.workspaceId, ELSEWHERE_MS);
  if (!made.ok) await deleteRerunChunks(sql, rerunId);
  const { backtestId } = rerun;
  const outcome: RerunOutcome = made.ok
    ? made
    : { ok: false, error: maskInternalError(log, 'rerun', { rerunId, backtestId }, made.error) };
  await sql.begin(async (tx) => {
    await finishRerun(tx, rerunId, outcome, made.ok ? file.size : EMPTY_FILE);
    await notify(tx, 'changed', [rerunId]);
  });
  if (file.size.bytes > 0) await deleteOldReruns(sql);
}

/** A file on its way into the database, chunk by chunk. */
class KeptFile {
  readonly #sql: Sql;
  readonly #rerunId: string;
  readonly #maxBytes: number;
  #chunks = 0;
  #bytes = 0;

  constructor(sql: Sql, rerunId: string, maxBytes: number) {
    this.#sql = sql;
    this.#rerunId = rerunId;
    this.#maxBytes = maxBytes;
  }

  get size(): RerunSize {
    return { chunks: this.#chunks, bytes: this.#bytes };
  }

  readonly add = async (chunk: Uint8Array): Promise<void> => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) throw new FileTooLarge();
    await insertRerunChunk(this.#sql, this.#rerunId, this.#chunks++, chunk);
  };
}

class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}
const tooLarge = (maxBytes: number): RunError => ({
  code: 'RESOURCE_LIMIT',
  path: '',
  message:
    `The file is larger than ${(maxBytes / 2 ** 20).toLocaleString('en-US')} MiB. Use a shorter range or a coarser ` +
    'timeframe, or ask for Arrow, which takes the least room.',
});

/** @returns `elsewhere` when the inputs are missing here, but another worker may have them */
async function runRequest(parts: RerunParts, rerun: Rerun, file: KeptFile): Promise<RerunOutcome | 'elsewhere'> {
  const { snapshots, runs, missing } = await parts.inputs.read([{ ...rerun, id: rerun.backtestId }]);
  if (missing.length > 0) {
    const missingEverywhere = await parts.noteMissing(missing);
    if (!missing.some((name) => missingEverywhere.has(name))) return 'elsewhere';
  }
  const [run] = runs;
  if (!isPoolRun(run)) return failed(run);
  const { request, tier, workspaceId: owner } = rerun;
  const batch = { snapshots, runs: [{ ...run, owner, timeLimitMs: 1_000 * TIER_LIMITS[tier].runSeconds }] };
  return request.kind === 'artifact' ? buildArtifact(parts, rerun, request, batch, file) : verify(parts, rerun, batch);
}

async function buildArtifact(
  { pool, maxFileBytes }: RerunParts,
  { heading, summary, detail, trades }: Rerun,
  request: RerunRequest & { readonly kind: 'artifact' },
  batch: PoolBatch,
  file: KeptFile,
): Promise<RerunOutcome> {
  // Names and formats were checked by the route that asked.
  const { name, format } = request as ArtifactRequest;
  const { engineVersion, resultHash } = decodeDetail(detail).reproducibility;
  const stored = { engineVersion, resultHash, summary, detail, trades };
  const building = pool.build(batch, { name, format, heading, stored }, file.add);
  const built = await building.catch((error: unknown) => {
    if (error instanceof FileTooLarge) return { ok: false, error: tooLarge(maxFileBytes) } as const;
    throw error;
  });
  return built.ok ? { ...built, reproducibility: null } : built;
}

async function verify({ pool }: RerunParts, rerun: Rerun, batch: PoolBatch): Promise<RerunOutcome> {
  const [outcome] = await pool.run(batch).outcomes;
  if (outcome.kind === 'failed') return failed(outcome.error);
  if (outcome.kind === 'stopped')
    return failed({ code: 'RESOURCE_LIMIT', path: '', message: `The rerun was stopped (${outcome.reason}).` });
  const { reproducibility } = decodeDetail(outcome.result.detail);
  const { engineVersion } = decodeDetail(rerun.detail).reproducibility;
  const isOfOtherEngine = engineVersion !== reproducibility.engineVersion && isSameResult(rerun, outcome.result);
  return { ok: true, resultHash: reproducibility.resultHash, notice: null, reproducibility, isOfOtherEngine };
}

/** Whether two results are equal in all but their hashes and the engine that made them. */
function isSameResult(stored: Pick<Rerun, 'summary' | 'detail' | 'trades'>, made: Result): boolean {
  if (Buffer.compare(stored.trades, made.trades) !== 0) return false;
  const summaryNumbers = [...new Float64Array(Uint8Array.from(made.summary).buffer)];
  const blocks = [stored.detail, made.detail].map((detail) => decodeDetail(detail).summary);
  return (
    isDeepStrictEqual(stored.summary, summaryOf({ summaryNumbers }, STATISTIC_POSITIONS)) &&
    isDeepStrictEqual(blocks[0], blocks[1])
  );
}

const failed = (error: RunError): RerunOutcome => ({ ok: false, error });
