// Graphile Worker in a process that outlives it: when a lost database has ended its runner, another takes its place.
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { socketUrl } from '../../src/db/connect.ts';
import { startGraphile } from '../../src/jobs/graphile.ts';
import { Outages } from '../../src/jobs/outages.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { quiet } from '../support/queue.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** A socket in front of the database's own, which can be taken away and put back. */
async function openGate() {
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-gate-'));
  const { hostname, username, pathname } = new URL(database.url);
  const url = socketUrl(folder, username, pathname.slice(1));
  const behind = join(decodeURIComponent(hostname), '.s.PGSQL.5432');
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(behind);
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
  }); // prettier-ignore
  const open = () => new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve));
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await closed;
  };
  await open();
  return {
    url,
    open,
    close,
    [Symbol.asyncDispose]: async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const addJob = (name: string) =>
  database.sql`select 1 from graphile_worker.add_job('note', ${JSON.stringify({ name })}::text::json)`;

it('starts another runner at once when the end of a job could not be written, and goes on with the work', async () => {
  await using gate = await openGate();
  const outages = new Outages(gate.url, quiet);
  const done: string[] = [];
  let isClosed = false;
  const isHeld = Promise.withResolvers<void>();
  const taskList = {
    note: async (payload: unknown) => {
      const { name } = payload as { name: string };
      // The job is done, but the database that should hear of it is gone.
      if (name === 'last' && !isClosed) {
        isClosed = true;
        await gate.close();
      }
      done.push(name);
      // A runner that ends by itself waits for its jobs; nobody should wait for it.
      if (name === 'held') await isHeld.promise;
    },
  };
  const settings = { url: gate.url, tickets: 2, taskList, stopWithinMs: 600_000 };
  const graphile = await startGraphile(settings, outages, quiet);
  let failure: unknown = 'none';
  graphile.failed.catch((error: unknown) => (failure = error));
  const first = graphile.poolId;
  await addJob('first');
  await eventually(() => done.includes('first'));
  await addJob('held');
  await eventually(() => done.includes('held'));
  await addJob('last');
  await eventually(() => isClosed && done.includes('last'));
  expect(graphile.poolId).toBe(first);
  await gate.open();
  await eventually(() => graphile.poolId !== first);
  await addJob('next');
  await eventually(() => done.includes('next'));
  expect(failure).toBe('none');
  isHeld.resolve();
  await graphile.stop();
  outages.close();
  // Set by Graphile, for a process of its own.
  process.exitCode = undefined;
});
