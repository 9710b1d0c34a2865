// What V8 still does to the engine's code during the first backtests of a thread that has warmed up, as counts: how
// fast these backtests are is measured by bench/warmUp.ts.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SMALL_RUNS } from '../../../bench/smallRuns.ts';
import nodeFlags from '../../../src/cli/nodeFlags.json' with { type: 'json' };
import { WARM_UP_BATCHES } from '../../../src/engine/pool/warmUp.ts';

const SCRIPT = fileURLToPath(new URL('../../support/warmedThread.ts', import.meta.url));

/** 11 to 26 were seen, then with the main thread's, and 345 and 401 without the warm-up. */
const MOST_COMPILED = 40;
/**
 * 3 to 5 were seen, and 0 to 7 of the main thread, more on a busy machine, which are not counted; 25 of the first kind
 * where the warm-up's runs had fewer shapes than real ones.
 */
const MOST_THROWN_AWAY = 12;
/** 69 were seen after so many batches, and 101 when the input of simulations was an object that began with a spread. */
const MOST_COLLECTED = 85;
const COLLECTED_AFTER_BATCHES = 120;

const run = promisify(execFile);

interface Counts {
  readonly compiled: number;
  readonly thrownAway: number;
  /** Compiled code that knew an object which a collection of garbage found gone. */
  readonly collected: number;
  /** How many times a thread was told to collect garbage. */
  readonly collections: number;
}

async function countsOf(
  kind: string,
  { runs = 200, batches = WARM_UP_BATCHES, flags = [] as string[], more = [] as string[] },
): Promise<Counts> {
  // On one thread V8 compiles at the same point of every process, however busy the machine is. Each isolate has a file
  // of its own. What becomes of the code of the main thread, whose timers and messages come as the machine allows, is
  // another matter.
  const args = [...nodeFlags.worker, '--single-threaded', '--redirect-code-traces', ...flags];
  const cwd = mkdtempSync(join(tmpdir(), 'candlepool-test-'));
  try {
    const command = [...args, SCRIPT, kind, String(runs), String(batches), ...more];
    const { stdout } = await run(process.execPath, command, { cwd, maxBuffer: 2 ** 26 });
    // Without anything to trace there is no file.
    const traceOf = (isolate: number): string =>
      readdirSync(cwd)
        .filter((name) => name.endsWith(`-${isolate}.asm`))
        .map((name) => readFileSync(join(cwd, name), 'utf8'))
        .join('');
    const [main, thread] = [0, 1].map(traceOf);
    const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
    // Why code was marked is printed on standard output, of both threads.
    const dependent = count(stdout, / reason: dependent /g) - count(main, /\[marking dependent code/g);
    return {
      compiled: count(thread, /\[marking \S+ <JSFunction .* for optimization to /g),
      thrownAway: count(thread, /\[bailout \(kind: deopt-/g) + Math.max(dependent, 0),
      collected: count(stdout, / reason: embedded weak objects cleared/g),
      collections: count(stdout, / Mark-Compact .* testing; /g),
    };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const [firstKind] = Object.keys(SMALL_RUNS);

describe.each(Object.keys(SMALL_RUNS))('the first backtests of a thread: %s', (kind) => {
  it('run compiled code that V8 keeps, after a warm-up that collects garbage', async () => {
    const { compiled, thrownAway, collections } = await countsOf(kind, { flags: ['--trace-gc'] });
    expect(compiled).toBeLessThanOrEqual(MOST_COMPILED);
    expect(thrownAway).toBeLessThanOrEqual(MOST_THROWN_AWAY);
    // Only the warm-up is told to; a batch of it that lasts is split, and each part collects.
    expect(collections).toBeGreaterThan(0);
  });
});

it('keeps the code of simulations when garbage is collected later', async () => {
  const { collected } = await countsOf('stop and target', {
    runs: 100,
    batches: COLLECTED_AFTER_BATCHES,
    more: ['collect'],
  });
  expect(collected).toBeGreaterThan(0);
  expect(collected).toBeLessThanOrEqual(MOST_COLLECTED);
});

it('counts the functions that V8 compiles when there was no warm-up', async () => {
  expect((await countsOf(firstKind, { batches: 0 })).compiled).toBeGreaterThan(2 * MOST_COMPILED);
});
