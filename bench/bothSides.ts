// A suite of two checkouts, each in a process of its own, and its tasks in turn.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from './compareSide.ts';
import type { Round } from './comparison.ts';
import { FIXED_KERNEL } from './fixedKernel.ts';
import { measureInTurn, SINGLE_LOOP, USUAL, type Side } from './inTurn.ts';

/**
 * V8 compiles and collects garbage where it is asked to, and WebAssembly at once as well as it can. On threads of its
 * own it would do so later the busier the machine is.
 */
export const ONE_THREAD = ['--single-threaded', '--no-liftoff'];
/**
 * glibc keeps the memory that is freed. Otherwise it gives that of columns back to the system, or not, from process to
 * process, when one thread allocates and frees it: the fill loop over 20,000 bars then takes 10 ns per bar or 4.
 */
const KEPT_MEMORY = { MALLOC_TRIM_THRESHOLD_: '1073741824', MALLOC_MMAP_THRESHOLD_: '33554432' };

/** Suites whose tasks are single loops. */
const SINGLE_LOOPS: readonly string[] = ['indicators', 'patterns', 'conditions'];

/**
 * Measures the tasks that both checkouts have and `isWanted` names; none where one of them does not have the suite.
 * Ends early when `stopped`.
 *
 * @param args of the suite, like `--short`
 * @throws Error when a side cannot be run
 */
export async function* measureBoth(
  suite: string,
  roots: { readonly before: string; readonly after: string },
  args: readonly string[],
  isWanted: (task: string) => boolean,
  stopped: AbortSignal,
): AsyncGenerator<Round> {
  const both = [roots.before, roots.after];
  if (!both.every((root) => existsSync(join(root, 'bench', `${suite}.ts`)))) return;
  const ended = new AbortController();
  const signal = AbortSignal.any([stopped, ended.signal]);
  try {
    const [before, after] = await Promise.all(both.map((root) => startSide(root, suite, args, signal)));
    const tasks = before.tasks.filter((task) => after.tasks.includes(task) && isWanted(task));
    const effort = SINGLE_LOOPS.includes(suite) ? SINGLE_LOOP : USUAL;
    const fixed = await measureInTurn(FIXED_KERNEL, before, after, SINGLE_LOOP);
    for (const task of tasks) {
      const measured = await measureInTurn(task, before, after, effort);
      yield { task, ...measured, cost: measured.after / fixed.after };
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  } finally {
    ended.abort();
  }
}

/** @param signal ends the process */
async function startSide(root: string, suite: string, args: readonly string[], signal: AbortSignal): Promise<Side> {
  const child = fork(join(import.meta.dirname, 'compareSide.ts'), [root, suite, ...args], {
    cwd: root,
    env: { ...process.env, ...KEPT_MEMORY },
    execArgv: ONE_THREAD,
    killSignal: 'SIGKILL',
    signal,
    // Of what a suite prints, only its errors matter here.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const failed = Promise.withResolvers<never>();
  const fail = (cause?: Error): void => failed.reject(new Error(`The suite ${suite} failed in ${root}.`, { cause }));
  child.on('error', fail).on('exit', () => fail());
  failed.promise.catch(() => {});
  const answer = async <T>(): Promise<T> => ((await Promise.race([once(child, 'message'), failed.promise])) as [T])[0];
  return {
    tasks: await answer<string[]>(),
    run: (task, calls) => {
      child.send({ task, calls } satisfies Request);
      return answer<number>();
    },
  };
}
