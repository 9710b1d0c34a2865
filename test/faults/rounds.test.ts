// Faults under load: processes killed, Postgres killed, stopped, cut off, away and out of disk, while clients queue
// backtests. Every acknowledged backtest ends once, with the result of an undisturbed run, and no process dies that was
// not killed. Each kind of fault happens at least once, with short outages; `npm run test:long` does forty rounds and
// checks how soon work goes on.
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import type { Sql } from '../../src/db/connect.ts';
import { decodeDetail } from '../../src/engine/pool/result.ts';
import { eventually } from '../support/eventually.ts';
import { isLong, seededRandom } from '../support/scale.ts';
import { ServedService } from '../support/servedService.ts';
import { CROSSING } from '../support/sweeps.ts';
import { makeKey, makeTenant } from '../support/tenants.ts';
import { Traffic } from '../support/traffic.ts';

const SEED = Number(process.env.FAULT_SEED ?? 20_261_122);
/** A database, the market data and the log of forty rounds; small enough to be filled in a moment. */
const DISK_BYTES = 1_500 << 20;
/** How soon work goes on once the database is back, or a process was killed, on a machine that is not busy. */
const GOES_ON_WITHIN_MS = 2_000;

let service: ServedService;
let sql: Sql;
beforeAll(async () => {
  service = await ServedService.open(DISK_BYTES);
  sql = connect(service.databaseUrl, { max: 2 });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await service[Symbol.asyncDispose]();
});

/** Seconds that Postgres is away, and that its disk is full. */
const OUTAGES_S = isLong ? [0.3, 3, 20] : [0.3, 2];
const DISK_FULL_S = isLong ? 3 : 1;

/** What happens in a round. */
interface Fault {
  readonly name: string;
  readonly happen: () => Promise<void>;
}

const outage = (seconds: number): Fault => ({
  name: `Postgres away for ${seconds} s`,
  happen: () =>
    service.withoutSupervisor(async () => {
      await service.stopPostgres('SIGINT');
      await sleep(seconds * 1_000);
    }),
});
const FAULTS: readonly Fault[] = [
  { name: 'kill -9 of the worker', happen: () => service.kill('worker') },
  {
    name: 'every session terminated',
    happen: async () => void (await service.terminateSessions(500)),
  },
  { name: 'kill -9 of everything', happen: () => service.killAll().then(() => service.start()) },
  { name: 'fast shutdown of Postgres', happen: () => service.stopPostgres('SIGINT') },
  { name: 'kill -9 of the API', happen: () => service.kill('api') },
  { name: 'kill -9 of Postgres', happen: () => service.stopPostgres('SIGKILL') },
  {
    name: 'one session terminated',
    happen: async () => void (await service.terminateSessions(1)),
  },
  { name: `disk full for ${DISK_FULL_S} s`, happen: fillDisk },
  ...OUTAGES_S.map(outage),
];
const ROUNDS = isLong ? 40 : FAULTS.length;

async function fillDisk(): Promise<void> {
  if (!service.hasOwnDisk) return;
  const path = join(service.folder, 'filler');
  const filler = openSync(path, 'w');
  const block = Buffer.alloc(1 << 20);
  const end = performance.now() + DISK_FULL_S * 1_000;
  // Postgres frees files of its log now and then; what it frees is taken as well.
  while (performance.now() < end) {
    try {
      writeSync(filler, block);
    } catch {
      await sleep(20);
    }
  }
  closeSync(filler);
  rmSync(path);
}

interface Row {
  readonly round: number;
  readonly fault: string;
  /** ms from the fault to the first answer of the database, from there to the first new run that ended, and to 201. */
  readonly databaseBackMs: number;
  readonly runsAfterMs: number;
  readonly acceptsAfterMs: number;
  readonly acknowledged: number;
  /** Processes that wait for a core, per core. */
  readonly load: number;
}

it(
  `loses, doubles and changes nothing in ${ROUNDS} rounds of faults under load (seed ${SEED})`,
  { timeout: 3_600_000 },
  async () => {
    const tenant = await makeTenant(sql, 'pro');
    const { workspaceId } = tenant;
    const apiKey = await makeKey(sql, tenant);
    const strategyVersionId = await readyVersion(apiKey);
    const traffic = new Traffic(service.url, apiKey, strategyVersionId);
    const random = seededRandom(SEED);
    const rows: Row[] = [];
    await eventually(() => traffic.acknowledged.length > 50);
    for (const [round, fault] of inRandomOrder(ROUNDS, random).entries()) {
      await noCrashSuspects(workspaceId);
      await sleep((isLong ? 500 : 0) + random() * (isLong ? 1_500 : 500));
      rows.push(await oneRound(round, fault, traffic));
    }
    await traffic.stop();
    await eventually(async () => (await openCount(workspaceId)) === 0, { what: 'all backtests ended', ms: 600_000 });
    report(rows, traffic);

    expect(new Set(rows.map(({ fault }) => fault)).size).toBe(FAULTS.length);
    expect(service.deaths).toEqual([]);
    expect(traffic.unexpected).toEqual([]);
    const ids = new Set(traffic.acknowledged.map(({ id }) => id));
    expect(ids.size).toBe(traffic.acknowledged.length);
    // A second end of one would be a second row of it in backtest_results, which its primary key refuses.
    const stored = await sql<{ id: string; status: string | null; error: object | null }[]>`
      select id, status, error from backtests left join backtest_results using (id)
      where backtests.workspace_id = ${workspaceId}`;
    // Every request was repeated until it was acknowledged: a row beyond those would be one that was made twice.
    expect(stored.filter(({ id }) => !ids.has(id))).toEqual([]);
    expect(stored).toHaveLength(ids.size);
    expect(stored.filter(({ status }) => status !== 'completed')).toEqual([]);
    const [turn] = await sql`select due, open from workspace_turns where workspace_id = ${workspaceId}`;
    expect(turn).toMatchObject({ due: 0, open: 0 });
    expect(await differingResults(workspaceId)).toEqual([]);
    if (!isLong) return;
    const late = rows.filter(
      ({ runsAfterMs, acceptsAfterMs, load }) =>
        Math.max(runsAfterMs, acceptsAfterMs) > GOES_ON_WITHIN_MS * Math.max(1, load),
    );
    expect(late).toEqual([]);
  },
);

