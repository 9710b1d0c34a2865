// The real engine through pool, queue and Postgres: the same bytes on any number of threads and after being stored and
// read.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentView } from '../../src/api/backtests/agentView.ts';
import { detailBody } from '../../src/api/backtests/backtestBodies.ts';
import { findBacktest, readTrades } from '../../src/db/backtests.ts';
import {
  STATISTIC_POSITIONS,
  canonicalJson,
  createMarket,
  createPool,
  decodeDetail,
  decodeTrades,
  runBacktest,
  shownSummary,
} from '../../src/engine/index.ts';
import type { BacktestTask, Snapshot, StrategyAst } from '../../src/engine/index.ts';
import { ROOT } from '../../src/config.ts';
import { openCatalog } from '../../src/market/catalog.ts';
import { importShipped } from '../../src/market/shipped.ts';
import { shippedData } from '../support/shippedData.ts';
import { createTestDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { astOf, cross, entry, exit, sma, type Json } from '../support/builders.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { enqueue, makeWorkspace, settled } from '../support/queue.ts';
import { configOf } from '../support/runs.ts';
import { storedSummary } from '../support/summaries.ts';

const crossed = (op: string): Json => cross(sma(10), op, sma(30));
const STRATEGY: StrategyAst = astOf({
  entry: entry(crossed('cross_up'), { action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } } }),
  exits: [exit(crossed('cross_down'))],
  risk: { stopLoss: { mode: 'percent', value: 5 } },
});
const config = { ...configOf(), signalInstrument: { symbol: 'SPX' } };
const task: BacktestTask = { id: 'x', strategyAst: STRATEGY, settings: {}, config, strategyHash: 'strategy' };

let snapshots: readonly Snapshot[];
let expected: { summary: string; trades: string; resultHash: string };
beforeAll(async () => {
  snapshots = await (await shippedData()).snapshots('SPX', '1d');
  const outcome = runBacktest(task, createMarket(snapshots, 'SPX', '1d'), null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  expected = {
    summary: canonicalJson(outcome.summary),
    trades: canonicalJson(outcome.trades),
    resultHash: outcome.reproducibility.resultHash,
  };
});

describe('the pool', () => {
  it.each([1, 2, 4])('gives the same bytes on %i threads as a run in this thread', async (threads) => {
    await using pool = createPool({ threads, hasOneOwner: true });
    const indexes = snapshots.map((_, index) => index);
    const batch = { snapshots, runs: [task, task].map((each) => ({ task: each, snapshots: indexes })) };
    const batches = await Promise.all(Array.from({ length: threads * 2 }, () => pool.run(batch).outcomes));
    for (const outcome of batches.flat()) {
      if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
      const detail = decodeDetail(outcome.result.detail);
      expect(canonicalJson({ ...storedSummary(outcome.result), ...detail.summary })).toBe(expected.summary);
      expect(canonicalJson([...decodeTrades(outcome.result.trades)].flat())).toBe(expected.trades);
      expect(detail.reproducibility.resultHash).toBe(expected.resultHash);
    }
  });
});

describe('candlepool worker', () => {
  let database: TestDatabase;
  let folder: string;
  let worker: ChildProcess | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'candlepool-worker-'));
  });
  afterAll(async () => {
    // A failed assertion must not leave it running.
    worker?.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
    await database[Symbol.asyncDispose]();
  });

  it('runs what is queued, stores the bytes that the engine gives, and ends with 0 on SIGTERM', async () => {
    const { sql } = database;
    const catalog = openCatalog(sql, folder);
    await importShipped(catalog);
    const workspace = await makeWorkspace(sql);
    await sql`alter table strategy_versions disable trigger strategy_versions_ready_is_final`;
    await sql`update strategy_versions set strategy_ast = ${JSON.stringify(STRATEGY)}::text::json`;
    const read = await catalog.readable('SPX', '1d');
    const [id] = await enqueue(sql, workspace, { sha256: read[0].sha256 }, [{}]);
    await sql`update backtests set config = ${JSON.stringify(config)}::text::json`;
    const env = cleanEnvironment({ DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'silent' });
    const main = join(ROOT, 'src', 'main.ts');
    const child = spawn(process.execPath, [main, 'worker', '--threads', '1', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    worker = child;
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(String(line))).toMatchObject({ event: 'ready', threads: 1 });
    await settled(sql);
    const stored = (await findBacktest(sql, workspace.workspaceId, id, STATISTIC_POSITIONS))!;
    expect(stored.error).toBeNull();
    const body = detailBody(stored, { publicUrl: undefined });
    const summary = { ...stored.summary, ...decodeDetail(stored.detail!).summary };
    expect(canonicalJson(summary)).toBe(expected.summary);
    // Answers say the same in their own way.
    expect(canonicalJson(body.result!.summaryJson)).toBe(canonicalJson(shownSummary(JSON.parse(expected.summary))));
    const trades = [...decodeTrades((await readTrades(sql, id))!)].flat();
    expect(canonicalJson(trades)).toBe(expected.trades);

    for (const maxBytes of [1_000, 2_500, 8_000, 30_000]) {
      const view = agentView(body, maxBytes);
      expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThanOrEqual(maxBytes);
      const order = ['id', 'status', 'error', 'readFirst', 'diagnosis', 'funnel', 'rules', 'headline'];
      expect(Object.keys(view).slice(0, 8)).toEqual(order);
      expect(view.readFirst).toEqual(['/diagnosis', '/funnel', '/rules', '/headline']);
      expect(Object.keys(view.headline as object)).toContain('returnPct');
      expect((view.rules as unknown[]).length).toBeGreaterThan(0);
      expect(((view.nearMisses ?? []) as unknown[]).length).toBeLessThanOrEqual(3);
    }
    // Every number has at most six significant digits, or is whole.
    const numbers = JSON.stringify(agentView(body, 8_000)).match(/(?<![\w.:T-])-?\d+\.\d+(e-?\d+)?/g) ?? [];
    expect(numbers.length).toBeGreaterThan(0);
    for (const written of numbers) expect(Number(Number(written).toPrecision(6))).toBe(Number(written));

    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});
