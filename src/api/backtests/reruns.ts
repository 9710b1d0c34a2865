// Reruns for routes: a rerun that is still kept is reused; otherwise a worker runs the pinned inputs again.
import type { FastifyReply } from 'fastify';
import type { Sql } from '../../db/connect.ts';
import {
  countOpenReruns,
  findKeptRerun,
  insertRerun,
  readRerunOutcome,
  type RerunOutcome,
  type RerunRequest,
} from '../../db/reruns.ts';
import type { Caller } from '../http/auth/authentication.ts';
import type { PublicAddress } from '../http/links.ts';
import { clientGone, waitFor } from '../http/waiting.ts';
import type { App } from '../services.ts';
import { queueFull } from './queueing.ts';

export interface Rerunning {
  readonly app: App;
  readonly sql: Sql;
  readonly config: PublicAddress;
}

/** A rerun takes about as long as the run did; clients give up on requests after about a minute. */
const RERUN_MS = 55_000;

/**
 * The rerun that makes a file, begun now unless it has been made or is being made.
 * @param failedSeconds a rerun that failed so recently is not begun again
 * @throws QUEUE_FULL
 */
export async function keptRerun(
  sql: Sql,
  caller: Caller,
  backtestId: string,
  wanted: RerunRequest,
  failedSeconds = 0,
): Promise<string> {
  const kept = await findKeptRerun(sql, backtestId, wanted, failedSeconds);
  if (kept !== undefined) return kept;
  await requireRoom(sql, caller);
  return startRerun(sql, backtestId, wanted);
}

export const startRerun = (sql: Sql, backtestId: string, request: RerunRequest): Promise<string> =>
  sql.begin((tx) => insertRerun(tx, backtestId, request));

/** Waits for a rerun. @returns undefined when it has not ended in time */
export function awaitRerun(
  { app, sql }: Rerunning,
  id: string,
  reply: FastifyReply,
  timeoutMs = RERUN_MS,
): Promise<RerunOutcome | undefined> {
  const signals = [app.drainSignal, clientGone(reply)];
  return waitFor(
    { request: reply.request, notifications: app.notifications, id, timeoutMs, signals },
    async () => (await readRerunOutcome(sql, id)) ?? undefined,
  );
}

/** The most artifacts of one workspace that may wait at a time; they are made one after the other. */
const MAX_OPEN_RERUNS = 64;

/** @throws QUEUE_FULL */
async function requireRoom(sql: Sql, caller: Caller): Promise<void> {
  const open = await countOpenReruns(sql, caller.workspaceId);
  if (open < MAX_OPEN_RERUNS) return;
  const message =
    `${open} artifacts of the workspace are being made, and at most ${MAX_OPEN_RERUNS} may be at a time. ` +
    'Ask again when some are done.';
  throw queueFull('openArtifacts', MAX_OPEN_RERUNS, open, message);
}
