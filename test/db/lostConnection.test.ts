// A database connection that dies under its user: errors that can be caught, transactions that commit whole or not at
// all.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import type { Queryable, Sql } from '../../src/db/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let database: TestDatabase;
let sql: Sql;
/** Connections of `sql` that have been closed. */
let closed = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table notes (id integer primary key)`;
  sql = connect(database.url, { max: 2, onClose: () => closed++ });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

/** Kills the backend of a connection of `sql`. Resolves when the pool has seen its end. */
async function killBackend(of: Queryable): Promise<void> {
  const [{ pid }] = await of<[{ pid: number }]>`select pg_backend_pid() as pid`;
  const before = closed;
  await database.sql`select pg_terminate_backend(${pid}, 5000)`;
  await eventually(() => closed > before);
}
const outcomeOf = (promise: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(promise).then(
    () => 'done',
    (error: unknown) => `rejected ${String((error as { code?: unknown }).code)}`,
  );
const disposable = (pool: Sql) => ({ sql: pool, [Symbol.asyncDispose]: () => pool.end({ timeout: 1 }) });
const noteIds = async () =>
  (await database.sql<{ id: number }[]>`select id from notes order by id`).map((row) => row.id);

describe('a transaction whose backend dies', () => {
  it('rejects, and the later statements of its callback are refused instead of committed one by one', async () => {
    await database.sql`delete from notes`;
    const later: string[] = [];
    const finished = Promise.withResolvers<void>();
    const transaction = sql.begin(async (tx) => {
      await tx`insert into notes values (1)`;
      await killBackend(tx);
      // A connection of the pool is open again by now: what is sent must not reach it.
      await outcomeOf(sql`select 1`);
      for (const id of [2, 3]) later.push(await outcomeOf(tx`insert into notes values (${id})`));
      finished.resolve();
    });
    expect(await outcomeOf(transaction)).toMatch(/^rejected /);
    await finished.promise;
    expect(later).toEqual(['rejected CONNECTION_CLOSED', 'rejected CONNECTION_CLOSED']);
    expect(await noteIds()).toEqual([]);
  });

  it('leaves the pool usable', async () => {
    for (let round = 0; round < 10; round++) {
      const transaction = sql.begin(async (tx) => {
        await killBackend(tx);
        await tx`select 1`;
      });
      expect(await outcomeOf(transaction)).toMatch(/^rejected /);
      expect(await outcomeOf(sql`select 1`)).toBe('done');
    }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => sql<[{ n: number }]>`select ${n}::int as n`),
    );
    expect(answers.map(([{ n }]) => n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });
});

describe('a reserved connection whose backend dies', () => {
  it('rejects every later query instead of ending the process', async () => {
    const reserved = await sql.reserve();
    await killBackend(reserved);
    for (let round = 0; round < 3; round++)
      expect(await outcomeOf(reserved`select 1`)).toBe('rejected CONNECTION_CLOSED');
    reserved.release();
    expect(await outcomeOf(sql`select 1`)).toBe('done');
  });
});

describe('a query on a pool whose backends are killed', () => {
  it('is answered or rejected, and never left pending', async () => {
    const begun = performance.now();
    let done = 0;
    let rejected = 0;
    /** On a busy machine it takes longer until a query is done between two kills. */
    const isOver = (): boolean => {
      const ms = performance.now() - begun;
      return ms > 60_000 || (ms > 1_500 && done > 0 && rejected > 0);
    };
    const query = async (): Promise<void> => {
      while (!isOver()) {
        if ((await outcomeOf(sql`select pg_sleep(0.002)`)) === 'done') done++;
        else rejected++;
      }
    };
    const transaction = async (): Promise<void> => {
      while (!isOver()) {
        const outcome = await outcomeOf(sql.begin(async (tx) => tx`select pg_sleep(0.001)`));
        if (outcome === 'done') done++;
        else rejected++;
      }
    };
    // A pool of one: the killer spares its own connection, and has no other that it could kill.
    await using killer = disposable(connect(database.url, { max: 1 }));
    const kill = async (): Promise<void> => {
      while (!isOver()) {
        await killer.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`;
        await sleep(20);
      }
    };
    await Promise.all([query(), query(), query(), transaction(), transaction(), kill()]);
    expect(done).toBeGreaterThan(0);
    expect(rejected).toBeGreaterThan(0);
    expect(await outcomeOf(sql`select 1`)).toBe('done');
  });
});

describe('a host that closes each connection without a word', () => {
  it('rejects a query and a reservation, and tries neither again', async () => {
    let connections = 0;
    const proxy = createServer((socket) => void (connections++, socket.destroy())).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    try {
      await using away = disposable(connect(`postgresql://u:p@127.0.0.1:${port}/x`, { max: 1 }));
      expect(await outcomeOf(away.sql.reserve())).toBe('rejected CONNECTION_CLOSED');
      expect(await outcomeOf(away.sql`select 1`)).toBe('rejected CONNECTION_CLOSED');
      await away.sql.end();
      expect(connections).toBe(2);
    } finally {
      proxy.close();
    }
  });
});
