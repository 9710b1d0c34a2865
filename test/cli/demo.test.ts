// The demo as a newcomer runs it: one command, the whole main job, nothing left behind, whenever it is interrupted.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { runCommand, type CommandResult } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { commandLinesWith } from '../support/processes.ts';
import { CTRL_C, startOnTerminal, type TerminalRun } from '../support/terminal.ts';

/** The temporary directory of the test, in which the demo may leave nothing. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MAIN = join(ROOT, 'src', 'main.ts');
/** With one thread of its worker: loading each takes half a second, and what is tested does not need them. */
const startDemo = (): TerminalRun =>
  startOnTerminal([process.execPath, MAIN, 'demo'], { TMPDIR: folder, WORKER_THREADS: '1' });

function expectNothingLeft(): void {
  expect(readdirSync(folder)).toEqual([]);
  expect(commandLinesWith(folder)).toEqual([]);
}

/** For the message of a failure: when Node itself crashes, only the demo's whole output says why. */
const printed = ({ code, stdout, stderr }: CommandResult): string =>
  `The demo ended with code ${code}.\nstdout:\n${stdout}\nstderr:\n${stderr}\n`;

/**
 * Whether a path that contains `part` exists in the demo's folder. Folders that vanish while they are read do not
 * count.
 */
const hasFile = (part: string) => (): boolean => {
  try {
    return readdirSync(folder, { recursive: true }).some((path) => String(path).includes(part));
  } catch {
    return false;
  }
};

/** Presses Ctrl-C as soon as `moment` has come: the demo ends with a sentence and leaves nothing behind. */
async function interrupt(run: TerminalRun, moment: () => boolean): Promise<void> {
  await eventually(moment);
  run.type(CTRL_C);
  expect(await run.ended, run.screen()).toBe(130);
  expect(run.screen()).toContain('Interrupted: stopping the server and removing its files.');
  expect(run.screen()).not.toMatch(/error:|    at /);
  expectNothingLeft();
}

describe('candlepool demo', () => {
  it('repairs a strategy, runs 200 backtests and a portfolio, explains silence, and cleans up', async () => {
    // The path is too long for a socket, which then lies elsewhere; and workers warm up, as they do for a newcomer.
    const long = join(folder, 'a'.repeat(100));
    mkdirSync(long);
    const result = await runCommand(['demo', '--json'], { TMPDIR: long, WARM_UP: 'on' });
    expect(result, printed(result)).toMatchObject({ code: 0, stderr: '' });
    const outcome = JSON.parse(result.stdout) as Record<string, unknown>;
    expect(outcome.repaired).toEqual(
      expect.arrayContaining(['REF_NOT_FOUND', 'UNKNOWN_INDICATOR', 'UNKNOWN_FIELD', 'UNKNOWN_INDICATOR_ARG']),
    );
    expect(outcome).toMatchObject({ backtests: 200, completed: 200, silent: { diagnosis: 'NEVER_TOGETHER' } });
    const { instruments, rebalances } = outcome.portfolio as { instruments: number; rebalances: number };
    expect(instruments).toBeGreaterThanOrEqual(40);
    expect(rebalances).toBeGreaterThan(50);
    expect([readdirSync(long), commandLinesWith(long)]).toEqual([[], []]);
  });

  const moments: [string, (run: TerminalRun) => () => boolean][] = [
    ['its folder exists', () => hasFile('candlepool-demo-')],
    ['the database is being made', () => hasFile('cluster.')],
    ['the database is starting', () => hasFile('postmaster.pid')],
    ['the shipped series are imported', () => hasFile('.arrow')],
    ['the server answers', (run) => () => run.screen().includes('Candlepool runs at')],
    ['backtests run', (run) => () => run.screen().includes('POST /public/v1/backtests/batch')],
  ];
  it.each(moments)('ends with a sentence and leaves nothing behind when Ctrl-C comes while %s', async (_, momentOf) => {
    const run = startDemo();
    await interrupt(run, momentOf(run));
  });

  // The last moment of all, so that the screen shows the whole progress.
  it('draws its progress on a terminal up to the last backtest, and heeds Ctrl-C even then', async () => {
    const run = startDemo();
    await interrupt(run, () => run.screen().includes('of 200 completed'));
    expect(run.screen()).toContain('200 of 200 completed');
    const counts = [...run.screen().matchAll(/[█░]{30} (\d+)\/200/g)].map(([, done]) => Number(done));
    expect(counts.at(-1)).toBe(200);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  it('leaves nothing behind when its output is closed, as head does', async () => {
    const words = `"${process.execPath}" "${MAIN}" demo | head -n 1`;
    const run = startOnTerminal(['sh', '-c', words], { TMPDIR: folder });
    await run.ended;
    await eventually(() => readdirSync(folder).length === 0 && commandLinesWith(folder).length === 0);
    expect(run.screen()).toContain('Candlepool runs at');
  });
});
