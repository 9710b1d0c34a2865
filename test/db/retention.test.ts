// Retention: what is past its time goes, and nothing else, also when two prune at once or somebody reads meanwhile.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimDue, finishRuns } from '../../src/db/claims.ts';
import { deleteBacktest, findBacktest, readTrades } from '../../src/db/backtests.ts';
import { countExpired, deleteExpired, type RetentionLimits } from '../../src/db/retention.ts';
import { countEarlierTrials, type ShardClaim } from '../../src/db/sweepShards.ts';
import { openCatalog } from '../../src/market/catalog.ts';
import { importShipped } from '../../src/market/shipped.ts';
import { STATISTIC_POSITIONS } from '../../src/engine/index.ts';
import { callCommand } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { enqueue, makeWorkspace, type TestWorkspace } from '../support/queue.ts';
import { summaryBytes } from '../support/summaries.ts';

const WORKER = '0198c1de-7a5b-7c4e-9d0a-2f6b1c3d4e5f';
const bytes = Buffer.from('x');
const RESULT = { summary: summaryBytes({}), detail: bytes, trades: bytes, warnings: [], diagnosis: null };

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'candlepool-retention-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database[Symbol.asyncDispose]();
});
beforeEach(() => database.sql`delete from backtests`);

/** As many completed backtests, ended so many days ago, the oldest first. */
async function ended(workspace: TestWorkspace, daysAgo: readonly number[], sha256 = 'a'): Promise<string[]> {
  const { sql } = database;
  const ids = await enqueue(sql, workspace, { sha256 }, daysAgo.map(() => ({}))); // prettier-ignore
  const { runs } = await claimDue(sql, WORKER, ids.length, 1e12);
  const common = {
    status: 'completed',
    isCached: false,
    result: RESULT,
    error: null,
    barsDone: 1,
    barsTotal: 1,
  } as const;
  await finishRuns(sql, runs.map(({ id, attempt }) => ({ id, attempt, ...common }))); // prettier-ignore
  await sql`alter table backtest_results disable trigger backtest_results_are_final`;
  for (const [index, id] of ids.entries())
    await sql`
      update backtest_results set finished_at = now() - make_interval(days => ${daysAgo[index]}) where id = ${id}`;
  await sql`alter table backtest_results enable trigger backtest_results_are_final`;
  return ids;
}
const left = async (ids: readonly string[]): Promise<boolean[]> => {
  const rows = await database.sql<{ id: string }[]>`select id from backtests`;
  const found = new Set(rows.map((row) => row.id));
  return ids.map((id) => found.has(id));
};
const limits = (retentionDays: number, keptBacktests: number, keptSweeps = 10_000): RetentionLimits => {
  const all = { retentionDays: 10_000, keptBacktests: 10_000, keptSweeps: 10_000 };
  return { free: { retentionDays, keptBacktests, keptSweeps }, plus: all, pro: all };
};
const deleteBacktests = async (of: RetentionLimits, slice: number): Promise<number> =>
  (await deleteExpired(database.sql, of, slice)).backtests;

/** Sweeps that ended so many days ago, of so many trials each; a backtest's robustness check with `backtestId`. */
async function endedSweeps(
  workspace: TestWorkspace,
  daysAgo: readonly number[],
  { trials = 5, snapshots = ['a'], backtestId = null as string | null } = {},
): Promise<string[]> {
  const rows = await database.sql<{ id: string }[]>`
    insert into sweeps (
      workspace_id, strategy_id, strategy_version_id, status, spec, markets, snapshots, variants, indexes, trials,
      finished_at, backtest_id)
    select ${workspace.workspaceId}, ${workspace.strategyId}, ${workspace.strategyVersionId}, 'completed', '{}', '[]',
      ${snapshots}, 9, 9, ${backtestId === null ? trials : null}, now() - make_interval(days => days), ${backtestId}
    from unnest(${daysAgo as number[]}::integer[]) with ordinality as ended (days, at) order by at returning id`;
  for (const { id } of rows)
    await database.sql`
      insert into sweep_shards (sweep_id, ordinal, status, cost, rows) values (${id}, 0, 'done', 1, 'x')`;
  return rows.map(({ id }) => id);
}
/** What a sweep that begins now would count. */
const earlierTrials = (workspace: TestWorkspace, snapshots = ['a']): Promise<number> =>
  countEarlierTrials(database.sql, {
    ...workspace,
    snapshots,
    createdAt: new Date(Date.now() + 60_000),
    sweepId: WORKER,
  } as unknown as ShardClaim);

