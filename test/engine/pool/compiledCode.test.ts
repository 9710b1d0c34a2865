// What V8 still does to the engine's code during the first backtests of a thread that has warmed up, as counts: how
// fast these backtests are is measured by bench/warmUp.ts.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SMALL_RUNS } from '../../../bench/smallRuns.ts';
import nodeFlags from '../../../src/cli/nodeFlags.json' with { type: 'json' };
import { WARM_UP_BATCHES } from '../../../src/engine/pool/warmUp.ts';

const SCRIPT = fileURLToPath(new URL('../../support/warmedThread.ts', import.meta.url));

/** 11 to 26 were seen, the main thread's included, and 345 and 401 without the warm-up. */
const MOST_COMPILED = 40;
/** 3 to 5 were seen; 25 of the first kind where the warm-up's runs had fewer shapes than real ones. */
const MOST_THROWN_AWAY = 12;
/** 18 were seen, and 44 when simulations read objects that began with a spread. */
const MOST_COLLECTED = 28;

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
  // On one thread V8 compiles at the same point of every process, however busy the machine is.
  const args = [
    ...nodeFlags.worker,
    '--single-threaded',
    ...flags,
    SCRIPT,
    kind,
    String(runs),
    String(batches),
    ...more,
  ];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 26 });
  const count = (pattern: RegExp): number => stdout.match(pattern)?.length ?? 0;
  return {
    compiled: count(/^\[marking \S+ <JSFunction .* for optimization to /gm),
    thrownAway: count(/^\[(bailout \(kind: deopt-|marking dependent code.* reason: dependent )/gm),
    collected: count(/^\[marking dependent code.* reason: embedded weak objects cleared/gm),
    collections: count(/ Mark-Compact .* testing; /g),
  };
}

const [firstKind] = Object.keys(SMALL_RUNS);

describe.each(Object.keys(SMALL_RUNS))('the first backtests of a thread: %s', (kind) => {
  it('run compiled code that V8 keeps, after the warm-up', async () => {
    const { compiled, thrownAway } = await countsOf(kind, {});
    expect(compiled).toBeLessThanOrEqual(MOST_COMPILED);
    expect(thrownAway).toBeLessThanOrEqual(MOST_THROWN_AWAY);
  });
});

it('collects garbage during the warm-up', async () => {
  const { collections } = await countsOf(firstKind, { runs: 0, flags: ['--trace-gc'] });
  // A batch that lasts is split, and each part collects.
  expect(collections).toBeGreaterThan(0);
});

it('keeps the code of simulations when garbage is collected later', async () => {
  const { collected } = await countsOf('stop and target', { runs: 100, more: ['collect'] });
  expect(collected).toBeGreaterThan(0);
  expect(collected).toBeLessThanOrEqual(MOST_COLLECTED);
});

it('counts the functions that V8 compiles when there was no warm-up', async () => {
  expect((await countsOf(firstKind, { batches: 0 })).compiled).toBeGreaterThan(2 * MOST_COMPILED);
});

it('keeps that code when V8 optimizes what runs once per backtest', async () => {
  // Without the flag it takes ten thousand backtests until then.
  const flags = ['--invocation-count-for-turbofan=200'];
  const { thrownAway } = await countsOf(firstKind, { runs: 600, flags });
  expect(thrownAway).toBeLessThanOrEqual(MOST_THROWN_AWAY);
});
