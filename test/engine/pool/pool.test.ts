// The pool: outcomes in order, failures as values, stop flags, time limits, memory, and threads that end in the middle.
import { MessagePort } from 'node:worker_threads';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CHUNK_BYTES, MAX_CHUNKS_IN_FLIGHT } from '../../../src/engine/pool/artifactChunks.ts';
import { decodeDetail, decodeTrades } from '../../../src/engine/pool/result.ts';
import type { Outcome } from '../../../src/engine/pool/messages.ts';
import { createPool, PoolClosedError } from '../../../src/engine/pool/pool.ts';
import { eventually } from '../../support/eventually.ts';
import { STAND_IN_RUNNER, dailySnapshot, poolRun } from '../../support/runs.ts';
import { storedSummary } from '../../support/summaries.ts';

const snapshot = dailySnapshot(500);
const snapshots = [snapshot];
const pool = createPool({ threads: 2, runner: STAND_IN_RUNNER });
/** Stops runs early. On a busy machine it may stop any run, so that only runs that are to be stopped belong here. */
const hasty = createPool({ threads: 1, runner: STAND_IN_RUNNER, killGraceMs: 200, timeLimitMs: 400 });
afterAll(() => Promise.all([pool[Symbol.asyncDispose](), hasty[Symbol.asyncDispose]()]));

type Completed = Outcome & { readonly kind: 'completed' };
const summaryOf = ({ result }: Completed): Record<string, unknown> => ({
  ...storedSummary(result),
  ...decodeDetail(result.detail).summary,
});
const kindOf = (outcome: Outcome): string =>
  outcome.kind === 'completed'
    ? `completed ${String(summaryOf(outcome).returnPct)}`
    : outcome.kind === 'failed'
      ? `failed ${outcome.error.code}`
      : `stopped ${outcome.reason}`;

/**
 * What structured clone copies of a message: texts, numbers and private buffers; shared memory and ports cost nothing.
 */
function copiedBytes(value: unknown): number {
  if (value instanceof SharedArrayBuffer || value instanceof MessagePort) return 0;
  if (value instanceof ArrayBuffer) return value.byteLength;
  if (ArrayBuffer.isView(value)) return copiedBytes(value.buffer);
  if (typeof value === 'string') return value.length;
  if (value instanceof Map) return copiedBytes([...value.entries()]);
  if (typeof value !== 'object' || value === null) return 8;
  return Object.entries(value).reduce((sum, [name, member]) => sum + name.length + copiedBytes(member), 0);
}

