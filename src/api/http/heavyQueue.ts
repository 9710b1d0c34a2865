// The queue of heavy requests: a thread of its own answers them, in fair turns among workspaces. A thread that stops
// answering is ended and replaced, and only the request that it was working on fails.
import { Worker, type ResourceLimits } from 'node:worker_threads';
import { urlOf } from '../../db/connect.ts';
import { closeGate, closeGatesAtExit, createGate } from '../../engine/index.ts';
import type { Services } from '../services.ts';
import type {
  FromThread,
  HeavyAnswer,
  HeavyRequest,
  HeavyThreadData,
  NewHeavyRequest,
  ToThread,
} from './heavyMessages.ts';
import {
  MAX_WAITING,
  nobodyWaits,
  perhapsStored,
  REFUSED_FOR_MS,
  stillRefused,
  stoppedRequest,
  stopping,
  tooManyWaiting,
} from './heavyProblems.ts';
import { silentSeconds, ThreadWatch, TICK_MS } from './threadWatch.ts';

/**
 * Requests in the thread at the same time, each of another workspace: while one waits for Postgres, another computes.
 */
const MAX_ACTIVE = 4;
const RESTART_AFTER_MS = 500;

/** A request that has been asked for and not been answered. */
interface Asked {
  readonly workspaceId: string;
  readonly request: Omit<HeavyRequest, 'id'>;
  readonly resolve: (answer: HeavyAnswer) => void;
  readonly reject: (error: Error) => void;
  /** It was in a thread that stopped answering, and may be why. */
  isSuspect: boolean;
  isCommitting: boolean;
}

export interface HeavyState {
  /** False while the thread is silent or being replaced. */
  readonly isAnswering: boolean;
  readonly waiting: number;
  readonly active: number;
  readonly replacements: number;
  /** Of the last thread that stopped answering. */
  readonly lastReplacedAt: Date | null;
}

export interface HeavyRequests extends AsyncDisposable {
  /**
   * @param gone aborts when nobody waits for the answer: a request that has not begun is dropped, one that has is told
   * to stop
   */
  answer(workspaceId: string, request: NewHeavyRequest, gone: AbortSignal): Promise<HeavyAnswer>;
  state(): HeavyState;
}

const THREAD = new URL('../heavyThread.ts', import.meta.url);

/** For tests: the module of the thread, and how often it is looked at, from which the limit of its silence follows. */
export interface HeavyThreadOptions {
  readonly module?: URL;
  readonly tickMs?: number;
  /** Of the thread; absent: as much as V8 gives it. */
  readonly heapMegabytes?: number;
}

/** Takes turns among workspaces: each has one request in the thread at a time, and the longest-waiting one is next. */
export class HeavyQueue implements HeavyRequests {
  readonly #data: Omit<HeavyThreadData, 'gate'>;
  /** Of the thread; each thread has its own. */
  #gate = createGate();
  readonly #atExit = closeGatesAtExit(() => [this.#gate]);
  readonly #log: Services['log'];
  readonly #module: URL;
  readonly #tickMs: number;
  readonly #limits: ResourceLimits | undefined;
  /** Requests that wait, by workspace; the workspace whose turn is next comes first. */
  readonly #queues = new Map<string, Asked[]>();
  /** Requests that are repeated one at a time, so that the one that stops a thread is known. */
  readonly #suspects: Asked[] = [];
  /** Requests in the thread, by id. */
  readonly #active = new Map<number, Asked>();
  readonly #busy = new Set<string>();
  /** Workspaces whose request has stopped a thread, and until when they are refused. */
  readonly #refusedUntil = new Map<string, number>();
  #waiting = 0;
  #lastId = 0;
  #thread: Worker | undefined;
  #watch: ThreadWatch | undefined;
  #isReady = false;
  #isClosing = false;
  #replacements = 0;
  #lastReplacedAt: Date | null = null;

