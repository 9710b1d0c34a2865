// A queue for tests: workspaces, a ready version, snapshots on disk, backtests of the stand-in engine, and workers that
// run them.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { insertBacktests } from '../../src/db/backtests.ts';
import type { NewBacktest } from '../../src/db/backtests.ts';
import type { Sql } from '../../src/db/connect.ts';
import { insertStrategy } from '../../src/db/strategies.ts';
import { insertSweep, type NewSweep } from '../../src/db/sweeps.ts';
import { finalizeVersion } from '../../src/db/strategyVersions.ts';
import { insertWorkspace } from '../../src/db/workspaces.ts';
import { startWorker } from '../../src/jobs/runner.ts';
import type { Worker, WorkerSettings } from '../../src/jobs/runner.ts';
import { SnapshotFiles } from '../../src/market/snapshotFiles.ts';
import { SnapshotFolder } from '../../src/market/snapshotStorage.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import type { Tier } from '../../src/tiers.ts';
import { eventually } from './eventually.ts';
import { INSTRUMENT, STAND_IN_RUNNER, STRATEGY, SYMBOL, configOf, dailyColumns } from './runs.ts';

/** LOG_LEVEL=info shows what workers say. */
export const quiet = pino({ level: process.env.LOG_LEVEL ?? 'silent' });

export interface TestWorkspace {
  readonly workspaceId: string;
  readonly strategyId: string;
  readonly strategyVersionId: string;
}

export async function makeWorkspace(sql: Sql, tier: Tier = 'pro'): Promise<TestWorkspace> {
  const { id: workspaceId } = await insertWorkspace(sql, { name: 'test', tier });
  return sql.begin(async (tx) => {
    const content = { settings: {}, strategyAst: { ...STRATEGY }, signalGraph: null, strategyHash: 'strategy' };
    const strategy = await insertStrategy(tx, workspaceId, { name: 's', description: '', templateKey: null }, content);
    const version = await finalizeVersion(tx, workspaceId, strategy.id, strategy.versions[0], content, null);
    return { workspaceId, strategyId: strategy.id, strategyVersionId: version.id };
  });
}

export interface TestData extends AsyncDisposable {
  readonly folder: string;
  readonly sha256: string;
}

/** A folder with one snapshot of `bars` daily bars. */
export async function makeData(bars = 500): Promise<TestData> {
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-jobs-'));
  const about = { symbol: SYMBOL, timeframe: '1d', instrument: INSTRUMENT } as const;
  const { sha256 } = await new SnapshotFiles(new SnapshotFolder(folder)).write(dailyColumns(bars), about);
  return { folder, sha256, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

export const snapshotsIn = (folder: string): WorkerSettings['snapshots'] => {
  const files = new SnapshotFiles(new SnapshotFolder(folder));
  return () => ({ open: (names) => Promise.all(names.map((name) => files.open(name))) });
};

let made = 0;

/** One backtest for each of `params`; run keys differ unless `runKey` is given. */
export function newBacktests(
  workspace: TestWorkspace,
  data: Pick<TestData, 'sha256'>,
  params: readonly BacktestConfig['params'][],
  options: { readonly runKey?: string; readonly cost?: number } = {},
): NewBacktest[] {
  return params.map((each) => ({
    strategyId: workspace.strategyId,
    strategyVersionId: workspace.strategyVersionId,
    symbols: [SYMBOL],
    timeframe: '1d',
    config: configOf(each),
    snapshots: [data.sha256],
    runKey: options.runKey ?? `key-${made++}`,
    cost: options.cost ?? 500,
    memoryBytes: 0,
  }));
}

export async function enqueue(
  sql: Sql,
  workspace: TestWorkspace,
  data: Pick<TestData, 'sha256'>,
  params: readonly BacktestConfig['params'][],
  options: { readonly runKey?: string; readonly cost?: number } = {},
): Promise<string[]> {
  const items = newBacktests(workspace, data, params, options);
  return (await sql.begin((tx) => insertBacktests(tx, workspace.workspaceId, items))).map((row) => row.id);
}

/** Queues a sweep of the stand-in engine, whose shards run until they are stopped. @returns its id */
export async function enqueueSweep(
  sql: Sql,
  workspace: TestWorkspace,
  data: Pick<TestData, 'sha256'>,
  shards: number,
): Promise<string> {
  const sweep: NewSweep = {
    strategyId: workspace.strategyId,
    strategyVersionId: workspace.strategyVersionId,
    spec: { config: configOf(), space: {}, method: 'grid', seed: 1 },
    markets: [{ symbol: SYMBOL, timeframe: '1d', snapshots: [data.sha256] }],
    variants: shards,
    indexes: shards,
    shards: Array.from({ length: shards }, (_, first) => ({ first, last: first + 1, cost: 1e9 })),
  };
  return (await sql.begin((tx) => insertSweep(tx, workspace.workspaceId, sweep))).id;
}

export const startTestWorker = (url: string, data: TestData, threads = 2): Promise<Worker> =>
  startWorker({ url, threads, snapshots: snapshotsIn(data.folder), pool: { runner: STAND_IN_RUNNER } }, quiet);

/**
 * A worker in a process of its own, to be killed. Resolves when it is ready.
 * @param finishMs how long runs may take to finish when it stops; absent: as long as in operation
 */
export async function spawnWorker(url: string, data: TestData, finishMs?: number): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./standInWorker.ts', import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      TEST_URL: url,
      TEST_DATA: data.folder,
      TEST_THREADS: '2',
      ...(finishMs && { TEST_FINISH_MS: String(finishMs) }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [ready] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code, signal]) => {
      throw new Error(`The worker ended with ${code ?? signal} before it was ready`);
    }),
  ])) as [Buffer];
  if (!String(ready).includes('ready')) throw new Error(`The worker said: ${String(ready)}`);
  return child;
}

export async function killWorker(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exited)[0];
}

export async function countByStatus(sql: Sql, workspaceId?: string): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count
    from (
      select workspace_id, status from backtest_results
      union all select workspace_id, case when claimed_by is null then 'queued' else 'running' end from backtest_queue
    ) as backtest
    where ${workspaceId ? sql`workspace_id = ${workspaceId}` : sql`true`} group by status`;
  return Object.fromEntries(rows.map((row) => [row.status, row.count]));
}

/** Waits until nothing is queued or running. */
export const settled = (sql: Sql): Promise<true> =>
  eventually(
    async () => {
      const { queued = 0, running = 0 } = await countByStatus(sql);
      return queued + running === 0;
    },
    { what: 'no backtest queued or running' },
  );