describe('a batch', () => {
  it('gives one outcome per run, in the order of the runs', async () => {
    const runs = [1, 2, 3].map((value) => poolRun({ value }));
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'completed 2', 'completed 3']);
  });

  it('fails a run that cannot be prepared, and runs the others', async () => {
    const broken = poolRun();
    const strategyAst = Object.defineProperty({ ...broken.task.strategyAst }, 'strategy', {
      enumerable: true,
      get: () => {
        throw new Error('not readable');
      },
    });
    const runs = [poolRun({ value: 1 }), { ...broken, task: { ...broken.task, strategyAst } }, poolRun({ value: 3 })];
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'failed INTERNAL_ERROR', 'completed 3']);
  });

  it('reads the bars of the snapshot it was given', async () => {
    const [outcome] = await pool.run({ snapshots, runs: [poolRun()] }).outcomes;
    // Closes 100 … 599: 500 x (100 + 599) / 2.
    expect(outcome.kind === 'completed' && summaryOf(outcome)).toMatchObject({ closeSum: 174_750 });
  });

  it('splits a result into a searchable summary, a detail and trades, each of which reads back whole', async () => {
    const [outcome] = await pool.run({ snapshots, runs: [poolRun({ value: 7 })] }).outcomes;
    if (outcome.kind !== 'completed') throw new Error(kindOf(outcome));
    expect(storedSummary(outcome.result)).toMatchObject({ returnPct: 7, sharpeRatio: null });
    expect(storedSummary(outcome.result)).not.toHaveProperty('strategyTrace');
    expect(outcome.result).toMatchObject({ warnings: [], diagnosis: 'OK' });
    expect([...decodeTrades(outcome.result.trades)]).toEqual([[{ positionId: 1, pnl: 7 }]]);
    expect(decodeDetail(outcome.result.detail)).toMatchObject({
      summary: {
        strategyTrace: { diagnosis: [{ code: 'OK' }], funnel: { barsTotal: 500 } },
        ruleStatsSummary: { rules: [] },
        equityPreview: [1, 2, 3],
      },
      warnings: [],
      resolvedConfig: { timeframe: '1d' },
      reproducibility: { engineVersion: 'stand-in' },
    });
  });

  it('reports an expected failure as code, path and message, and completes the other runs', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'fail' }), poolRun({ value: 2 })];
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'failed RANGE_NO_DATA', 'completed 2']);
    expect(outcomes[1]).toEqual({
      kind: 'failed',
      error: { code: 'RANGE_NO_DATA', path: '/config/range', message: 'The range holds no bars.' },
    });
  });

  it('reports a bug in the engine as INTERNAL_ERROR of that run alone', async () => {
    const outcomes = await pool.run({ snapshots, runs: [poolRun({ act: 'throw' }), poolRun({ value: 4 })] }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['failed INTERNAL_ERROR', 'completed 4']);
  });

  it('posts messages no larger for 200,000 bars than for 500, because threads share the bars', async () => {
    await using own = createPool({ threads: 1, runner: STAND_IN_RUNNER });
    const bytesFor = async (each: typeof snapshot): Promise<number> => {
      const post = vi.spyOn(MessagePort.prototype, 'postMessage');
      await own.run({ snapshots: [each], runs: [poolRun()] }).outcomes;
      const posted = post.mock.calls.map(([message]) => copiedBytes(message));
      post.mockRestore();
      expect(posted.length).toBeGreaterThan(0);
      return posted.reduce((sum, bytes) => sum + bytes, 0);
    };
    // The least of five: Node and Piscina post a kilobyte to each thread that starts meanwhile, also to those of other
    // pools.
    const leastFor = async (each: typeof snapshot): Promise<number> => {
      let least = Infinity;
      for (let batch = 0; batch < 5; batch++) least = Math.min(least, await bytesFor(each));
      return least;
    };
    const large = dailySnapshot(200_000);
    expect(large.byteLength).toBeGreaterThan(5_000_000);
    const [few, many] = [await leastFor(snapshot), await leastFor(large)];
    expect(few).toBeGreaterThan(0);
    // The two differ in digits of the bar count and in the length of a date, not in bars.
    expect(Math.abs(many - few)).toBeLessThan(100);
  });
});

describe('stopping', () => {
  it('ends a running simulation long before its end and continues with the next run of the batch', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 60_000 }), poolRun({ value: 5 })] });
    await eventually(() => job.progress(0).state === 'running');
    job.stop(0, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual(['stopped cancelled', 'completed 5']);
  });

  it('prevents a run that has not begun from starting', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 50 }), poolRun({ act: 'throw' })] });
    job.stop(1, 'returned');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 0', 'stopped returned']);
  });

  it('ends a run that takes longer than the limit', async () => {
    const [outcome] = await hasty.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 20_000 })] }).outcomes;
    expect(kindOf(outcome)).toBe('stopped time_limit');
  });

  it('kills the thread of a run that does not respond, and runs the rest of the batch again', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'deaf', ms: 60_000 }), poolRun({ value: 3 })];
    await using own = createPool({ threads: 1, runner: STAND_IN_RUNNER, killGraceMs: 200 });
    const job = own.run({ snapshots, runs });
    await eventually(() => job.progress(1).state === 'running');
    job.stop(1, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 1', 'stopped cancelled', 'completed 3']);
  });

  it('keeps the result of a run that completed before it saw the flag', async () => {
    const job = pool.run({ snapshots, runs: [poolRun({ act: 'deaf', ms: 100 })] });
    // It may be done before this process looks.
    await eventually(() => job.progress(0).state !== 'waiting');
    job.stop(0, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual(['completed 0']);
  });
});

