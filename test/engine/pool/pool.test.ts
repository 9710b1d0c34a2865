// The pool: outcomes in order, failures as values, stop flags, time limits, memory, and threads that end in the middle.
import { afterAll, describe, expect, test } from 'vitest';
import { decodeDetail } from '../../../src/engine/pool/detail.ts';
import type { PoolOutcome } from '../../../src/engine/pool/messages.ts';
import { createPool, PoolClosedError } from '../../../src/engine/pool/pool.ts';
import { STAND_IN_RUNNER, dailySnapshot, poolRun } from '../../support/runs.ts';

const snapshot = dailySnapshot(500);
const snapshots = [snapshot];
const pool = createPool({ threads: 2, runner: STAND_IN_RUNNER, killGraceMs: 200, timeLimitMs: 400 });
afterAll(() => pool[Symbol.asyncDispose]());

const kindOf = (outcome: PoolOutcome): string =>
  outcome.kind === 'completed'
    ? `completed ${(JSON.parse(outcome.summary) as { returnPct: number }).returnPct}`
    : outcome.kind === 'failed'
      ? `failed ${outcome.error.code}`
      : `stopped ${outcome.reason}`;

const until = async (claim: () => boolean, ms = 5_000): Promise<void> => {
  const end = performance.now() + ms;
  while (!claim()) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${claim.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

describe('a batch', () => {
  test('gives one outcome a run, in the order of the runs', async () => {
    const runs = [1, 2, 3].map((value) => poolRun({ value }));
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'completed 2', 'completed 3']);
  });

  test('reads the bars of the snapshot it was given', async () => {
    const [outcome] = await pool.run({ snapshots, runs: [poolRun()] }).outcomes;
    // Closes 100 … 599: 500 x (100 + 599) / 2.
    expect(outcome.kind === 'completed' && JSON.parse(outcome.summary)).toMatchObject({ closeSum: 174_750 });
  });

  test('splits a result into searchable summary and compressed detail, and the detail reads back whole', async () => {
    const [outcome] = await pool.run({ snapshots, runs: [poolRun({ value: 7 })] }).outcomes;
    if (outcome.kind !== 'completed') throw new Error(kindOf(outcome));
    expect(Object.keys(JSON.parse(outcome.summary) as object)).not.toContain('strategyTrace');
    expect(decodeDetail(outcome.detail)).toEqual({
      summary: {
        strategyTrace: { diagnosis: [{ code: 'OK' }], funnel: { barsTotal: 500 } },
        ruleStatsSummary: { rules: [] },
        equityPreview: [1, 2, 3],
      },
      trades: [{ positionId: 1, pnl: 7 }],
    });
  });

  test('carries an expected failure as code, path and message, and the runs beside it complete', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'fail' }), poolRun({ value: 2 })];
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'failed RANGE_NO_DATA', 'completed 2']);
    expect(outcomes[1]).toEqual({
      kind: 'failed',
      error: { code: 'RANGE_NO_DATA', path: '/config/range', message: 'The range holds no bars.' },
    });
  });

  test('turns a bug of the engine into INTERNAL_ERROR of that run alone', async () => {
    const outcomes = await pool.run({ snapshots, runs: [poolRun({ act: 'throw' }), poolRun({ value: 4 })] }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['failed INTERNAL_ERROR', 'completed 4']);
  });

  test('sends no bar data: its message is as large for 200,000 bars as for 500', async () => {
    const large = dailySnapshot(200_000);
    const sizeOf = async (each: typeof snapshot): Promise<number> => {
      const { serialize } = await import('node:v8');
      // Structured clone of shared memory passes a reference; what is serialised is the rest of the message.
      return serialize({ snapshots: [each.meta], runs: [poolRun()] }).length;
    };
    expect(await sizeOf(large)).toBe(await sizeOf(snapshot));
    const before = process.memoryUsage().arrayBuffers;
    const jobs = Array.from({ length: 20 }, () => pool.run({ snapshots: [large], runs: [poolRun()] }).outcomes);
    await Promise.all(jobs);
    // Twenty copies would be 192 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50e6);
  });
});

