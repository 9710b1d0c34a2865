// Heavy requests: those whose body is large, or whose workspace has used its share of the event loop, are answered by a
// second thread, in fair turns among workspaces. This thread stays free for everybody's small requests.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../services.ts';
import { askerOf, LARGE_BODY_BYTES } from './bodyLimits.ts';
import type { HeavyRequests } from './heavyQueue.ts';
import { loopShare } from './loopShare.ts';
import { problem } from './problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for a route that takes long whatever the size of the body. */
    readonly isHeavy?: boolean;
    /** Set for a route that may compute for many seconds: it has a thread of its own, beside that of heavy requests. */
    readonly isLong?: boolean;
  }
  interface FastifyInstance {
    /** Null where requests are answered in place: in the thread of heavy requests itself, and in tests. */
    readonly heavyRequests: HeavyRequests | null;
    /** In the thread of heavy requests: told of each request before what it stores is committed. Elsewhere null. */
    readonly beforeCommit: ((request: FastifyRequest) => void) | null;
  }
  interface FastifyRequest {
    /** Set when its body was not parsed, because the other thread answers it. */
    isHeavy: boolean;
    /** In the thread of heavy requests: not 0 once nobody waits for the answer (heavyQueue.ts). Elsewhere null. */
    stopFlag: Int32Array | null;
  }
}

/** The headers of a request that handlers read; the others are not sent. */
const FORWARDED = ['content-type', 'idempotency-key', 'if-none-match', 'accept', 'host'] as const;

/**
 * Must be called before the routes are registered. `heavyRequests` null: everything is answered in place.
 * @param beforeCommit null but in the thread of heavy requests
 */
export function forwardHeavyRequests(
  app: App,
  heavyRequests: HeavyRequests | null,
  beforeCommit: ((request: FastifyRequest) => void) | null = null,
): void {
  app.decorate('heavyRequests', heavyRequests);
  app.decorate('beforeCommit', beforeCommit);
  app.decorateRequest('isHeavy', false);
  app.decorateRequest('stopFlag', null);
  if (heavyRequests === null) return;
  app.addHook('onClose', () => heavyRequests[Symbol.asyncDispose]());
  app.addHook('preValidation', async (request, reply) => {
    const isHeavyRead = request.method === 'GET' && request.routeOptions.config.isHeavy === true;
    if (!request.isHeavy && !isHeavyRead) return undefined;
    return forward(heavyRequests, request, reply);
  });
}

/** Whether the body, not yet parsed, is left to the other thread. */
export function isHeavy(request: FastifyRequest, bytes: number): boolean {
  if (!request.server.heavyRequests) return false;
  const asker = askerOf(request);
  if (asker === null || request.routeOptions.url === '/mcp') return false;
  return (
    bytes > LARGE_BODY_BYTES || request.routeOptions.config.isHeavy === true || loopShare.isSpent(asker.workspaceId)
  );
}

async function forward(heavyRequests: HeavyRequests, request: FastifyRequest, reply: FastifyReply) {
  const headers: Record<string, string> = { 'x-request-id': request.id };
  for (const name of FORWARDED) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  const heavy = {
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    url: request.url,
    headers,
    caller: request.caller,
    member: request.member,
    body: request.rawBody ?? new Uint8Array(),
    isLong: request.routeOptions.config.isLong === true,
  };
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const answer = await heavyRequests.answer(askerOf(request)!.workspaceId, heavy, gone.signal);
  const { status, headers: answered, body } = answer;
  return reply
    .code(status)
    .headers(answered)
    .send(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

/**
 * For work in many steps, between them.
 * @throws UNAVAILABLE when nobody waits for the answer any more
 */
export function requireWaitingClient({ stopFlag }: Pick<FastifyRequest, 'stopFlag'>): void {
  if (stopFlag !== null && Atomics.load(stopFlag, 0) !== 0)
    throw problem('UNAVAILABLE', { message: 'The client has gone.' });
}