describe('a slow run', () => {
  const slow = () => poolRun({ act: 'spin', ms: 60_000 });
  const patient = { runner: STAND_IN_RUNNER, timeLimitMs: 60_000 };

  it('does not hold up the runs behind it in its batch while another thread is free', async () => {
    await using own = createPool({ ...patient, threads: 2 });
    const order: number[] = [];
    const runs = [poolRun(), slow(), poolRun(), poolRun(), poolRun()];
    const job = own.run({ snapshots, runs }, (run) => order.push(run));
    await eventually(() => order.length === 4);
    expect(new Set(order)).toEqual(new Set([0, 2, 3, 4]));
    expect(job.progress(1).state).toBe('running');
    job.stop(1, 'cancelled');
    expect((await job.outcomes).map(kindOf)).toEqual([
      'completed 0',
      'stopped cancelled',
      'completed 0',
      'completed 0',
      'completed 0',
    ]);
  });

  it('does not hold the only thread while another owner waits, and its own owner waits for it', async () => {
    await using own = createPool({ ...patient, threads: 1 });
    const order: string[] = [];
    const start = (name: string, run: ReturnType<typeof poolRun>) =>
      own.run({ snapshots, runs: [{ ...run, owner: name[0] }] }, () => order.push(name));
    const [first, second] = [start('a slow', slow()), start('a next', poolRun())];
    await eventually(() => first.progress(0).state === 'running');
    const others = ['b', 'c', 'd'].map((name) => start(name, poolRun()));
    await Promise.all(others.map((job) => job.outcomes));
    expect(new Set(order)).toEqual(new Set(['b', 'c', 'd']));
    expect([first.progress(0).state, second.progress(0).state]).toEqual(['running', 'waiting']);
    first.stop(0, 'cancelled');
    await second.outcomes;
    expect(order.slice(3)).toEqual(['a slow', 'a next']);
  });

  it.each([
    ['looks at its flag', { act: 'spin', ms: 60_000 }, 500],
    ['has many bars', { act: 'deaf', ms: 60_000 }, 60_000],
  ])('does not keep the outcome of the run before it when it %s', async (_, params, bars) => {
    await using own = createPool({ ...patient, threads: 1, killGraceMs: 200 });
    const states: string[] = [];
    const job = own.run(
      { snapshots: [snapshot, dailySnapshot(bars)], runs: [poolRun(), { ...poolRun(params), snapshots: [1] }] },
      () => states.push(job.progress(1).state),
    );
    await eventually(() => states.length > 0);
    expect(states).not.toContain('done');
    job.stop(1, 'cancelled');
    await job.outcomes;
  });

  it('ends after its own limit, if it has one', async () => {
    await using own = createPool({ ...patient, threads: 1 });
    const runs = [{ ...slow(), timeLimitMs: 200 }, poolRun({ value: 2 })];
    expect((await own.run({ snapshots, runs }).outcomes).map(kindOf)).toEqual(['stopped time_limit', 'completed 2']);
  });

  it('can be stopped with the runs that were taken back from behind it', async () => {
    await using own = createPool({ ...patient, threads: 1 });
    const job = own.run({ snapshots, runs: [slow(), slow(), slow()] });
    await eventually(() => job.progress(0).state === 'running');
    // Long enough for what waits to be taken back; it stays waiting, since the thread is its owner's.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([1, 2].map((run) => job.progress(run).state)).toEqual(['waiting', 'waiting']);
    for (const run of [2, 1, 0]) job.stop(run, 'returned');
    expect((await job.outcomes).map(kindOf)).toEqual(['stopped returned', 'stopped returned', 'stopped returned']);
  });
});