describe('retention', () => {
  it('deletes what is older than its tier keeps, with its result, and nothing of other tiers', async () => {
    const { sql } = database;
    const [free, pro] = [await makeWorkspace(sql, 'free'), await makeWorkspace(sql, 'pro')];
    const days = [40, 31, 29, 1];
    const [ofFree, ofPro] = [await ended(free, days), await ended(pro, days)];
    const [open] = await enqueue(sql, free, { sha256: 'a' }, [{}]);
    expect(await countExpired(sql, limits(30, 1_000))).toMatchObject([
      { workspaceId: free.workspaceId, tier: 'free', backtests: 2 },
    ]);
    expect(await deleteBacktests(limits(30, 1_000), 100)).toBe(2);
    expect(await deleteBacktests(limits(30, 1_000), 100)).toBe(0);
    expect(await left([...ofFree, ...ofPro, open])).toEqual([false, false, true, true, true, true, true, true, true]);
    expect(await readTrades(sql, ofFree[0])).toBeUndefined();
    expect(await readTrades(sql, ofFree[2])).toBeDefined();
    expect(await sql`select 1 from backtest_results where id = ${ofFree[1]}`).toHaveLength(0);
  });

  it('keeps the latest of a workspace that has more than its tier keeps, to the row', async () => {
    const { sql } = database;
    const free = await makeWorkspace(sql, 'free');
    // Several that ended in the same instant.
    const ids = await ended(free, [9, 8, 8, 8, 8, 2, 1]);
    expect(await deleteBacktests(limits(365, 4), 100)).toBe(3);
    const kept = await left(ids);
    expect(kept.filter(Boolean)).toHaveLength(4);
    expect([kept[0], kept[5], kept[6]]).toEqual([false, true, true]);
    expect(await deleteBacktests(limits(365, 4), 100)).toBe(0);
  });

  it('deletes exactly the same when four prune at once in small slices, and readers see all or nothing', async () => {
    const { sql } = database;
    const free = await makeWorkspace(sql, 'free');
    const ids = await ended(
      free,
      Array.from({ length: 60 }, (_, index) => (index < 45 ? 50 : 3)),
    );
    const done = new AbortController();
    const reading = (async () => {
      while (!done.signal.aborted)
        for (const id of ids.slice(30, 60)) {
          const found = await findBacktest(sql, free.workspaceId, id, STATISTIC_POSITIONS);
          if (found !== undefined) expect(found).toMatchObject({ status: 'completed', detail: bytes });
        }
    })();
    const prune = async (): Promise<number> => {
      for (let total = 0; ;) {
        const deleted = await deleteBacktests(limits(30, 1_000), 7);
        if (deleted === 0) return total;
        total += deleted;
      }
    };
    const deleted = await Promise.all([prune(), prune(), prune(), prune()]);
    done.abort();
    await reading;
    expect(deleted.reduce((sum, each) => sum + each)).toBe(45);
    expect(await left(ids)).toEqual(ids.map((_, index) => index >= 45));
  });

  const leftSweeps = async (ids: readonly string[]): Promise<boolean[]> => {
    const rows = await database.sql<{ id: string }[]>`select id from sweeps`;
    return ids.map((id) => rows.some((row) => row.id === id));
  };

  it('deletes sweeps by age and by number, with their rows, and no open one', async () => {
    const { sql } = database;
    const [free, pro] = [await makeWorkspace(sql, 'free'), await makeWorkspace(sql, 'pro')];
    const ofFree = await endedSweeps(free, [40, 31, 29, 3, 2, 1]);
    const ofPro = await endedSweeps(pro, [40]);
    const [{ id: open }] = await sql<[{ id: string }]>`
      insert into sweeps (
        workspace_id, strategy_id, strategy_version_id, spec, markets, snapshots, variants, indexes, created_at)
      values (${free.workspaceId}, ${free.strategyId}, ${free.strategyVersionId}, '{}', '[]', '{a}', 1, 1,
        now() - interval '90 days')
      returning id`;
    expect(await countExpired(sql, limits(30, 1_000, 3))).toMatchObject([
      { workspaceId: free.workspaceId, backtests: 0, sweeps: 3 },
    ]);
    expect(await deleteExpired(sql, limits(30, 1_000), 100)).toEqual({ backtests: 0, sweeps: 2 });
    expect(await deleteExpired(sql, limits(30, 1_000, 3), 100, 1)).toEqual({ backtests: 0, sweeps: 1 });
    expect(await deleteExpired(sql, limits(30, 1_000, 3), 100, 1)).toEqual({ backtests: 0, sweeps: 0 });
    expect(await leftSweeps([...ofFree, ...ofPro, open])).toEqual([false, false, false, true, true, true, true, true]);
    expect(await sql`select 1 from sweep_shards where sweep_id = any (${ofFree})`).toHaveLength(3);
    await sql`delete from sweeps`;
  });

  it('deletes the robustness checks of a backtest with it', async () => {
    const { sql } = database;
    const free = await makeWorkspace(sql, 'free');
    const [old, recent] = await ended(free, [40, 1]);
    const checks = [
      ...(await endedSweeps(free, [1], { backtestId: old })),
      ...(await endedSweeps(free, [1], { backtestId: recent })),
    ];
    expect(await deleteBacktests(limits(30, 1_000), 100)).toBe(1);
    expect(await leftSweeps(checks)).toEqual([false, true]);
    await sql`delete from sweeps`;
  });

  it('keeps counting the trials that it deletes, each run key once', async () => {
    const { sql } = database;
    const free = await makeWorkspace(sql, 'free');
    await ended(free, [40, 40, 35, 1]);
    await ended(free, [50], 'b');
    // One that is equal to a backtest that stays, and two that are equal to each other.
    const equal = await ended(free, [45, 1, 44, 43]);
    await sql`update backtests set run_key = 'kept' where id = any (${equal.slice(0, 2)})`;
    await sql`update backtests set run_key = 'twice' where id = any (${equal.slice(2)})`;
    await endedSweeps(free, [40, 1]);
    await endedSweeps(free, [40], { snapshots: ['a', 'b'], trials: 7 });
    const counts = async () => [await earlierTrials(free), await earlierTrials(free, ['a', 'b'])];
    const before = await counts();
    expect(before).toEqual([6 + 10, 7 + 7]);
    while ((await deleteBacktests(limits(30, 1_000), 2)) > 0);
    await deleteExpired(sql, limits(30, 1_000), 100);
    expect(await countExpired(sql, limits(30, 1_000))).toEqual([]);
    expect(await counts()).toEqual(before);
    // The workspace's own deletions count as well, and nothing counts for another lineage.
    const [{ id }] = await sql<
      [{ id: string }]
    >`select id from backtests where workspace_id = ${free.workspaceId} limit 1`;
    expect(await deleteBacktest(sql, free.workspaceId, id)).toBe('deleted');
    expect(await counts()).toEqual(before);
    expect(await earlierTrials(await makeWorkspace(sql, 'free'))).toBe(0);
    await sql`delete from sweeps`;
  });
});

