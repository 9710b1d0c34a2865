// The processes of this machine, by what they were started with.
import { readdirSync, readFileSync } from 'node:fs';

/** Command lines of living processes in which `text` occurs, in their arguments or their environment. */
export function commandLinesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ words: read(pid, 'cmdline'), environment: read(pid, 'environ') }))
    .filter(({ words, environment }) => words !== '' && (words + environment).includes(text))
    .map(({ words }) => words.replaceAll('\0', ' '));
}

/** Children of a process that were started as `main.ts <command>`. */
export const childrenOf = (parent: number, command: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => Number(read(pid, 'stat').split(') ')[1]?.split(' ')[1]) === parent)
    .filter((pid) => read(pid, 'cmdline').includes(`main.ts\0${command}`))
    .map(Number);

/** A text about a process; empty for one that has ended or belongs to another user. */
function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
