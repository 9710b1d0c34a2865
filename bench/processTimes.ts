// Processor time of a tree of processes, read from /proc (Linux only).
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every platform we build for. */
const SECONDS_PER_TICK = 0.01;

export interface ProcessTime {
  readonly pid: number;
  /** With its arguments. */
  readonly command: string;
  readonly seconds: number;
  /** Of its first thread alone. */
  readonly mainSeconds: number;
  /** Of the others that have not ended, by their name. */
  readonly threadSeconds: ReadonlyMap<string, number>;
  /** Of its children that have ended. */
  readonly endedSeconds: number;
}

/** The process and everything below it. */
export function readProcessTimes(root: number): ProcessTime[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = statOf(`/proc/${pid}/stat`)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: ProcessTime[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    open.push(...(children.get(pid) ?? []));
    const stat = statOf(`/proc/${pid}/stat`);
    const main = statOf(`/proc/${pid}/task/${pid}/stat`);
    if (stat === undefined || main === undefined) continue;
    const command = (textOf(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
    found.push({
      pid,
      command,
      seconds: stat.seconds,
      mainSeconds: main.seconds,
      threadSeconds: threadSeconds(pid),
      endedSeconds: stat.endedSeconds,
    });
  }
  return found;
}

function threadSeconds(pid: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const thread of threadsOf(pid)) {
    if (thread === String(pid)) continue;
    const name = textOf(`/proc/${pid}/task/${thread}/comm`)?.trim();
    const stat = statOf(`/proc/${pid}/task/${thread}/stat`);
    if (name !== undefined && stat !== undefined) found.set(name, (found.get(name) ?? 0) + stat.seconds);
  }
  return found;
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** undefined: the process has ended. */
function statOf(path: string): { parent: number; seconds: number; endedSeconds: number } | undefined {
  const text = textOf(path);
  if (text === undefined) return undefined;
  // The name stands in parentheses and may itself hold spaces; the third field follows it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
  return {
    parent,
    seconds: (user + system) * SECONDS_PER_TICK,
    endedSeconds: (endedUser + endedSystem) * SECONDS_PER_TICK,
  };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
