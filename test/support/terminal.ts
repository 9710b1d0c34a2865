// The real command on a pseudo-terminal, as a person would run it: with a width, in color, and with Ctrl-C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cleanEnvironment } from './environment.ts';

export interface TerminalRun {
  /** Everything shown, with the terminal's control sequences; stdout and stderr together. */
  readonly screen: () => string;
  /** Types a key. */
  type(keys: string): void;
  /** Resolves with the exit code, as a shell would report it. */
  readonly ended: Promise<number | null>;
}

export const CTRL_C = '\u0003';

/** Runs `words` by way of script(1) of util-linux, an essential package of every Debian. */
export function startOnTerminal(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  columns = 100,
): TerminalRun {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows 40; exec ${quoted}`, '/dev/null'], {
    env: cleanEnvironment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
  });
  let screen = '';
  child.stdout.on('data', (chunk) => (screen += String(chunk)));
  child.stderr.on('data', (chunk) => (screen += String(chunk)));
  child.stdin.on('error', () => {});
  return {
    screen: () => screen,
    type: (keys) => void child.stdin.write(keys),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}
