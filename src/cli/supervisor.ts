// The supervisor: keeps one child process of this program running, and starts it again when it dies.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../config.ts';
import type { Log } from '../log.ts';

/** The first restart is at once in human terms; a child that dies at its start must not take the machine with it. */
const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 10_000;
/** A child that has lived so long died of something new: the backoff begins afresh. */
const HEALTHY_AFTER_MS = 30_000;
/** The child itself takes at most eight seconds to finish or give back what runs. */
const STOP_WITHIN_MS = 8_500;

export type Supervised = AsyncDisposable & {
  /** Of the child that runs at the moment. */
  readonly pid: number | undefined;
  readonly restarts: number;
};

/**
 * Starts `main.ts <args>` under supervision. The child ends when this process does, even by kill -9: it watches the
 * channel between us. Its output goes to stderr, because stdout belongs to what this command answers.
 */
export function supervise(args: readonly string[], env: NodeJS.ProcessEnv, log: Log): Supervised {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let restarts = 0;
  const keepRunning = async (): Promise<void> => {
    for (let backoffMs = BACKOFF_MIN_MS; ;) {
      const startedAt = Date.now();
      child = startChild(args, env);
      log.info({ childPid: child.pid, args }, 'child process started');
      const end = await endOf(child);
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > HEALTHY_AFTER_MS) backoffMs = BACKOFF_MIN_MS;
      log.error({ ...end, args, restartInMs: backoffMs }, 'child process died');
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
    // Ctrl-C in a terminal reaches this process alone, which then stops the child in its turn.
    detached: true,
  });
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { code, signal };
  } catch {
    // It could not be spawned at all (no memory, no processes left): the same as dying at once.
    return { code: null, signal: null };
  }
}