describe('snapshots that nothing refers to', () => {
  const make = () => openCatalog(database.sql, folder);
  const yesterday = () => database.sql.begin(async (tx) => {
    await tx`update snapshots set imported_at = now() - interval '2 days'`;
    await tx`update series set updated_at = now() - interval '2 days'`;
  }); // prettier-ignore
  const fileOf = (sha256: string): boolean => existsSync(join(folder, 'snapshots', `${sha256}.arrow`));

  it('go with their files a day after the series was removed, unless a backtest has pinned them', async () => {
    const { sql } = database;
    const catalog = make();
    await importShipped(catalog);
    const of = async (symbol: string): Promise<string> => (await catalog.readable(symbol, '1d'))[0].sha256;
    const [goog, ibm, spx] = [await of('GOOG'), await of('IBM'), await of('SPX')];
    const [pinned] = await ended(await makeWorkspace(sql), [1], ibm);
    expect(await catalog.prune()).toEqual([]);
    await catalog.remove('GOOG', '1d');
    await catalog.remove('IBM', '1d');
    // Removed today: a request may still be about to use it.
    expect(await catalog.prune()).toEqual([]);
    await yesterday();
    expect(await Promise.all([catalog.prune(), make().prune()]).then((both) => both.flat())).toMatchObject([
      { sha256: goog, symbol: 'GOOG', timeframe: '1d' },
    ]);
    expect([goog, ibm, spx].map(fileOf)).toEqual([false, true, true]);
    expect((await catalog.open([ibm, spx])).map(({ meta }) => meta.symbol)).toEqual(['IBM', 'SPX']);
    await sql`delete from backtests where id = ${pinned}`;
    expect(await catalog.prune()).toMatchObject([{ sha256: ibm }]);
    expect([goog, ibm, spx].map(fileOf)).toEqual([false, false, true]);
  });

  it('are there again when their series is imported while they are removed', async () => {
    const catalog = make();
    await importShipped(catalog);
    const [{ sha256 }] = await catalog.readable('MSFT', '1d');
    const [snapshot] = await catalog.open([sha256]);
    for (let round = 0; round < 5; round++) {
      await catalog.remove('MSFT', '1d');
      await yesterday();
      const again = openCatalog(database.sql, folder);
      const shipped = importAgain(again);
      await Promise.all([catalog.prune(), shipped]);
      const [entry] = await again.readable('MSFT', '1d');
      expect(entry.sha256).toBe(sha256);
      expect(fileOf(sha256)).toBe(true);
    }
    expect(snapshot.meta.symbol).toBe('MSFT');
    expect((await readdir(join(folder, 'snapshots'))).length).toBeGreaterThan(0);
  });

  async function importAgain(catalog: ReturnType<typeof make>): Promise<void> {
    await database.sql`delete from series where symbol = 'MSFT' and sha256 is null`;
    await importShipped(catalog);
  }
});

describe('candlepool prune', () => {
  it('says what it would delete, then deletes it and says so', async () => {
    const { sql, url } = database;
    const free = await makeWorkspace(sql, 'free');
    const ids = await ended(free, [400, 100, 2]);
    await endedSweeps(free, [100, 2]);
    const env = { DATABASE_URL: url, DATA_DIR: folder };
    const plan = await callCommand(['prune', '--dry-run'], env);
    const kept = '30 days, 10000 backtests, 500 sweeps';
    expect(plan.stdout).toContain(`${free.workspaceId} test (free: ${kept}): 2 backtests and 1 sweeps past that\n`);
    expect(plan.stdout).toMatch(/Would delete 2 backtests, 1 sweeps and \d+ snapshots of \d+ bytes\.\n$/);
    expect(await left(ids)).toEqual([true, true, true]);
    const done = await callCommand(['prune', '--json'], env);
    expect(JSON.parse(done.stdout)).toMatchObject({ dryRun: false, backtests: 2, sweeps: 1 });
    expect(await left(ids)).toEqual([false, false, true]);
    expect((await callCommand(['prune'], env)).stdout).toContain('Deleted 0 backtests');
  });
});