it('keeps to its thread however long a batch of quick runs lasts', async () => {
  await using own = createPool({ threads: 1, runner: STAND_IN_RUNNER });
  const runs = Array.from({ length: 15 }, () => ({ ...poolRun({ act: 'where', ms: 30 }), isQuick: true }));
  const outcomes = await own.run({ snapshots, runs }).outcomes;
  expect(new Set(outcomes.map(kindOf)).size).toBe(1);
});

describe('progress', () => {
  it('grows during a run and ends at its number of bars', async () => {
    await using own = createPool({ threads: 1, runner: STAND_IN_RUNNER, timeLimitMs: 60_000 });
    // The first one is stopped: however seldom this process looks, it runs.
    const job = own.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 60_000 }), poolRun()] });
    await eventually(() => job.progress(0).barsDone > 0);
    const early = job.progress(0);
    expect(early).toMatchObject({ state: 'running', barsTotal: 500 });
    await eventually(() => job.progress(0).barsDone > early.barsDone);
    job.stop(0, 'cancelled');
    await job.outcomes;
    expect(job.progress(1)).toEqual({ state: 'done', barsDone: 500, barsTotal: 500 });
  });
});

describe('the pool', () => {
  it('fails only the run whose thread died, as RESOURCE_LIMIT', async () => {
    const runs = [poolRun({ value: 1 }), poolRun({ act: 'exit' }), poolRun({ value: 3 })];
    const outcomes = await pool.run({ snapshots, runs }).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['completed 1', 'failed RESOURCE_LIMIT', 'completed 3']);
  });

  it('rejects a run that needs more memory than is available, and runs the others', async () => {
    await using small = createPool({ threads: 1, runner: STAND_IN_RUNNER, memoryBytes: 20 << 20 });
    const batch = {
      snapshots: [snapshot, dailySnapshot(300_000)],
      runs: [poolRun({}, [1]), poolRun({ value: 2 }, [0])],
    };
    const outcomes = await small.run(batch).outcomes;
    expect(outcomes.map(kindOf)).toEqual(['failed RESOURCE_LIMIT', 'completed 2']);
  });

  it('runs two runs one after the other if both do not fit into memory', async () => {
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

  it('gives the same outcomes on one thread and on four', async () => {
    const runs = Array.from({ length: 12 }, (_, value) => poolRun({ value }));
    const answers: unknown[] = [];
    for (const threads of [1, 4]) {
      await using each = createPool({ threads, runner: STAND_IN_RUNNER });
      const jobs = runs.map((run) => each.run({ snapshots, runs: [run] }).outcomes);
      answers.push((await Promise.all(jobs)).map((outcomes) => kindOf(outcomes[0])));
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it('rejects pending calls when closed, instead of reporting failed runs', async () => {
    const closing = createPool({ threads: 1, runner: STAND_IN_RUNNER });
    const job = closing.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 10_000 })] });
    const outcome = expect(job.outcomes).rejects.toThrow(PoolClosedError);
    await eventually(() => job.progress(0).state === 'running');
    await closing[Symbol.asyncDispose]();
    await outcome;
  });
});

