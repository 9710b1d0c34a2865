// The estimate of a run's memory against what it takes at its peak, each case in a process of its own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { estimateRunBytes } from '../../../src/engine/pool/memory.ts';
import { astOf, compare, entry, all, market, sma, type Json } from '../../support/builders.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { MEMORY_CASES } from '../../support/memoryCase.ts';
import { configOf } from '../../support/runs.ts';

const SCRIPT = fileURLToPath(new URL('../../support/memoryCase.ts', import.meta.url));
const run = promisify(execFile);

/**
 * A run takes at most a fifth more than is estimated with what it asks for, and is not refused for more than four
 * times what it takes.
 */
const MOST_ABOVE = 1.2;
const MOST_BELOW = 1 / 4;
/**
 * On a busy machine V8 now and then collects garbage so late that a run takes half as much again. The least of a few
 * tries is what it needs: an estimate that is too small is so at each of them.
 */
const TRIES = 3;

// The peak is read from /proc.
it.skipIf(process.platform !== 'linux').each(Object.keys(MEMORY_CASES))('estimates the peak of %s', async (name) => {
  const shares: number[] = [];
  do {
    const { stdout } = await run(process.execPath, ['--expose-gc', SCRIPT, name]);
    const measured = JSON.parse(stdout) as { estimate: number; peak: number; failure: string | null };
    expect(measured.failure).toBeNull();
    shares.push(measured.peak / measured.estimate);
  } while (shares.at(-1)! >= MOST_ABOVE && shares.length < TRIES);
  expect(Math.min(...shares), `of the estimate: ${shares.join(', ')}`).toBeLessThan(MOST_ABOVE);
  expect(Math.min(...shares), `of the estimate: ${shares.join(', ')}`).toBeGreaterThan(MOST_BELOW);
});

const estimateOf = (trigger: Json, stored: '1m' | '15m', exits: Json[] = [], maxConcurrentPositions = 1): number => {
  const strategyAst = astOf({ entry: entry(trigger), exits });
  const config = { ...configOf(), timeframe: '15m', signalInstrument: { symbol: 'TEST' } } as const;
  const snapshot = randomSnapshot({ timeframe: stored, count: 300_000 });
  return estimateRunBytes({ strategyAst, settings: { maxConcurrentPositions }, config }, [snapshot]);
};

it('charges a column for the bars it is made on, not for the minutes below them', () => {
  const many = all(...Array.from({ length: 300 }, (_, index) => compare(market(), 'gt', sma(index + 2))));
  // As many bars of a minute, of which the run makes its own.
  expect(estimateOf(many, '1m')).toBeLessThan(estimateOf(many, '15m') / 5);
});

it('charges the windows that every open position keeps', () => {
  const held = { kind: 'rolling', op: 'max', period: 100_000, source: { kind: 'state', field: 'position_mfe_pct' } };
  const exits = [{ kind: 'exit', when: compare(held, 'gt', { kind: 'const', value: 5 }) }];
  const trigger = compare(market(), 'gt', 1);
  const [one, fifty] = [1, 50].map((positions) => estimateOf(trigger, '15m', exits, positions));
  expect(fifty - one).toBeGreaterThan(49 * 100_000 * 8);
});
