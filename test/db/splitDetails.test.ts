// Migration 0015: a database as it was before it, with a backtest in every state, is read as before afterwards.
import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { claimDue } from '../../src/db/claims.ts';
import { listBacktests } from '../../src/db/backtestLists.ts';
import { findBacktest, readTrades } from '../../src/db/backtests.ts';
import { migrate } from '../../src/db/migrate.ts';
import { decodeDetail, decodeTrades } from '../../src/engine/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { migrateBefore } from '../support/oldDatabase.ts';
import { makeWorkspace } from '../support/queue.ts';

const FIRST_SPLIT = '0015_result_tables.sql';

it('keeps backtests of every state, and takes the trades out of stored results', async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  await migrateBefore(sql, FIRST_SPLIT);
  const { workspaceId, strategyId, strategyVersionId } = await makeWorkspace(sql);
  const trades = Array.from({ length: 12_000 }, (_, index) => ({ positionId: index, pnl: index / 7 }));
  const summary = { strategyTrace: { diagnosis: [{ code: 'OK' }] }, equityPreview: [1, 2.5] };
  const detail = zstdCompressSync(JSON.stringify({ summary, trades }));
  const about = { workspace_id: workspaceId, strategy_id: strategyId, strategy_version_id: strategyVersionId };
  const common = { ...about, symbol: 'SPX', timeframe: '1d', snapshots: ['a'], run_key: 'key', cost: 10 };
  const insert = async (more: object): Promise<string> => {
    const row = { ...common, config: sql.json({ params: { fast: 3 } }), ...more };
    const [{ id }] = await sql<[{ id: string }]>`insert into backtests ${sql(row)} returning id`;
    return id;
  };
  const queued = await insert({});
  const running = await insert({ status: 'running', claimed_by: workspaceId, attempt: 2, started_at: new Date() });
  const cancelled = await insert({ status: 'cancelled', finished_at: new Date() });
  const failed = await insert({ status: 'failed', finished_at: new Date(), error: sql.json({ code: 'TIME_LIMIT' }) });
  const completed = await insert({
    status: 'completed',
    finished_at: new Date(),
    summary: sql.json({ returnPct: 0.5 }),
    detail,
    resolved_config: sql.json({ leverage: 1 }),
    reproducibility: sql.json({ resultHash: 'hash' }),
    warnings: sql.json([{ code: 'TOO_FEW_TRADES', message: 'few' }]),
  });

  expect(await migrate(sql)).toContain(FIRST_SPLIT);

  const find = async (id: string) => (await findBacktest(sql, workspaceId, id))!;
  expect(await find(queued)).toMatchObject({ status: 'queued', queuePosition: 0, config: { params: { fast: 3 } } });
  expect(await find(running)).toMatchObject({ status: 'running', queuePosition: null });
  expect(await find(cancelled)).toMatchObject({ status: 'cancelled', detail: null });
  expect(await find(failed)).toMatchObject({ status: 'failed', error: { code: 'TIME_LIMIT' } });
  const found = await find(completed);
  expect(found).toMatchObject({ status: 'completed', summary: { returnPct: 0.5 } });
  expect(decodeDetail(found.detail!)).toEqual({
    summary,
    warnings: [{ code: 'TOO_FEW_TRADES', message: 'few' }],
    resolvedConfig: { leverage: 1 },
    reproducibility: { resultHash: 'hash' },
  });
  const parts = [...decodeTrades((await readTrades(sql, completed))!)];
  expect(parts.map((part) => part.length)).toEqual([5_000, 5_000, 2_000]);
  expect(parts.flat()).toEqual(trades);
  const page = { limit: 10, after: null, order: { name: 'createdAt', descending: false } };
  const { rows } = await listBacktests(sql, workspaceId, {}, page);
  expect(rows.map(({ row }) => row.status)).toEqual(['queued', 'running', 'cancelled', 'failed', 'completed']);
  expect(rows[4].row.warnings).toEqual(['TOO_FEW_TRADES']);
  const [stored] = await sql`select octet_length(detail) + octet_length(trades) as bytes from backtest_details`;
  expect(await sql`select due, open, result_bytes as bytes from workspace_turns`).toMatchObject([
    { due: 1, open: 2, bytes: stored.bytes },
  ]);
  // Its equal run is stored, so it is answered by a copy.
  expect(await claimDue(sql, workspaceId, 10, 1e9)).toMatchObject({ runs: [], copiedIds: [queued] });
  expect(await sql`select to_regclass('unsplit_details') as left`).toEqual([{ left: null }]);
});
