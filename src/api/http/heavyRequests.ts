// Heavy requests: those whose body is large, or whose workspace has used its share of the event loop, are answered by a
// second thread, in fair turns among workspaces. This thread stays free for everybody's small requests.
import { Worker } from 'node:worker_threads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { urlOf } from '../../db/connect.ts';
import type { Config } from '../../config.ts';
import type { Membership } from '../../db/members.ts';
import type { App, Services } from '../services.ts';
import type { Caller } from './auth/keyCheck.ts';
import { askerOf, LARGE_BODY_BYTES } from './bodyLimits.ts';
import { loopShare } from './loopShare.ts';
import { problem } from './problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for a route that takes long whatever the size of the body. */
    readonly isHeavy?: boolean;
  }
  interface FastifyInstance {
    /** Null where requests are answered in place: in the thread of heavy requests itself, and in tests. */
    readonly heavyRequests: HeavyRequests | null;
  }
  interface FastifyRequest {
    /** Set when its body was not parsed, because the other thread answers it. */
    isHeavy: boolean;
  }
}

/** The `workerData` of the thread. */
export interface HeavyThreadData {
  readonly config: Config;
  readonly databaseUrl: string;
}
/** A request as it is sent to the thread. Credentials stay here: the thread is told who the caller is. */
export interface HeavyRequest {
  readonly id: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly member: Membership | null;
  readonly body: Uint8Array;
}
export interface HeavyAnswer {
  readonly id: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
export type ToThread = HeavyRequest | 'close';
type FromThread = HeavyAnswer | 'ready';

/** The headers of a request that handlers read; the others are not sent. */
const FORWARDED = ['content-type', 'idempotency-key', 'if-none-match', 'accept', 'host'] as const;
/**
 * Requests in the thread at the same time, each of another workspace: while one waits for Postgres, another computes.
 */
const MAX_ACTIVE = 4;
/**
 * How many requests of all workspaces may wait; a workspace has at most those it may have in flight
 * (requestsInFlight.ts). Beyond this, each workspace may still have one, so that others cannot keep it out.
 */
const MAX_WAITING = 256;
const RESTART_AFTER_MS = 500;

interface Waiting {
  readonly request: Omit<HeavyRequest, 'id'>;
  readonly resolve: (answer: HeavyAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface HeavyRequests extends AsyncDisposable {
  answer(workspaceId: string, request: Omit<HeavyRequest, 'id'>): Promise<HeavyAnswer>;
}

/** @param begun resolves when the thread may start; requests that come before wait for it */
export const startHeavyRequests = (services: Services, begun: Promise<unknown> = Promise.resolve()): HeavyRequests =>
  new HeavyThread(services, begun);

/** Takes turns among workspaces: each has one request in the thread at a time, and the longest-waiting one is next. */
class HeavyThread implements HeavyRequests {
  readonly #data: HeavyThreadData;
  readonly #log: Services['log'];
  /** Requests that wait, by workspace; the workspace whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>();
  /** Requests in the thread, by id, and their workspaces. */
  readonly #active = new Map<number, Waiting & { readonly workspaceId: string }>();
  readonly #busy = new Set<string>();
  #waiting = 0;
  #lastId = 0;
  #thread: Worker | undefined;
  #isReady = false;
  #isClosing = false;

  constructor({ sql, config, log }: Services, begun: Promise<unknown>) {
    this.#data = { config, databaseUrl: urlOf(sql) };
    this.#log = log;
    // A process that never begins needs no thread.
    void begun.then(
      () => this.#open(),
      () => {},
    );
  }

  answer(workspaceId: string, request: Omit<HeavyRequest, 'id'>): Promise<HeavyAnswer> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(workspaceId) ?? [];
      if (this.#waiting >= MAX_WAITING && queue.length > 0) return reject(tooManyWaiting());
      queue.push({ request, resolve, reject });
      this.#waiting++;
      this.#queues.set(workspaceId, queue);
      this.#startNext();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    const thread = this.#thread;
    if (thread === undefined) return;
    // A thread that is still loading, which takes long on a busy machine, has nothing to finish.
    if (!this.#isReady && this.#waiting === 0) return void (await thread.terminate());
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.ref();
    thread.postMessage('close' satisfies ToThread);
    await ended;
  }

  #open(): void {
    if (this.#isClosing) return;
    const thread = new Worker(new URL('../heavyThread.ts', import.meta.url), {
      workerData: this.#data,
      name: 'heavy requests',
    });
    this.#thread = thread;
    thread.on('message', (message: FromThread) => {
      if (message === 'ready') this.#isReady = true;
      else this.#end(message.id)?.resolve(message);
      this.#startNext();
    });
    thread.on('error', (error) => this.#log.error({ err: error }, 'the thread of heavy requests failed'));
    thread.on('exit', () => {
      this.#isReady = false;
      this.#thread = undefined;
      for (const id of this.#active.keys()) this.#end(id)?.reject(stopping());
      if (!this.#isClosing) setTimeout(() => this.#open(), RESTART_AFTER_MS).unref();
    });
    thread.unref();
  }

  #startNext(): void {
    if (!this.#isReady || this.#thread === undefined) return;
    for (const [workspaceId, queue] of this.#queues) {
      if (this.#active.size >= MAX_ACTIVE) return;
      if (this.#busy.has(workspaceId)) continue;
      const next = queue.shift()!;
      this.#waiting--;
      // The workspace goes to the end of the line.
      this.#queues.delete(workspaceId);
      if (queue.length > 0) this.#queues.set(workspaceId, queue);
      const id = ++this.#lastId;
      this.#active.set(id, { ...next, workspaceId });
      this.#busy.add(workspaceId);
      // A body from the pool of small buffers shares its memory with others: it is copied, not moved.
      this.#thread.postMessage({ ...next.request, id } satisfies HeavyRequest);
    }
  }

  /** Removes a request that has ended from the active ones; undefined: it is not among them. */
  #end(id: number): Waiting | undefined {
    const ended = this.#active.get(id);
    this.#active.delete(id);
    if (ended !== undefined) this.#busy.delete(ended.workspaceId);
    return ended;
  }
}

const stopping = () =>
  problem('UNAVAILABLE', { message: 'The process is stopping. Send the same request again in a moment.' });

const tooManyWaiting = () =>
  problem('RATE_LIMITED', {
    message: 'Too many large requests are waiting, one of this workspace among them. Wait for its answer first.',
    extras: { limit: MAX_WAITING },
    retryAfterSeconds: 1,
  });

/** Must be called before the routes are registered. `heavyRequests` null: everything is answered in place. */
export function forwardHeavyRequests(app: App, heavyRequests: HeavyRequests | null): void {
  app.decorate('heavyRequests', heavyRequests);
  app.decorateRequest('isHeavy', false);
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
  const {
    status,
    headers: answered,
    body,
  } = await heavyRequests.answer(askerOf(request)!.workspaceId, {
    method: request.method,
    url: request.url,
    headers,
    caller: request.caller,
    member: request.member,
    body: request.rawBody ?? new Uint8Array(),
  });
  return reply
    .code(status)
    .headers(answered)
    .send(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}