  constructor(
    { sql, config, log }: Pick<Services, 'sql' | 'config' | 'log'>,
    begun: Promise<unknown>,
    { module = THREAD, tickMs = TICK_MS, heapMegabytes }: HeavyThreadOptions,
  ) {
    this.#data = { config, databaseUrl: urlOf(sql) };
    this.#log = log;
    this.#module = module;
    this.#tickMs = tickMs;
    this.#limits = heapMegabytes === undefined ? undefined : { maxOldGenerationSizeMb: heapMegabytes };
    // A process that never begins needs no thread.
    void begun.then(
      () => this.#open(),
      () => {},
    );
  }

  answer(workspaceId: string, given: NewHeavyRequest, gone: AbortSignal): Promise<HeavyAnswer> {
    const refusedFor = (this.#refusedUntil.get(workspaceId) ?? 0) - performance.now();
    if (refusedFor > 0) throw stillRefused(Math.ceil(refusedFor / 1_000));
    this.#refusedUntil.delete(workspaceId);
    const queue = this.#queues.get(workspaceId) ?? [];
    if (this.#waiting >= MAX_WAITING && queue.length > 0) throw tooManyWaiting();
    const { promise, resolve, reject } = Promise.withResolvers<HeavyAnswer>();
    const request = { ...given, stop: new Int32Array(new SharedArrayBuffer(4)) };
    const asked: Asked = { workspaceId, request, resolve, reject, isSuspect: false, isCommitting: false };
    queue.push(asked);
    this.#waiting++;
    this.#queues.set(workspaceId, queue);
    gone.addEventListener('abort', () => this.#drop(asked), { once: true });
    this.#startNext();
    return promise;
  }

  state(): HeavyState {
    return {
      isAnswering: (this.#isReady || this.#replacements === 0) && (this.#watch?.isAnswering ?? true),
      waiting: this.#waiting + this.#suspects.length,
      active: this.#active.size,
      replacements: this.#replacements,
      lastReplacedAt: this.#lastReplacedAt,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    using _ = this.#atExit;
    const thread = this.#thread;
    if (thread === undefined) return;
    // A thread that is still loading, which takes long on a busy machine, has nothing to finish.
    if (!this.#isReady && this.#waiting + this.#suspects.length === 0) {
      await closeGate(this.#gate);
      return void (await thread.terminate());
    }
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.ref();
    thread.postMessage('close' satisfies ToThread);
    await ended;
  }

  #open(): void {
    if (this.#isClosing) {
      for (const each of [...this.#suspects, ...[...this.#queues.values()].flat()]) each.reject(stopping());
      return;
    }
    this.#gate = createGate();
    const workerData: HeavyThreadData = { ...this.#data, gate: this.#gate };
    const thread = new Worker(this.#module, {
      workerData,
      name: 'heavy requests',
      ...(this.#limits && { resourceLimits: this.#limits }),
    });
    const watch = new ThreadWatch({
      thread,
      isBusy: () => this.#isReady && this.#active.size > 0,
      ping: () => thread.postMessage('ping' satisfies ToThread),
      onSilent: (seconds) => this.#replace(thread, seconds),
      tickMs: this.#tickMs,
    });
    this.#thread = thread;
    this.#watch = watch;
    thread.on('message', (message: FromThread) => {
      // A thread that has been given up may still have sent something.
      if (this.#thread !== thread) return;
      watch.heard();
      this.#take(message);
      this.#startNext();
    });
    thread.on('error', (error) => {
      this.#log.error({ err: error }, 'the thread of heavy requests failed');
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') this.#refuseActive();
    });
    thread.on('exit', () => {
      watch.stop();
      if (this.#thread !== thread) return;
      this.#isReady = false;
      this.#thread = undefined;
      for (const id of this.#active.keys()) this.#end(id)?.reject(stopping());
      if (!this.#isClosing) setTimeout(() => this.#open(), RESTART_AFTER_MS).unref();
    });
    thread.unref();
  }

  #take(message: FromThread): void {
    if (message === 'ready') this.#isReady = true;
    else if (message === 'pong') return;
    else if ('committing' in message) {
      const asked = this.#active.get(message.committing);
      if (asked !== undefined) asked.isCommitting = true;
    } else this.#end(message.id)?.resolve(message);
  }

  #startNext(): void {
    if (!this.#isReady || this.#thread === undefined) return;
    // A suspect is alone in the thread.
    const [suspect] = this.#suspects;
    if (suspect !== undefined) {
      if (this.#active.size === 0) this.#start(this.#suspects.shift()!);
      return;
    }
    for (const each of this.#active.values()) if (each.isSuspect) return;
    for (const [workspaceId, queue] of this.#queues) {
      if (this.#active.size >= MAX_ACTIVE) return;
      if (this.#busy.has(workspaceId)) continue;
      const next = queue.shift()!;
      this.#waiting--;
      // The workspace goes to the end of the line.
      this.#queues.delete(workspaceId);
      if (queue.length > 0) this.#queues.set(workspaceId, queue);
      this.#start(next);
    }
  }

  #start(asked: Asked): void {
    const id = ++this.#lastId;
    this.#active.set(id, asked);
    this.#busy.add(asked.workspaceId);
    // A body from the pool of small buffers shares its memory with others: it is copied, not moved.
    this.#thread!.postMessage({ ...asked.request, id } satisfies HeavyRequest);
  }

  /** Removes a request that has ended from the active ones; undefined: it is not among them. */
  #end(id: number): Asked | undefined {
    const ended = this.#active.get(id);
    this.#active.delete(id);
    if (ended !== undefined) this.#busy.delete(ended.workspaceId);
    return ended;
  }

  /** Each request of a thread that ran out of memory may be why. */
  #refuseActive(): void {
    for (const id of this.#active.keys()) {
      const ended = this.#end(id)!;
      this.#refusedUntil.set(ended.workspaceId, performance.now() + REFUSED_FOR_MS);
      ended.reject(stoppedRequest(ended.isCommitting, silentSeconds(this.#tickMs)));
    }
  }

  /** Nobody waits for the answer any more. */
  #drop(asked: Asked): void {
    Atomics.store(asked.request.stop, 0, 1);
    const queue = this.#queues.get(asked.workspaceId) ?? [];
    if (remove(queue, asked)) {
      this.#waiting--;
      if (queue.length === 0) this.#queues.delete(asked.workspaceId);
    } else if (!remove(this.#suspects, asked)) return;
    asked.reject(nobodyWaits());
  }

  /**
   * Ends a thread that does not answer. Alone in it, a request is the cause and fails. Of several, each that cannot
   * have stored anything is repeated alone in the new thread: the cause stops that one, too, and is then known.
   */
  #replace(thread: Worker, seconds: number): void {
    if (this.#thread !== thread) return;
    this.#isReady = false;
    this.#replacements++;
    this.#lastReplacedAt = new Date();
    const stuck = [...this.#active.keys()].map((id) => this.#end(id)!);
    const requests = stuck.map(({ workspaceId, request }) => ({
      requestId: request.headers['x-request-id'],
      method: request.method,
      route: request.route,
      workspaceId,
      bytes: request.body.byteLength,
    }));
    const what = stuck.length === 1 ? 'its request is stopped' : 'each of its requests is repeated alone';
    this.#log.error(
      { silentSeconds: seconds, requests },
      `the thread of heavy requests does not answer and is replaced; ${what}`,
    );
    const [only] = stuck;
    if (stuck.length === 1) {
      this.#refusedUntil.set(only.workspaceId, performance.now() + REFUSED_FOR_MS);
      only.reject(stoppedRequest(only.isCommitting, silentSeconds(this.#tickMs)));
    } else
      for (const each of stuck) {
        each.isSuspect = true;
        if (each.isCommitting) each.reject(perhapsStored());
        else this.#suspects.push(each);
      }
    void closeGate(this.#gate).then(() => thread.terminate());
    // Not after its end: a thread in native code ends only when that returns.
    this.#thread = undefined;
    this.#open();
  }
}

/** @returns whether it was there */
function remove<Each>(list: Each[], each: Each): boolean {
  const at = list.indexOf(each);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}
