// What V8 still does to the engine's code during the first backtests of a thread that has warmed up, as counts: how
// fast these backtests are is measured by bench/warmUp.ts.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SMALL_RUNS } from '../../../bench/smallRuns.ts';
import { WARM_UP_SLICES } from '../../../src/engine/pool/messages.ts';

const SCRIPT = fileURLToPath(new URL('../../support/warmedThread.ts', import.meta.url));
const RUNS = 200;

/** 15 to 32 were seen in sixteen processes of each kind, and 210 to 340 without the warm-up. */
const MOST_COMPILED = 60;
/** 11 to 15 were seen in them, and 23 to 40 after a warm-up with two strategies on one series. */
const MOST_THROWN_AWAY = 22;

const run = promisify(execFile);

async function countsOf(kind: string, slices: number): Promise<{ compiled: number; thrownAway: number }> {
  // On one thread V8 compiles at the same point of every process, however busy the machine is.
  const args = ['--single-threaded', SCRIPT, kind, String(RUNS), String(slices)];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 26 });
  const count = (pattern: RegExp): number => stdout.match(pattern)?.length ?? 0;
  return {
    compiled: count(/^\[marking \S+ <JSFunction .* for optimization to /gm),
    thrownAway: count(/^\[bailout \(kind: deopt-/gm),
  };
}

describe.each(Object.keys(SMALL_RUNS))('the first backtests of a thread: %s', (kind) => {
  it('run compiled code that V8 keeps, after the warm-up', async () => {
    const { compiled, thrownAway } = await countsOf(kind, WARM_UP_SLICES);
    expect(compiled).toBeLessThanOrEqual(MOST_COMPILED);
    expect(thrownAway).toBeLessThanOrEqual(MOST_THROWN_AWAY);
  });
});

it('counts the functions that V8 compiles when there was no warm-up', async () => {
  const [kind] = Object.keys(SMALL_RUNS);
  expect((await countsOf(kind, 0)).compiled).toBeGreaterThan(2 * MOST_COMPILED);
});
