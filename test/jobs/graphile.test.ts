// Graphile Worker in a process that keeps it running: its connections wait for a database that is away, and when a lost
// connection has ended its runner, another takes its place.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGraphile } from '../../src/jobs/graphile.ts';
import type { Graphile } from '../../src/jobs/graphile.ts';
import { Outages } from '../../src/jobs/outages.ts';
import { DatabaseGate } from '../support/databaseGate.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { quiet } from '../support/queue.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

interface Running extends AsyncDisposable {
  readonly graphile: Graphile;
  readonly gate: DatabaseGate;
  /** Names of the jobs that were begun. */
  readonly begun: string[];
  /** Why it ended. */
  failure: unknown;
}

/** @param onJob what a job does after it has been noted */
async function startBehindGate(onJob: (name: string) => Promise<void> = async () => {}): Promise<Running> {
  const gate = await DatabaseGate.before(database.url);
  const outages = new Outages(gate.url, quiet);
  const begun: string[] = [];
  const taskList = {
    note: async (payload: unknown) => {
      const { name } = payload as { name: string };
      begun.push(name);
      await onJob(name);
    },
  };
  const graphile = await startGraphile({ url: gate.url, tickets: 2, taskList, stopWithinMs: 600_000 }, outages, quiet);
  const running: Running = {
    graphile,
    gate,
    begun,
    failure: 'none',
    [Symbol.asyncDispose]: async () => {
      await graphile.stop();
      outages.close();
      await gate[Symbol.asyncDispose]();
      // Set by Graphile, for a process of its own.
      process.exitCode = undefined;
    },
  };
  graphile.failed.catch((error: unknown) => (running.failure = error));
  return running;
}

const addJob = (name: string) =>
  database.sql`select 1 from graphile_worker.add_job('note', ${JSON.stringify({ name })}::text::json)`;

async function run({ begun }: Running, name: string, ms?: number): Promise<void> {
  await addJob(name);
  await eventually(() => begun.includes(name), { what: `job ${name}`, ...(ms !== undefined && { ms }) });
}

it('starts another runner at once when the end of a job could not be written, and goes on with the work', async () => {
  const isHeld = Promise.withResolvers<void>();
  // A runner that ends by itself waits for its jobs; nobody should wait for it.
  await using running = await startBehindGate(async (name) => (name === 'held' ? isHeld.promise : undefined));
  const { graphile, gate } = running;
  const first = graphile.poolId;
  await run(running, 'held');
  expect(graphile.poolId).toBe(first);
  // The job is done, but the connection that should say so is lost as it does.
  gate.breakAt('complete_job');
  await run(running, 'last');
  await eventually(() => graphile.poolId !== first);
  await run(running, 'next');
  expect(running.failure).toBe('none');
  isHeld.resolve();
});

// Graphile Worker by itself looks again after 1.5 to 4.5 s, then after 2.3 to 6.8 and so on: the ninth time it is
// refused after six seconds, the listener's connections included.
it('looks for work at once when a database that was starting up answers', async () => {
  await using running = await startBehindGate();
  await run(running, 'first');
  running.gate.restart(10);
  await run(running, 'next', 6_000);
  expect(running.gate.isOpen).toBe(true);
});

it('starts another runner when the first look for work has failed, after which it fails for good', async () => {
  await using running = await startBehindGate();
  await run(running, 'first');
  // The second is what the next runner looks up first.
  running.gate.breakAt('complete_job', '_private_tasks');
  await run(running, 'second');
  await eventually(() => running.gate.isOpen);
  await run(running, 'third');
  expect(running.gate.isOpen).toBe(true);
  expect(running.failure).toBe('none');
});
