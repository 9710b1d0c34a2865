// The supervisor: keeps one child process of this program running and restarts it when it dies.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../config.ts';
import type { Log } from '../log.ts';

/**
 * A child that has worked is started again at once. One that keeps dying at its start must not keep the machine busy.
 */
const BACKOFF_MIN_MS = 10;
const BACKOFF_MAX_MS = 10_000;
/** A child that ran this long has worked: it died of a new cause, so the backoff starts over. */
const HEALTHY_AFTER_MS = 5_000;
/** The child takes at most eight seconds to finish its runs or return them to the queue. */
const STOP_WITHIN_MS = 8_500;

export type Supervised = AsyncDisposable & {
  /** The process id of the current child. */
  readonly pid: number | undefined;
  readonly restarts: number;
};

export interface Listeners {
  /** What a child sends over the channel between the processes. */
  readonly onMessage?: (message: unknown) => void;
  /** A child has ended that was not asked to; another follows unless the supervisor is disposed of. */
  readonly onDeath?: () => void;
}

/**
 * Starts `main.ts <args>`, the arguments asked for at each start, under supervision. The child ends when this process
 * does, even by kill -9: it watches the channel between them. Its output goes to stderr, because stdout is reserved for
 * the command's answer.
 */
export function supervise(
  argumentsOf: () => readonly string[],
  env: NodeJS.ProcessEnv,
  log: Log,
  { onMessage = () => {}, onDeath = () => {} }: Listeners = {},
): Supervised {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let restarts = 0;
  const keepRunning = async (): Promise<void> => {
    for (let backoffMs = BACKOFF_MIN_MS; ;) {
      const startedAt = Date.now();
      const args = argumentsOf();
      child = startChild(args, env);
      child.on('message', onMessage);
      log.info({ childPid: child.pid, args }, 'child process started');
      const end = await endOf(child);
      if (stopping.signal.aborted) return;
      onDeath();
      if (Date.now() - startedAt > HEALTHY_AFTER_MS) backoffMs = BACKOFF_MIN_MS;
      log.error({ ...end, childPid: child.pid, args, restartInMs: backoffMs }, 'child process died');
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      restarts++;
    }
  };
  const running = keepRunning();
  return {
    get pid() {
      return child?.pid;
    },
    get restarts() {
      return restarts;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      child?.kill('SIGTERM');
      const timer = setTimeout(() => child?.kill('SIGKILL'), STOP_WITHIN_MS);
      await running;
      clearTimeout(timer);
    },
  };
}

function startChild(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'src', 'main.ts'), ...args], {
    env,
    stdio: ['ignore', 2, 2, 'ipc'],
    // Ctrl-C in a terminal reaches only this process, which then stops the child.
    detached: true,
  });
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { code, signal };
  } catch {
    // It could not be spawned at all (no memory, no processes left), which counts as dying at once.
    return { code: null, signal: null };
  }
}