describe('stopping', () => {
  test('reaches a running simulation within 100 ms and lets the next run of the batch go on', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 10_000 }), poolRun({ value: 5 })] });
    await until(() => job.progress(0).state === 'running');
    const asked = performance.now();
    job.stop(0, 'cancelled');
    await until(() => job.progress(0).state === 'done');
    expect(performance.now() - asked).toBeLessThan(100);
    expect((await job.outcomes).map(kindOf)).toEqual(['stopped cancelled', 'completed 5']);
  });

  test('keeps a run that has not begun from beginning', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 50 }), poolRun({ act: 'throw' })] });
    job.stop(1, 'returned');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 0', 'stopped returned']);
  });

  test('ends a run that takes longer than the limit', async () => {
    const [outcome] = await pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 20_000 })] }).outcomes;
    expect(kindOf(outcome)).toBe('stopped time_limit');
  });

  test('kills the thread of a run that does not listen, and runs the others of the batch again', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'deaf', ms: 60_000 }), poolRun({ value: 3 })];
    const job = pool.run({ snapshots, runs });
    await until(() => job.progress(1).state === 'running');
    job.stop(1, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 1', 'stopped cancelled', 'completed 3']);
  });

  test('keeps the result of a run that was complete before it saw the flag', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'deaf', ms: 100 })] });
    await until(() => job.progress(0).state === 'running');
    job.stop(0, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 0']);
  });
});

describe('progress', () => {
  test('grows while a run goes on and ends at the number of its bars', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 200 })] });
    await until(() => job.progress(0).barsDone > 0);
    const early = job.progress(0);
    expect(early).toMatchObject({ state: 'running', barsTotal: 500 });
    await until(() => job.progress(0).barsDone > early.barsDone);
    await job.outcomes;
    expect(job.progress(0)).toEqual({ state: 'done', barsDone: 500, barsTotal: 500 });
  });
});

describe('threads and memory', () => {
  test('a thread that ends under a run fails that run as RESOURCE_LIMIT and no other', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'exit' }), poolRun({ value: 3 })];
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'failed RESOURCE_LIMIT', 'completed 3']);
  });

  test('a run that needs more memory than there is, is refused and the others run', async () => {
    await using small = createPool({ threads: 1, runner: STAND_IN_RUNNER, memoryBytes: 20 << 20 });
    const batch = {
      snapshots: [snapshot, dailySnapshot(300_000)],
      runs: [poolRun({}, [1]), poolRun({ value: 2 }, [0])],
    };
    const outcomes = await small.run(batch).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['failed RESOURCE_LIMIT', 'completed 2']);
  });

  test('two runs that fit only one at a time run one after the other', async () => {
    await using narrow = createPool({ threads: 2, runner: STAND_IN_RUNNER, memoryBytes: 15 << 20 });
    const jobs = [1, 2].map(() => narrow.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 100 })] }));
    let overlaps = 0;
    const timer = setInterval(() => {
      if (jobs.every((job) => job.progress(0).state === 'running')) overlaps++;
    }, 1);
    await Promise.all(jobs.map((job) => job.outcomes));
    clearInterval(timer);
    expect(overlaps).toBe(0);
  });

  test('one thread and four give the same outcomes', async () => {
    const runs = Array.from({ length: 12 }, (_, value) => poolRun({ value }));
    const answers: unknown[] = [];
    for (const threads of [1, 4]) {
      await using each = createPool({ threads, runner: STAND_IN_RUNNER });
      const jobs = runs.map((run) => each.run({ snapshots, runs: [run] }).outcomes);
      answers.push((await Promise.all(jobs)).map((outcomes) => kindOf(outcomes[0])));
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test('closing the pool rejects what is under way instead of calling it failed', async () => {
    const closing = createPool({ threads: 1, runner: STAND_IN_RUNNER });
    const job = closing.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 10_000 })] });
    const outcome = expect(job.outcomes).rejects.toThrow(PoolClosedError);
    await until(() => job.progress(0).state === 'running');
    await closing[Symbol.asyncDispose]();
    await outcome;
  });
});

describe('artifacts', () => {
  test('are built in a thread from the same inputs', async () => {
    const built = await pool.build({ snapshots, runs: [poolRun({ value: 9 })] }, { name: 'trades', format: 'csv' });
    expect(built.ok && new TextDecoder().decode(built.bytes)).toBe('trades csv 500');
  });

  test('fail with the failure of the run', async () => {
    const built = await pool.build({ snapshots, runs: [poolRun({ act: 'fail' })] }, { name: 'trades', format: 'csv' });
    expect(built).toMatchObject({ ok: false, error: { code: 'RANGE_NO_DATA' } });
  });
});
