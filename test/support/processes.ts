// The processes of this machine, by what they were started with.
import { readdirSync, readFileSync } from 'node:fs';
import { isAlive, processStamp } from '../../src/db/processes.ts';

/** Command lines of living processes in which `text` occurs, in their arguments or their environment. */
export function commandLinesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ words: read(pid, 'cmdline'), environment: read(pid, 'environ') }))
    .filter(({ words, environment }) => words !== '' && (words + environment).includes(text))
    .map(({ words }) => words.replaceAll('\0', ' '));
}

/**
 * Living children of a process that were started as `main.ts <command>`, the oldest first. Pids do not tell which one
 * is older: after the greatest one they begin again.
 */
export const childrenOf = (parent: number, command: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => Number(read(pid, 'stat').split(') ')[1]?.split(' ')[1]) === parent)
    .filter((pid) => read(pid, 'cmdline').includes(`main.ts\0${command}`))
    .map((pid) => ({ pid: Number(pid), startTicks: Number(processStamp(Number(pid)).split(':')[1]) }))
    .filter(({ pid }) => isAlive(pid))
    .toSorted((a, b) => a.startTicks - b.startTicks)
    .map(({ pid }) => pid);

/** Memory that a process takes now; 0 for one that has ended. */
export const residentBytesOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(read(String(pid), 'status'))?.[1] ?? 0) * 1024;

/** A text about a process; empty for one that has ended or belongs to another user. */
function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
