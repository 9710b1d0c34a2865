// Idempotency: a POST sent twice under one Idempotency-Key does its work once and is answered the same twice.
import pLimit, { type LimitFunction } from 'p-limit';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sql, Transaction } from '../../db/connect.ts';
import {
  deleteOldAnswers,
  findAnswer,
  keepAnswer,
  lockAnswerKey,
  requestKeyOf,
  type AnswerKey,
  type KeptAnswer,
} from '../../db/idempotencyKeys.ts';
import { linkTo } from './links.ts';
import { requireRoomForAnswer } from './storageQuota.ts';
import { problem, ProblemError, problemBody, PROBLEM_MEDIA_TYPE } from './problems.ts';
import type { App, Services } from '../services.ts';

const MAX_KEY_LENGTH = 255;
/** Failures that say something lasting about the request; the others may turn out differently next time. */
const KEPT_FAILURES: ReadonlySet<number> = new Set([404, 409, 422]);

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for a route whose query says what to do with the body: another query is another request. */
    readonly isQueryPartOfBody?: boolean;
  }
}

type AnswerServices = Pick<Services, 'sql' | 'config'>;

interface Answer<Body> {
  readonly status: 200 | 201;
  readonly body: Body;
  /** The path of what was made. */
  readonly location?: string;
}

/**
 * Connections of the pool that writes leave free. Work in a transaction may ask for one more (the catalog does); if
 * every connection were held by such a transaction, they would wait for each other forever.
 */
const CONNECTIONS_LEFT_FREE = 3;
const limits = new WeakMap<Sql, LimitFunction>();
function limitOf(sql: Sql): LimitFunction {
  let limit = limits.get(sql);
  if (limit === undefined) limits.set(sql, (limit = pLimit(Math.max(1, sql.options.max - CONNECTIONS_LEFT_FREE))));
  return limit;
}

/**
 * Runs `work` in one transaction and sends its answer. With an Idempotency-Key the answer is kept in that same
 * transaction, so work and answer are stored together or not at all, even when the process dies in between. What a
 * failing `work` wrote is undone. `work` passes the key it is given to what inserts rows.
 * @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, VALIDATION_FAILED for a key that is too long, and what
 * `work` throws.
 */
export async function answerOnce<Body>(
  services: AnswerServices,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Transaction, requestKey: Buffer | null) => Promise<Answer<Body>>,
): Promise<Body> {
  const key = keyOf(request);
  if (key === undefined) {
    const begun = async (tx: Transaction): Promise<Answer<Body>> => {
      const done = await work(tx, null);
      request.server.beforeCommit?.(request);
      return done;
    };
    const answer = await limitOf(services.sql)(() => services.sql.begin(begun));
    const { status, location = null, body } = answer;
    return sendAnswer(services, reply, { status, location, body }) as Body;
  }
  const sent = createHash('sha256').update(request.rawBody ?? Buffer.alloc(0));
  if (request.routeOptions.config.isQueryPartOfBody === true) sent.update(request.url.split('?', 2)[1] ?? '');
  const bodySha256 = sent.digest();
  const once = async (tx: Transaction): Promise<KeptAnswer & { readonly replayed: boolean }> => {
    if (!(await lockAnswerKey(tx, key))) throw stillRunning();
    const kept = await findAnswer(tx, key);
    if (kept) {
      if (!kept.bodySha256.equals(bodySha256)) throw problem('IDEMPOTENCY_KEY_REUSED');
      return { ...kept, replayed: true };
    }
    await requireRoomForAnswer(tx, request.caller);
    const made = await tx
      .savepoint((nested) => work(nested, requestKeyOf(key)))
      .then(
        (done): KeptAnswer => ({ status: done.status, location: done.location ?? null, body: done.body }),
        (error: unknown) => failedAnswer(error, request),
      );
    await keepAnswer(tx, key, bodySha256, made);
    request.server.beforeCommit?.(request);
    return { ...made, replayed: false };
  };
  const answer = await limitOf(services.sql)(() => services.sql.begin(once));
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  return sendAnswer(services, reply, answer) as Body;
}

/**
 * The same for work that takes longer than a transaction may hold a connection, answered with 200: it is done first,
 * and its answer kept afterwards. A repeated request does it again and still gets the first answer, so it must be
 * harmless to do twice.
 */
export async function answerAfter<Body>(
  services: AnswerServices,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Body>,
): Promise<Body> {
  const [done] = await Promise.allSettled([work()]);
  return answerOnce(services, request, reply, async () => {
    if (done.status === 'rejected') throw done.reason;
    return { status: 200, body: done.value };
  });
}

/** The key is unique within its workspace, method and path. A request without a caller never gets here. */
function keyOf(request: FastifyRequest): AnswerKey | undefined {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return undefined;
  const key = String(given);
  if (key.length < 1 || key.length > MAX_KEY_LENGTH)
    throw problem('VALIDATION_FAILED', { message: `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.` });
  const path = request.url.split('?', 1)[0].replace(/\/+$/, '');
  return { workspaceId: request.caller.workspaceId, method: request.method, path, key };
}

function failedAnswer(error: unknown, request: FastifyRequest): KeptAnswer {
  if (!(error instanceof ProblemError) || !KEPT_FAILURES.has(error.status)) throw error;
  return { status: error.status, location: null, body: problemBody(error, request.url.split('?', 1)[0], request.id) };
}

function sendAnswer({ config }: AnswerServices, reply: FastifyReply, { status, location, body }: KeptAnswer): unknown {
  reply.code(status);
  if (location !== null) reply.header('location', linkTo(config, location));
  if (status < 400) return body;
  return reply.type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(body));
}

const CLEAN_EVERY_MS = 3_600_000;

/** Forgets old answers while the app runs. */
export function forgetOldAnswers(app: App, services: Services): void {
  const clean = (): void =>
    void deleteOldAnswers(services.sql).catch((error: unknown) =>
      services.log.warn({ err: error }, 'old answers could not be deleted, trying again later'),
    );
  const timer = setInterval(clean, CLEAN_EVERY_MS).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

const stillRunning = () =>
  problem('IDEMPOTENCY_IN_PROGRESS', {
    message: 'A request with this Idempotency-Key is still running. Send the same request again for its answer.',
    retryAfterSeconds: 1,
  });