describe('an artifact', () => {
  const asked = { name: 'trades', format: 'csv' } as const;
  const gather = () => {
    const chunks: Uint8Array[] = [];
    const take = async (chunk: Uint8Array): Promise<void> => void chunks.push(chunk);
    return { chunks, take };
  };

  it('is built in a thread from the same inputs', async () => {
    const { chunks, take } = gather();
    const built = await pool.build({ snapshots, runs: [poolRun({ value: 9 })] }, asked, take);
    expect(built.ok && new TextDecoder().decode(Buffer.concat(chunks))).toBe('trades csv 500');
  });

  it('fails with the failure of its run', async () => {
    const { chunks, take } = gather();
    const built = await pool.build({ snapshots, runs: [poolRun({ act: 'fail' })] }, asked, take);
    expect(built).toMatchObject({ ok: false, error: { code: 'RANGE_NO_DATA' } });
    expect(chunks).toEqual([]);
  });

  /** A run whose artifact has so many chunks more than its text, and how many of them the thread has written. */
  function longRun(pieces: number) {
    const written = new SharedArrayBuffer(4);
    const run = poolRun({ pieces, written: written as never });
    return { batch: { snapshots, runs: [run] }, written: () => new Int32Array(written)[0] };
  }

  it('comes whole and in order, never more than a few chunks ahead of its reader', async () => {
    await using own = createPool({ threads: 1, runner: STAND_IN_RUNNER });
    const { batch, written } = longRun(20);
    const { chunks, take } = gather();
    let ahead = 0;
    const built = await own.build(batch, asked, async (chunk) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      // The chunk in the reader's hands counts among those in flight; the thread has begun another.
      ahead = Math.max(ahead, written() - chunks.length);
      await take(chunk);
    });
    expect(built).toMatchObject({ ok: true });
    const text = 'trades csv 500';
    const whole = Buffer.concat(chunks);
    expect(whole.length).toBe(text.length + 20 * CHUNK_BYTES);
    for (let piece = 0; piece < 20; piece++) {
      const at = text.length + piece * CHUNK_BYTES;
      expect(whole.subarray(at, at + CHUNK_BYTES).every((byte) => byte === piece)).toBe(true);
    }
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(MAX_CHUNKS_IN_FLIGHT + 1);
  });

  it('ends when its reader fails, and leaves the thread free', async () => {
    await using one = createPool({ threads: 1, runner: STAND_IN_RUNNER });
    const { batch, written } = longRun(1_000);
    let taken = 0;
    const built = one.build(batch, asked, async () => {
      if (++taken === 3) throw new Error('the disk is full');
    });
    await expect(built).rejects.toThrow('the disk is full');
    expect(taken).toBe(3);
    expect(written()).toBeLessThan(1_000);
    const [outcome] = await one.run({ snapshots, runs: [poolRun({ value: 1 })] }).outcomes;
    expect(kindOf(outcome)).toBe('completed 1');
  });

  it('is stopped at the time limit when nobody takes it', async () => {
    const { batch } = longRun(1_000);
    // Longer than the limit of this pool, while the thread waits.
    const building = hasty.build(batch, asked, () => new Promise((resolve) => setTimeout(resolve, 600)));
    expect(await building).toMatchObject({ ok: false, error: { code: 'RESOURCE_LIMIT' } });
  });

  it('is refused when it needs more memory than is available, of which its run would need less', async () => {
    await using narrow = createPool({ threads: 1, runner: STAND_IN_RUNNER, memoryBytes: 120 << 20 });
    const batch = { snapshots: [dailySnapshot(200_000)], runs: [poolRun()] };
    expect((await narrow.run(batch).outcomes).map(kindOf)).toEqual(['completed 0']);
    const { take } = gather();
    const built = await narrow.build(batch, { name: 'orders', format: 'json' }, take);
    expect(built).toMatchObject({ ok: false, error: { code: 'RESOURCE_LIMIT' } });
  });
});

describe.each([
  { hasOneOwner: true, most: 1 },
  { hasOneOwner: false, most: 3 },
])('a pool of one thread (of one owner: $hasOneOwner)', ({ hasOneOwner, most }) => {
  it('has this many threads once a run is slow', async () => {
    let made = 0;
    const count = (): void => void made++;
    process.on('worker', count);
    onTestFinished(() => void process.off('worker', count));
    await using own = createPool({ threads: 1, hasOneOwner, runner: STAND_IN_RUNNER });
    const slow = own.run({ snapshots, runs: [poolRun({ act: 'spin', ms: 60_000 })] });
    await eventually(() => made === most);
    // Longer than the ticks in which others begin to load.
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(made).toBe(most);
    slow.stop(0, 'cancelled');
    await slow.outcomes;
  });
});
