// The command blocks of a document, run one after the other in one shell, as a reader would copy them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cleanEnvironment } from './environment.ts';

export interface ShellBlock {
  readonly commands: string;
  /** The text block that follows, with … for what may differ; null: the document does not say what is printed. */
  readonly printed: string | null;
}

/** The ```sh blocks of a Markdown text, each with the ```text block right after it. */
export function shellBlocks(markdown: string): ShellBlock[] {
  return [...markdown.matchAll(/```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?/gs)].map(([, commands, printed]) => ({
    commands,
    printed: printed ?? null,
  }));
}

const MARK = '--- end of block ---';

/** What each block prints to standard output. Throws with what was printed when a command fails. */
export async function runShell(
  blocks: readonly ShellBlock[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string[]> {
  const script = blocks.map(({ commands }) => `${commands}\necho '${MARK}'\n`).join('');
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: options.cwd,
    env: cleanEnvironment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let errors = '';
  shell.stdout.on('data', (chunk) => (printed += String(chunk)));
  shell.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(shell, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the shell ended with ${code}:\n${printed}\n${errors}`);
  return printed.split(`${MARK}\n`).slice(0, -1);
}

/** Words of a block as a pattern: a terminal shows a table where a pipe gets tabs, and … stands for anything. */
export function printedPattern(text: string): RegExp {
  const escaped = text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('…', '.*'));
  return new RegExp(`^\\s*${escaped.join('\\s+')}\\s*$`, 's');
}