/** Every kind once, shuffled, and again. */
function inRandomOrder(rounds: number, random: () => number): Fault[] {
  const order: Fault[] = [];
  while (order.length < rounds) {
    const left = [...FAULTS];
    while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return order.slice(0, rounds);
}

async function oneRound(round: number, fault: Fault, traffic: Traffic): Promise<Row> {
  const begun = performance.now();
  await fault.happen();
  const backAt = await databaseBack();
  const back = performance.now();
  const before = traffic.acknowledged.length;
  let acceptedAt = 0;
  let ranAt = 0;
  await eventually(
    async () => {
      acceptedAt ||= traffic.acknowledged.length > before ? performance.now() : 0;
      ranAt ||= (await hasRunSince(backAt)) ? performance.now() : 0;
      return acceptedAt > 0 && ranAt > 0;
    },
    { what: `work after "${fault.name}" in round ${round}` },
  );
  // Bounds the log on the small disk.
  await sql`checkpoint`.catch(() => {});
  return {
    round,
    fault: fault.name,
    databaseBackMs: Math.round(back - begun),
    runsAfterMs: Math.round(ranAt - back),
    acceptsAfterMs: Math.round(acceptedAt - back),
    acknowledged: traffic.acknowledged.length,
    load: Number((loadavg()[0] / availableParallelism()).toFixed(1)),
  };
}

/** Waits for a database that answers and can be written to. @returns its time */
function databaseBack(): Promise<Date> {
  return eventually(async () => {
    const probe = connect(service.databaseUrl, { max: 1 });
    try {
      const [{ at }] = await probe<[{ at: Date }]>`select clock_timestamp() as at from txid_current()`;
      return at;
    } catch {
      return null;
    } finally {
      await probe.end({ timeout: 0 });
    }
  });
}

async function hasRunSince(at: Date): Promise<boolean> {
  const rows = await sql`
    select 1 from backtest_results where started_at > ${at} and status = 'completed' limit 1`.catch(() => []);
  return rows.length > 0;
}

/** What a killed worker leaves behind runs alone, which is slow on purpose; no round starts in the wake of another. */
const noCrashSuspects = (workspaceId: string): Promise<true> =>
  eventually(
    async () => {
      const rows = await sql`
        select 1 from backtest_queue where workspace_id = ${workspaceId} and kills > 0 limit 1`;
      return rows.length === 0;
    },
    { what: 'the crash suspects ended', ms: 600_000 },
  );

async function openCount(workspaceId: string): Promise<number> {
  const [{ open }] = await sql<[{ open: number }]>`
    select count(*)::int as open from backtest_queue where workspace_id = ${workspaceId}`;
  return open;
}

/** Runs every backtest again for another workspace, which nothing disturbs and which shares no results. */
async function differingResults(workspaceId: string): Promise<object[]> {
  const again = await makeTenant(sql, 'pro');
  const apiKey = await makeKey(sql, again);
  const strategyVersionId = await readyVersion(apiKey);
  const configs = await sql<{ config: object }[]>`select config from backtests where workspace_id = ${workspaceId}`;
  for (let at = 0; at < configs.length; at += 500) {
    const items = configs.slice(at, at + 500).map(({ config }) => ({ strategyVersionId, config }));
    const { accepted } = (await post(apiKey, '/backtests/batch', { items })) as { accepted: number };
    expect(accepted).toBe(items.length);
    await eventually(async () => (await openCount(again.workspaceId)) === 0, {
      what: 'the undisturbed runs',
      ms: 600_000,
    });
  }
  const [disturbed, undisturbed] = [await resultHashes(workspaceId), await resultHashes(again.workspaceId)];
  expect(undisturbed.size).toBe(configs.length);
  return [...undisturbed].filter(([balance, hash]) => disturbed.get(balance) !== hash).slice(0, 5);
}

/** By what tells the backtests apart. */
async function resultHashes(workspaceId: string): Promise<Map<string, string>> {
  const rows = await sql<{ balance: string; detail: Uint8Array }[]>`
    select config ->> 'initialBalance' as balance, detail from backtests join backtest_details using (id)
    where workspace_id = ${workspaceId}`;
  return new Map(rows.map(({ balance, detail }) => [balance, decodeDetail(detail).reproducibility.resultHash]));
}

async function readyVersion(apiKey: string): Promise<string> {
  const payload = { settings: {}, strategyAst: CROSSING };
  const { id } = (await post(apiKey, '/strategies', { name: 'crossing', ...payload })) as { id: string };
  return ((await post(apiKey, `/strategies/${id}/versions/finalize`, payload)) as { id: string }).id;
}

async function post(apiKey: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${service.url}/public/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

function report(rows: readonly Row[], { acknowledged, statuses }: Traffic): void {
  const { bavail, bsize } = statfsSync(service.folder);
  const freeMiB = Math.round((bavail * bsize) / 2 ** 20);
  console.table(rows);
  console.log(
    `${acknowledged.length} backtests acknowledged; answers by status (0: none came):`,
    Object.fromEntries([...statuses].toSorted(([a], [b]) => a - b)),
    `disk ${service.hasOwnDisk ? 'of its own' : 'shared, so it was never filled'}, ${freeMiB} MiB free`,
  );
}
