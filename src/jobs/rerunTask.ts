// The rerun task: runs a stored backtest again, for an artifact or to verify it, and stores the outcome for the API.
import type { Sql } from '../db/connect.ts';
import { notify } from '../db/notifications.ts';
import { findRerun, finishRerun } from '../db/reruns.ts';
import type { Rerun, RerunOutcome } from '../db/reruns.ts';
import { decodeDetail } from '../engine/index.ts';
import type { ArtifactFormat, ArtifactName, Pool, RunError } from '../engine/index.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';
import { maskInternalError } from './internalErrors.ts';
import { isPoolRun } from './inputs.ts';
import type { InputReader } from './inputs.ts';

/**
 * The reruns of one workspace follow each other, so that however many it asks for, the worker has room for others.
 * Those that wait hold no job: should the process end, their askers are told to ask again.
 */
export class RerunTurns {
  readonly #waiting = new Map<string, string[]>();

  async take(workspaceId: string, rerunId: string, run: (rerunId: string) => Promise<void>): Promise<void> {
    const others = this.#waiting.get(workspaceId);
    if (others) {
      others.push(rerunId);
      return;
    }
    const own = [rerunId];
    this.#waiting.set(workspaceId, own);
    try {
      for (let next = own.shift(); next !== undefined; next = own.shift()) await run(next);
    } finally {
      this.#waiting.delete(workspaceId);
    }
  }
}

export async function runRerun(sql: Sql, pool: Pool, inputs: InputReader, rerunId: string, log: Log): Promise<void> {
  const rerun = await findRerun(sql, rerunId);
  if (!rerun) return;
  const { outcome: made, bytes } = await answer(pool, inputs, rerun);
  const { backtestId } = rerun;
  const outcome: RerunOutcome = made.ok
    ? made
    : { ok: false, error: maskInternalError(log, 'rerun', { rerunId, backtestId }, made.error) };
  await sql.begin(async (tx) => {
    await finishRerun(tx, rerunId, outcome, bytes);
    await notify(tx, 'changed', [rerunId]);
  });
}

interface Answer {
  readonly outcome: RerunOutcome;
  readonly bytes: Uint8Array | null;
}

async function answer(pool: Pool, inputs: InputReader, rerun: Rerun): Promise<Answer> {
  const { snapshots, runs } = await inputs.read([{ ...rerun, id: rerun.backtestId }]);
  const [run] = runs;
  if (!isPoolRun(run)) return refused(run);
  const { workspaceId: owner, tier } = rerun;
  const batch = { snapshots, runs: [{ ...run, owner, timeLimitMs: 1_000 * TIER_LIMITS[tier].runSeconds }] };
  const { request } = rerun;
  if (request.kind === 'artifact') {
    // Names and formats were checked by the route that asked.
    const { name, format } = request as { name: ArtifactName; format: ArtifactFormat };
    const { heading, summary, detail, trades } = rerun;
    const { engineVersion, resultHash: storedHash } = decodeDetail(detail).reproducibility;
    const stored = { engineVersion, resultHash: storedHash, summary, detail, trades };
    const built = await pool.build(batch, { name, format, heading, stored });
    if (!built.ok) return refused(built.error);
    const { resultHash, notice } = built;
    return { outcome: { ok: true, resultHash, notice, reproducibility: null }, bytes: built.bytes };
  }
  const [outcome] = await pool.run(batch).outcomes;
  if (outcome.kind === 'failed') return refused(outcome.error);
  if (outcome.kind === 'stopped')
    return refused({ code: 'RESOURCE_LIMIT', path: '', message: `The rerun was stopped (${outcome.reason}).` });
  const { reproducibility } = decodeDetail(outcome.result.detail);
  return { outcome: { ok: true, resultHash: reproducibility.resultHash, notice: null, reproducibility }, bytes: null };
}

const refused = (error: RunError): Answer => ({ outcome: { ok: false, error }, bytes: null });
