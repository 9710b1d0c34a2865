// One revision's side of bench:compare, in a process of its own: loads a suite of its checkout, sends the names of the
// suite's tasks, and then answers each request to call a task so many times with the processor time that it took.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench } from 'tinybench';
import { FIXED_KERNEL, fixedKernel } from './fixedKernel.ts';

export interface Request {
  readonly task: string;
  readonly calls: number;
}

const [root, suite] = process.argv.slice(2);
const { found: tasks, names } = await loadTasks();
process.on('message', ({ task, calls }: Request) => {
  void run(tasks.get(task)!, calls).then((microseconds) => process.send!(microseconds));
});
process.on('disconnect', () => process.exit());
process.send!(names);

interface Task {
  run(): unknown;
  /** Makes what the task needs; it is done once. */
  prepare(): unknown;
}

/** tinybench keeps a task's function to itself, so it is caught where the suite adds it to a bench. */
async function loadTasks(): Promise<{ readonly found: ReadonlyMap<string, Task>; readonly names: readonly string[] }> {
  const found = new Map<string, Task>();
  const file = createRequire(join(root, 'package.json')).resolve('tinybench');
  const tinybench = (await import(pathToFileURL(file).href)) as { readonly Bench: typeof Bench };
  tinybench.Bench.prototype.add = function (name, run, options) {
    // Ours do not use `this`, which is a task of tinybench.
    const { beforeAll = () => {} }: { readonly beforeAll?: unknown } = options ?? {};
    found.set(name, { run, prepare: beforeAll as () => unknown });
    return this;
  };
  const module = (await import(pathToFileURL(join(root, 'bench', `${suite}.ts`)).href)) as { suite(): unknown };
  await module.suite();
  // It is that of this checkout on both sides; the suites that are compared do not have it.
  const names = [...found.keys()];
  found.set(FIXED_KERNEL, { run: fixedKernel, prepare: () => {} });
  return { found, names };
}

/** Microseconds of processor time, of all threads: what other processes do meanwhile does not count. */
async function run(task: Task, calls: number): Promise<number> {
  await task.prepare();
  const from = process.cpuUsage();
  for (let call = 0; call < calls; call++) {
    const result = task.run();
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(from);
  return user + system;
}
