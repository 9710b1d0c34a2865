// Daily equities: the equity of each compared run at the end of each day. Daily equity is not stored: a worker runs the
// pinned inputs again, the result is kept for an hour, and the request waits for it.
import type { FastifyReply } from 'fastify';
import { readRerunChunks, type RerunOutcome, type RerunRequest } from '../../db/reruns.ts';
import type { Sql } from '../../db/connect.ts';
import { DAILY_EQUITY, ENGINE_VERSION, readDailyTable, type DailyEquity } from '../../engine/index.ts';
import type { Caller } from '../http/auth/authentication.ts';
import type { ComparedRun } from './comparedRuns.ts';
import { awaitRerun, keptRerun, type Rerunning } from './reruns.ts';

const WANTED: RerunRequest = { kind: 'artifact', name: DAILY_EQUITY, format: 'csv', engine: ENGINE_VERSION };
/** A client that asks again learns of the failure once, in place of a rerun that fails again. */
const FAILED_SECONDS = 30;
/** The thread of heavy requests takes one request of a workspace at a time, and four in all. */
const MOST_SECONDS_IN_THREAD = 2;
/** Some 250 years of days. Bars of synthetic series may lie further apart. */
const MAX_BYTES = 4 << 20;

export type DailyEquities =
  | {
      readonly status: 'complete';
      readonly equities: readonly DailyEquity[];
      /** What differs in runs that another engine made. */
      readonly notices: readonly string[];
    }
  | { readonly status: 'pending'; readonly waitingFor: string[]; readonly message: string }
  | { readonly status: 'failed'; readonly message: string };

/**
 * Begins what is not kept.
 * @returns the reruns, in the order of the runs
 * @throws QUEUE_FULL
 */
export async function beginDailyEquities(sql: Sql, caller: Caller, runs: readonly ComparedRun[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { stored } of runs) ids.push(await keptRerun(sql, caller, stored.id, WANTED, FAILED_SECONDS));
  return ids;
}

/** Waits for the reruns and reads what they made. @param seconds the longest wait */
export async function dailyEquities(
  rerunning: Rerunning,
  reply: FastifyReply,
  runs: readonly ComparedRun[],
  rerunIds: readonly string[],
  seconds: number,
): Promise<DailyEquities> {
  const isInThread = reply.request.stopFlag !== null;
  const deadline = performance.now() + 1_000 * (isInThread ? Math.min(seconds, MOST_SECONDS_IN_THREAD) : seconds);
  const outcomes: (RerunOutcome | undefined)[] = [];
  for (const id of rerunIds)
    outcomes.push(await awaitRerun(rerunning, id, reply, Math.max(0, Math.ceil(deadline - performance.now()))));
  const failure = failureOf(runs, outcomes);
  if (failure !== null) return { status: 'failed', message: failure };
  const waitingFor = runs.filter((_, at) => outcomes[at] === undefined).map(({ stored }) => stored.id);
  if (waitingFor.length > 0) return { status: 'pending', waitingFor, message: pendingMessage(waitingFor.length) };
  const equities: DailyEquity[] = [];
  for (const [at, run] of runs.entries()) {
    const equity = await readEquity(rerunning.sql, run, rerunIds[at]);
    if (typeof equity === 'string') return { status: 'failed', message: equity };
    equities.push(equity);
  }
  const notices = outcomes.flatMap((outcome, at) =>
    outcome?.ok === true && outcome.notice !== null ? [`${runs[at].stored.id}: ${outcome.notice.message}`] : [],
  );
  return { status: 'complete', equities, notices };
}

function failureOf(runs: readonly ComparedRun[], outcomes: readonly (RerunOutcome | undefined)[]): string | null {
  const at = outcomes.findIndex((outcome) => outcome?.ok === false);
  const outcome = outcomes[at];
  if (outcome === undefined || outcome.ok) return null;
  return `The backtest ${runs[at].stored.id} could not be run again for its daily equity: ${outcome.error.message}`;
}

const pendingMessage = (count: number): string =>
  `The daily equity of ${count} ${count === 1 ? 'backtest is' : 'backtests are'} being made. ` +
  'Send the same request again; what has been made is kept for an hour.';

/** @returns why it cannot be used, in place of the equity */
async function readEquity(sql: Sql, run: ComparedRun, rerunId: string): Promise<DailyEquity | string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of readRerunChunks(sql, rerunId)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return `The backtest ${run.stored.id} has more days than can be compared.`;
  }
  const table = readDailyTable(Buffer.concat(chunks).toString());
  const { start, end } = run.window ?? { start: 0, end: 0 };
  return { ...table, start, end, initialBalance: run.config.initialBalance, periodsPerYear: run.periodsPerYear };
}
