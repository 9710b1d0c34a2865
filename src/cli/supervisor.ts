// The supervisor: keeps one child process of this program working. Another stands by, with everything loaded, and takes
// the place of one that dies: starting takes a process a second or more, taking over a tenth of that.
//
// A process that stands by is why this is neither node:cluster nor a process manager such as pm2. node:cluster starts
// processes and passes messages, which is the least of this file, and has one set of Node's flags for all of them;
// pm2 is a daemon of its own, which outlives the command.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../config.ts';
import type { Log } from '../log.ts';
import type { ToSupervised, ToSupervisor } from './supervised.ts';

/**
 * The first pause before a child is started again; it grows while children keep dying at their start, which must not
 * keep the machine busy.
 */
const BACKOFF_MIN_MS = 10;
const BACKOFF_MAX_MS = 10_000;
/**
 * A child that has run this long works: if it dies, the cause is new, and the backoff starts over. Only from then on
 * does another stand by, so that it does not take processor time from a start.
 */
const HEALTHY_AFTER_MS = 5_000;
/**
 * Another child starts to stand by when the worker has no work, but no later than this: starting takes a second of
 * processor time, and warming up several, by which a service that got its load at once ran half as many backtests.
 */
const STAND_BY_WITHIN_MS = 60_000;
/** The child takes at most eight seconds to finish its runs or return them to the queue. */
const STOP_WITHIN_MS = 8_500;

interface SuperviseOptions<Ready> {
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[];
  /** Called when a child works, with what it said about itself. */
  readonly onReady?: (ready: Ready) => void;
  /** Called when a child has died unasked; another follows unless the supervisor is disposed of. */
  readonly onDeath?: () => void;
  /** Shared by the supervisors of a service; processes that stand by start and warm up while nothing has work. */
  readonly load?: ServiceLoad;
}

/**
 * Starts `main.ts <args>` under supervision; src/cli/supervised.ts is the child's side. The child ends when this
 * process does, even by kill -9: it watches the channel between them. Its output goes to stderr, because stdout is
 * reserved for the command's answer.
 */
export const supervise = <Ready>(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  log: Log,
  options: SuperviseOptions<Ready> = {},
): AsyncDisposable => new Supervisor(args, env, log, options);

class Supervisor<Ready> implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Log;
  readonly #options: SuperviseOptions<Ready>;
  readonly #load: ServiceLoad;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #working: Child | undefined;
  #standBy: Child | undefined;
  /** What the last child that worked said about itself. */
  #predecessor: Ready | undefined;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, log: Log, options: SuperviseOptions<Ready>) {
    this.#args = args;
    this.#env = env;
    this.#log = log;
    this.#options = options;
    this.#load = options.load ?? new ServiceLoad();
    this.#running = this.#keepRunning();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    const children = [this.#working, this.#standBy].filter((child) => child !== undefined);
    const sendAll = (signal: NodeJS.Signals): void => children.forEach((child) => child.process?.kill(signal));
    sendAll('SIGTERM');
    const timer = setTimeout(() => sendAll('SIGKILL'), STOP_WITHIN_MS);
    await Promise.all([this.#running, ...children.map(({ end }) => end)]);
    clearTimeout(timer);
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping;
    for (let backoffMs = BACKOFF_MIN_MS; ;) {
      const child = this.#standBy ?? this.#start();
      this.#standBy = undefined;
      this.#working = child;
      const startedAt = Date.now();
      const end = await this.#work(child);
      if (signal.aborted) return;
      this.#options.onDeath?.();
      if (Date.now() - startedAt > HEALTHY_AFTER_MS) backoffMs = BACKOFF_MIN_MS;
      const restartInMs = this.#standBy === undefined ? backoffMs : 0;
      this.#noteDeath(child, end, restartInMs);
      if (restartInMs > 0) await sleep(restartInMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    }
  }

  /** Lets `child` work until it ends, while another stands by. */
  async #work(child: Child): Promise<ChildEnd> {
    send(child, { event: 'begin', predecessor: this.#predecessor });
    const ended = new AbortController();
    void this.#keepStandBy(child, ended.signal);
    const end = await child.end;
    ended.abort();
    this.#load.report(this, false);
    return end;
  }

  /** Has a process stand by for as long as `child` works. */
  async #keepStandBy(child: Child, ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#stopping.signal]);
    await child.ready;
    for (let pauseMs = HEALTHY_AFTER_MS; ; pauseMs = BACKOFF_MAX_MS) {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      await this.#load.waitUntilIdle(STAND_BY_WITHIN_MS, signal);
      if (signal.aborted) return;
      const waiting = this.#start('child process stands by');
      this.#standBy = waiting;
      const waitingEnded = new AbortController();
      this.#load.follow(
        (isBusy) => send(waiting, { event: 'load', isBusy }),
        AbortSignal.any([signal, waitingEnded.signal]),
      );
      const end = await waiting.end;
      waitingEnded.abort();
      if (this.#standBy !== waiting || this.#stopping.signal.aborted) return;
      this.#standBy = undefined;
      this.#noteDeath(waiting, end, BACKOFF_MAX_MS);
    }
  }

  #start(message = 'child process started'): Child {
    const child = startChild(this.#options.nodeFlags ?? [], this.#args, this.#env);
    if (child.process === null) return child;
    this.#log.info({ childPid: child.process.pid, args: this.#args }, message);
    child.process.on('message', (message) => {
      const said = message as ToSupervisor<Ready>;
      if (said.event === 'load') {
        this.#load.report(this, said.isBusy);
        return;
      }
      this.#predecessor = said.ready;
      this.#options.onReady?.(said.ready);
      child.becomeReady();
    });
    return child;
  }

  #noteDeath(child: Child, end: ChildEnd, restartInMs: number): void {
    const childPid = child.process?.pid;
    this.#log.error({ ...end, childPid, args: this.#args, restartInMs }, 'child process died');
  }
}

