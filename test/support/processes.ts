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

/** Empty for a process that has ended, or is somebody else's. */
function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
