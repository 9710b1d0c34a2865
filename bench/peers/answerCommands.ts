// Names the tasks of a process of ours, and then answers one command per line: `run CALLS NAME` with the microseconds
// of processor time that so many calls of a task took; `values NAME` once it has written what the task makes, which is
// compared before anything is timed.
import { createInterface } from 'node:readline';
import type { Offer } from './parts.ts';

export interface Task {
  run(): void;
  /** Writes what `run` made into files named by the task. */
  save(): void;
}

export async function answerCommands(offer: Offer, tasks: ReadonlyMap<string, Task>): Promise<void> {
  console.log(JSON.stringify(offer));
  for await (const command of createInterface({ input: process.stdin })) {
    const [, verb, calls, name] = /^(values|run (\d+)) (.*)$/.exec(command)!;
    const task = tasks.get(name)!;
    const from = process.cpuUsage();
    for (let call = 0; call < Number(calls ?? 1); call++) task.run();
    const { user, system } = process.cpuUsage(from);
    if (verb === 'values') task.save();
    console.log(user + system);
  }
}