/** Whether the processes of a service have work: a process that stands by starts and warms up while they have none. */
export class ServiceLoad {
  readonly #changes = new EventEmitter<{ change: [isBusy: boolean] }>();
  readonly #busy = new Set<object>();

  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  /** `source` has work, or has none any more. */
  report(source: object, isBusy: boolean): void {
    const before = this.isBusy;
    if (isBusy) this.#busy.add(source);
    else this.#busy.delete(source);
    if (this.isBusy !== before) this.#changes.emit('change', this.isBusy);
  }

  /** Calls `listener` now and at every change, until `signal` aborts. */
  follow(listener: (isBusy: boolean) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    listener(this.isBusy);
    this.#changes.on('change', listener);
    signal.addEventListener('abort', () => this.#changes.off('change', listener), { once: true });
  }

  /** Resolves when nothing has work, or after `withinMs`, or when `signal` aborts. */
  async waitUntilIdle(withinMs: number, signal: AbortSignal): Promise<void> {
    if (!this.isBusy) return;
    const late = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    await once(this.#changes, 'change', { signal: late }).catch(() => {});
  }
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the child could not be started; absent: it was. */
  readonly err?: unknown;
}

interface Child {
  /** null: it could not be started. */
  readonly process: ChildProcess | null;
  /** Resolves when the child works; never if it dies before. */
  readonly ready: Promise<void>;
  readonly becomeReady: () => void;
  readonly end: Promise<ChildEnd>;
}

/**
 * A failure to send is ignored: the child has died then, and its end follows. One that could not be started may have no
 * channel.
 */
function send<Ready>({ process: child }: Child, message: ToSupervised<Ready>): void {
  if (child?.connected) child.send(message, () => {});
}

function startChild(nodeFlags: readonly string[], args: readonly string[], env: NodeJS.ProcessEnv): Child {
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  try {
    const spawned = spawnMain(args, env, nodeFlags);
    return { process: spawned, ready, becomeReady, end: endOf(spawned) };
  } catch (err) {
    return { process: null, ready, becomeReady, end: Promise.resolve({ code: null, signal: null, err }) };
  }
}

/**
 * Starts `main.ts <args>` with a channel between the processes.
 * @throws when there is no memory for it; other reasons why it cannot be started are an `error` event
 */
export function spawnMain(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  nodeFlags: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeFlags, join(ROOT, 'src', 'main.ts'), ...args], {
    env,
    stdio: ['ignore', 2, 2, 'ipc'],
    serialization: 'advanced',
    // Ctrl-C in a terminal reaches only this process, which then stops the child.
    detached: true,
  });
}

async function endOf(child: ChildProcess): Promise<ChildEnd> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { code, signal };
  } catch (err) {
    // A child that could not be started counts as one that died at once.
    return { code: null, signal: null, err };
  }
}
