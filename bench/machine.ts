// The machine: what a time depends on besides the code, printed before the first number.
import { execFileSync } from 'node:child_process';
import { arch, availableParallelism, cpus, freemem, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly freeGiB: number;
  readonly system: string;
  /** Runnable processes over the last minute, five and fifteen. */
  readonly load: readonly number[];
  readonly node: string;
  readonly v8: string;
  /** The commit that is measured, with `+` where files differ from it; null outside a repository. */
  readonly revision: string | null;
}

const GIB = 1024 ** 3;
const rounded = (value: number): number => Math.round(value * 100) / 100;

export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: rounded(totalmem() / GIB),
  freeGiB: rounded(freemem() / GIB),
  system: `${platform()} ${release()} ${arch()}`,
  load: loadavg().map(rounded),
  node: process.version,
  v8: process.versions.v8,
  revision: revisionOf(),
});

function revisionOf(): string | null {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: join(import.meta.dirname, '..'), encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    return (
      git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+')
    );
  } catch {
    return null;
  }
}

/** The machine in three lines, with a warning where its load will be in the numbers. */
export function machineLines({ cpu, cores, memoryGiB, freeGiB, system, load, node, v8, revision }: Machine): string {
  const lines = [
    `${cpu}, ${cores} cores, ${memoryGiB} GiB (${freeGiB} free), ${system}`,
    `node ${node}, V8 ${v8}, revision ${revision ?? 'unknown'}`,
    `load ${load.map((value) => value.toFixed(2)).join(' ')}`,
  ];
  if (load[0] > cores / 4)
    lines.push('warning: the machine is busy. Times will be too long; wait, or read only the ratios of bench:compare.');
  return lines.join('\n');
}
