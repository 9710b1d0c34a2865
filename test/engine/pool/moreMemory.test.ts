// Runs that take more memory than they were admitted by: they get it while there is some, and else run again later.
import { expect, it } from 'vitest';
import { Admission } from '../../../src/engine/pool/admission.ts';
import { BatchControl, type MemoryAnswer } from '../../../src/engine/pool/control.ts';
import type { Dispatch } from '../../../src/engine/pool/job.ts';
import type { Outcome, ThreadMessage } from '../../../src/engine/pool/messages.ts';
import { startPart } from '../../../src/engine/pool/partRun.ts';
import { createPool, type Pool } from '../../../src/engine/pool/pool.ts';
import { RunMemory } from '../../../src/engine/pool/memory.ts';
import { astOf, compare, entry, exit, market } from '../../support/builders.ts';
import { configOf, dailySnapshot, poolRun, STAND_IN_RUNNER } from '../../support/runs.ts';

const MIB = 2 ** 20;
/** With seven eighths of it for large tasks, as all of these are: 70 MiB. */
const POOL_MIB = 80;

/** Runs of the stand-in that are admitted by 10 MiB and take so many more. */
async function take(pool: Pool, mib: readonly number[]) {
  const taken = new SharedArrayBuffer(12);
  const runs = mib.map((each, value) => ({
    ...poolRun({ act: 'take', value, mib: each, taken: taken as never }),
    memoryBytes: 10 * MIB,
  }));
  const jobs = runs.map((run) => pool.run({ snapshots: [dailySnapshot(500)], runs: [run] }));
  const outcomes = (await Promise.all(jobs.map((job) => job.outcomes))).flat();
  const [, most, begun] = new Int32Array(taken);
  return { outcomes: outcomes.map(outcomeOf), most, begun };
}

const outcomeOf = (outcome: Outcome): string => (outcome.kind === 'failed' ? outcome.error.code : outcome.kind);

const poolOf = (threads: number, more: object = {}): Pool =>
  createPool({ threads, runner: STAND_IN_RUNNER, memoryBytes: POOL_MIB * MIB, keepsColumns: false, ...more });

it('gives a run all that there is when nothing else runs', async () => {
  await using pool = poolOf(1);
  expect(await take(pool, [60])).toEqual({ outcomes: ['completed'], most: 60, begun: 1 });
});

it('fails a run that takes more than any may have, and runs the others', async () => {
  await using pool = poolOf(1);
  expect(await take(pool, [61])).toEqual({ outcomes: ['RESOURCE_LIMIT'], most: 60, begun: 1 });
  // It is run again first when the other one has waited for two seconds.
  expect(await take(pool, [61, 5])).toMatchObject({ outcomes: ['RESOURCE_LIMIT', 'completed'], most: 60 });
});

it('completes runs that each take most of the memory, and never holds more than there is', async () => {
  await using pool = poolOf(3);
  const { outcomes, most, begun } = await take(pool, [55, 55, 55]);
  expect(outcomes).toEqual(['completed', 'completed', 'completed']);
  // Of the 70 MiB, 10 are those by which a run was admitted.
  expect(most).toBeLessThanOrEqual(60);
  expect(begun).toBeGreaterThan(3);
});

it('stops a run that waits for memory to run again', async () => {
  await using pool = poolOf(2);
  const taken = new SharedArrayBuffer(12);
  const runOf = (act: string, more: object) => ({ ...poolRun({ act, ...more }), memoryBytes: 40 * MIB });
  const snapshots = [dailySnapshot(500)];
  const [long] = [pool.run({ snapshots, runs: [{ ...runOf('spin', { ms: 60_000 }), memoryBytes: 25 * MIB }] })];
  const job = pool.run({ snapshots, runs: [runOf('take', { mib: 20, taken })] });
  while (new Int32Array(taken)[2] < 1 || job.progress(0).state !== 'waiting')
    await new Promise((resolve) => setTimeout(resolve, 2));
  job.stop(0, 'cancelled');
  long.stop(0, 'cancelled');
  expect(await job.outcomes).toEqual([{ kind: 'stopped', reason: 'cancelled' }]);
  await long.outcomes;
});

it('runs a part of a sweep again with twice as much as it was refused', async () => {
  const admission = new Admission({ threads: 2, reliefThreads: 0, quickThreads: 0, memoryBytes: POOL_MIB * MIB });
  const other = await admission.enter({ owner: 'b', bytes: 45 * MIB });
  const answers: (string | undefined)[] = [];
  const dispatch: Dispatch = async ({ mayTake, control }) => {
    expect(control.begin(0)).toBe(true);
    answers.push(mayTake?.(0, 20 * MIB));
    control.end(0);
    if (answers.at(-1) === 'yes') return { kind: 'steps', outcomes: [] };
    other.leave();
    return { kind: 'failed', error: { code: 'RESOURCE_LIMIT', path: '', message: '' } };
  };
  const part = startPart(() => ({}) as ThreadMessage, { owner: 'a', bytes: 10 * MIB, admission, dispatch });
  expect(await part.outcome).toEqual({ kind: 'steps', outcomes: [] });
  expect(answers).toEqual(['later', 'yes']);
});

it('asks for twice as much after a refusal, and for no more than there is', () => {
  const memory = new RunMemory(10, 100, 2);
  const refusing = { leave: () => {}, raise: () => false };
  expect(memory.answer(20, refusing)).toBe('later');
  expect([memory.takeRefusal(), memory.takeRefusal()]).toEqual([true, false]);
  expect([memory.more, memory.bytes]).toEqual([40, 90]);
  expect(memory.answer(44, refusing)).toBe('later');
  expect(memory.bytes).toBe(100);
  expect(memory.answer(46, refusing)).toBe('never');
});

it('asks again for what it was refused, and not for what it was given', () => {
  const control = BatchControl.create(1);
  control.grant(0, 10);
  const answers: MemoryAnswer[] = ['never', 'yes'];
  const asked: number[] = [];
  const answer = (_: number, bytes: number): MemoryAnswer => {
    asked.push(bytes);
    return answers.shift()!;
  };
  const run = control.controlOf(0, () => control.answerAsk(answer));
  expect([10, 40, 30, 20].map((bytes) => run.mayTake!(bytes))).toEqual(['yes', 'never', 'yes', 'yes']);
  expect(asked).toEqual([40, 30]);
});

it('ends a backtest that makes too many trades with an error that says so', async () => {
  const always = compare(market(), 'gt', 0);
  const { task: other } = poolRun();
  const feeModel = { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] };
  const config = { ...configOf(), execution: { ...configOf().execution, feeModel } } as typeof other.config;
  const task = { ...other, strategyAst: astOf({ entry: entry(always), exits: [exit(always)] }), config };
  const batch = { snapshots: [dailySnapshot(60_000)], runs: [{ task, snapshots: [0], memoryBytes: 14 * MIB }] };
  const outcomes: Outcome[] = [];
  for (const memoryBytes of [40 * MIB, 400 * MIB]) {
    await using pool = createPool({ threads: 1, memoryBytes, keepsColumns: false });
    outcomes.push(...(await pool.run(batch).outcomes));
  }
  expect(outcomes.map(outcomeOf)).toEqual(['RESOURCE_LIMIT', 'completed']);
  expect(outcomes[0]).toMatchObject({ error: { message: expect.stringMatching(/makes more than [\d,]+ trades/) } });
});
