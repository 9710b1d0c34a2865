// The shards of sweeps in the database: whose turn it is, and that claims and ends of one sweep never lock each other
// out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimShard, completeSweep, finishShard, takeOverShards } from '../../src/db/sweepShards.ts';
import type { ShardClaim } from '../../src/db/sweepShards.ts';
import { cancelSweep } from '../../src/db/sweeps.ts';
import type { Sql, Transaction } from '../../src/db/connect.ts';
import { eventually } from '../support/eventually.ts';
import { createSweepApi, type SweepApi, type SweepClient } from '../support/sweepApi.ts';

let sweeps: SweepApi;
let sql: Sql;
let client: SweepClient;
beforeAll(async () => {
  sweeps = await createSweepApi();
  ({ sql } = sweeps.api.services);
  client = await sweeps.client();
});
afterAll(() => sweeps[Symbol.asyncDispose]());

/** A process that is not registered is one that has died. */
const DEAD = '00000000-0000-4000-8000-000000000001';
const claim = async (): Promise<ShardClaim> => (await claimShard(sql, DEAD))!;
const virtualTime = async ({ workspaceId }: SweepClient): Promise<number> => {
  const [turn] = await sql<{ at: number }[]>`
    select virtual_time as at from workspace_turns where workspace_id = ${workspaceId}`;
  return turn.at;
};

describe('the turn of a workspace with sweeps', () => {
  it('alternates with that of a newcomer, which starts where the others are', async () => {
    const first = await client.start();
    await claim();
    const newcomer = await sweeps.client();
    const second = await newcomer.start();
    expect(await virtualTime(newcomer)).toBe(await virtualTime(client));
    const order = [await claim(), await claim(), await claim(), await claim()].map(({ sweepId }) => sweepId);
    expect(order).toEqual([first, second, first, second]);
    await sql`delete from sweeps`;
  });

  it('is where the backtests of a newcomer start', async () => {
    await client.start();
    await claim();
    const newcomer = await sweeps.client();
    const { strategyVersionId } = newcomer;
    const config = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000, execution: FREE };
    expect((await newcomer.post('/backtests', { strategyVersionId, config })).status).toBe(201);
    expect(await virtualTime(newcomer)).toBe(await virtualTime(client));
    await sql`delete from sweeps`;
  });
});

const FREE = {
  feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] },
  slippage: { kind: 'none' },
};

describe('a sweep that ends while something else changes its shards', () => {
  const bytes = new Uint8Array(8);
  const finished = { bytes, best: null, sign: 1, next: null } as const;
  const changes: readonly (readonly [string, (held: ShardClaim) => Promise<unknown>])[] = [
    ['a claim', () => claimShard(sql, DEAD)],
    ['the end of a shard', (held) => sql.begin((tx) => finishShard(tx, held, finished))],
    ['its completion', (held) => sql.begin((tx) => completeSweep(tx, held, { trials: 1, result: {}, page: bytes }))],
    ['a takeover', () => sql.begin((tx) => takeOverShards(tx))],
  ];

  it.each(changes)('waits for %s, or the other way around, and neither fails', async (_name, change) => {
    const id = await client.start();
    const held = await claim();
    let changing: Promise<unknown> | undefined;
    await sql.begin(async (tx) => {
      await tx`select 1 from sweeps where id = ${id} for no key update`;
      const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
      changing = change(held);
      changing.catch(() => {});
      await eventually(() => isWaitedFor(pid));
      expect(await cancelSweep(tx, client.workspaceId, id)).toBe(true);
    });
    await changing;
    expect(await shardCount(sql, id)).toBe(0);
    expect((await client.get(`/sweeps/${id}`)).body.status).toBe('cancelled');
  });
});

/** Whether a session waits for a lock that `pid` holds. */
async function isWaitedFor(pid: number): Promise<boolean> {
  const waiting = await sql`select 1 from pg_stat_activity where ${pid} = any (pg_blocking_pids(pid))`;
  return waiting.length > 0;
}

async function shardCount(from: Sql | Transaction, id: string): Promise<number> {
  const [{ count }] = await from<[{ count: number }]>`
    select count(*)::int as count from sweep_shards where sweep_id = ${id}`;
  return count;
}
