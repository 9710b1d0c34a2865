// The pool: the cost of sending runs to threads and getting their outcomes back, in nanoseconds per run.
import { Bench } from 'tinybench';
import type { Snapshot } from '../src/engine/bars/arrow.ts';
import type { PoolRun } from '../src/engine/pool/messages.ts';
import { createPool, type Pool } from '../src/engine/pool/pool.ts';
import { STAND_IN_RUNNER, dailySnapshot, poolRun } from '../test/support/runs.ts';
import { taskOf } from './crossing.ts';
import { measure, needs, onDemand, rounds, type Unit } from './measure.ts';
import { walkSnapshot } from './walk.ts';

const UNIT: Unit = 'run';
const THREADS = 2;
const BATCH = 50;

/**
 * Measures dispatch alone, and the whole engine on 2,000 bars. Dispatched runs fail at once: encoding the result of one
 * that succeeds takes several times as long as its way to the thread and back.
 */
export function suite(): Bench {
  const pools: Pool[] = [];
  const idle = onDemand(() => {
    const pool = createPool({ threads: THREADS, runner: STAND_IN_RUNNER });
    pools.push(pool);
    return pool;
  });
  const engine = onDemand(async () => {
    const pool = createPool({ threads: THREADS });
    pools.push(pool);
    await Promise.all(Array.from({ length: THREADS * 2 }, () => run(pool, walk(), runs)));
    return pool;
  });
  const oneBar = [dailySnapshot(1)];
  const walk = onDemand(() => [walkSnapshot(2_000)]);
  const task = taskOf('SMA 10 30');
  const dispatched = Array.from({ length: BATCH }, () => poolRun({ act: 'fail' }));
  const runs = Array.from({ length: BATCH }, () => ({ task, snapshots: [0] }));
  const run = (pool: Pool, snapshots: Snapshot[], batch: readonly PoolRun[]) =>
    pool.run({ snapshots, runs: batch }).outcomes;
  const bench = new Bench(rounds(30));
  const one = dispatched.slice(0, 1);
  bench.add('pool/one run per message, nothing to do/1', () => run(idle(), oneBar, one), {
    ...needs(idle),
    async: true,
  });
  bench.add(`pool/a batch, nothing to do/${BATCH}`, () => run(idle(), oneBar, dispatched), {
    ...needs(idle),
    async: true,
  });
  bench.add(
    `pool/a batch of backtests on 2,000 bars, one thread/${BATCH}`,
    async () => run(await engine(), walk(), runs),
    { ...needs(engine), async: true },
  );
  bench.addEventListener('complete', () => {
    for (const pool of pools) void pool[Symbol.asyncDispose]();
  });
  return bench;
}

if (import.meta.main) await measure(suite(), UNIT);
