// The queue: thousands of small backtests from four HTTP clients against a real `serve` with its embedded Postgres.
// Prints runs per second from the first accepted to the last ended, the processor time per run of each process, and
// the bytes stored and logged per run. Linux only. `--against DIR` alternates with another checkout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isolatedEnvironment } from '../src/config.ts';
import { connect, type Sql } from '../src/db/connect.ts';
import { removeEmbedded, startEmbedded } from '../src/db/embedded.ts';
import { commandLine, count, refuse } from './commandLine.ts';
import type { Measure } from './measure.ts';
import { readProcessTimes, type ProcessTime } from './processTimes.ts';
import { PAIRS } from './sweep.ts';

const HERE = resolve(import.meta.dirname, '..');
const CLIENTS = 4;
const BATCH = 500;
/** 2,148 daily bars. */
const SYMBOL = 'GOOG';
const POLL_MS = 20;
const READY_WITHIN_MS = 60_000;
/** Processes that take less than a twentieth of this time for themselves rest. */
const REST_MS = 1_000;

interface Options {
  readonly runs: number;
  /** Backtests that run before anything is measured, so that the processes are warm. */
  readonly warm: number;
}

export interface Server extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  readonly apiKey: string;
  /** The server's own database. */
  readonly sql: Sql;
}

export interface QueueMeasure {
  readonly checkout: string;
  readonly runs: number;
  readonly seconds: number;
  readonly runsPerSecond: number;
  /** Milliseconds of processor time per run. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly storedBytesPerRun: number;
  readonly walBytesPerRun: number;
  readonly statementsPerRun: number | null;
}

/** A `serve` of a checkout, with a database and a workspace of its own. */
export async function startServer(root = HERE): Promise<Server> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'candlepool-bench-'));
  // The series that were imported lie beside the database.
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  stack.defer(() => removeEmbedded(dataDir));
  const env = { ...isolatedEnvironment(dataDir), RATE_LIMITS: 'off' };
  const main = join(root, 'src', 'main.ts');
  // Started here, so that its settings can count statements; `serve` adopts it.
  const database = await startEmbedded(dataDir, { settings: { shared_preload_libraries: 'pg_stat_statements' } });
  stack.use(database);
  const sql = connect(database.url, { max: 1, applicationName: 'bench' });
  stack.defer(() => sql.end({ timeout: 2 }));
  await sql`create extension if not exists pg_stat_statements`;
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  stack.defer(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const url = await Promise.race([
    readyUrl(child.stdout!),
    once(child, 'exit').then(([code]) => {
      throw new Error(`serve of ${root} ended with ${code} before it was ready`);
    }),
  ]);
  const command = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await promisify(execFile)(process.execPath, [main, ...args, '--json'], { env })).stdout) as T;
  const { id } = await command<{ id: string }>('workspace', 'create', '--name', 'Bench', '--tier', 'pro');
  const { apiKey } = await command<{ apiKey: string }>('keys', 'create', '--workspace', id, '--name', 'bench');
  const opened = stack.move();
  return { pid: child.pid!, url, apiKey, sql, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  const late = AbortSignal.timeout(READY_WITHIN_MS);
  for await (const line of createInterface({ input: output, signal: late })) {
    const event = JSON.parse(line) as { event?: string; url?: string };
    if (event.event === 'ready' && event.url !== undefined) return event.url;
  }
  throw new Error('serve closed its output before it was ready');
}

export type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Sends a request to the server's API; throws when the answer is an error. */
export const caller =
  ({ url, apiKey }: Server): Call =>
  async (method, path, body) => {
    const answer = await fetch(`${url}/public/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as never;
  };

/** A ready version of the crossing of two averages. */
export async function makeVersion(call: Call): Promise<string> {
  const payload = { settings: {}, strategyAst: PAIRS };
  const { id } = await call<{ id: string }>('POST', '/strategies', { name: 'SMA', description: '', ...payload });
  return (await call<{ id: string }>('POST', `/strategies/${id}/versions/finalize`, payload)).id;
}

/** No two alike: a copy of a stored result would cost next to nothing. */
export const configOf = (index: number): object => ({
  timeframe: '1d',
  signalInstrument: { symbol: SYMBOL },
  initialBalance: 10_000 + Math.floor(index / 5_000),
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
    },
    slippage: { kind: 'none' },
  },
  params: { fast: 2 + (index % 50), slow: 60 + (Math.floor(index / 50) % 100) },
});

/** Four clients send batches at the same time; resolves when every backtest has ended. */
async function runAll(call: Call, versionId: string, first: number, runs: number): Promise<string[]> {
  const ids: string[] = [];
  let next = first;
  const send = async (): Promise<void> => {
    while (next < first + runs) {
      const from = next;
      next = Math.min(next + BATCH, first + runs);
      const items = Array.from({ length: next - from }, (_, index) => ({
        strategyVersionId: versionId,
        config: configOf(from + index),
      }));
      const { data, refused } = await call<{ data: { id: string }[]; refused: number }>('POST', '/backtests/batch', {
        items,
      });
      if (refused > 0) throw new Error(`${refused} of a batch were refused`);
      ids.push(...data.map(({ id }) => id));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, send));
  await Promise.all(ids.filter((_, index) => index % BATCH === BATCH - 1).map((id) => waitFor(call, id)));
  for (const status of ['queued', 'running']) while ((await total(call, status)) > 0) await pause();
  return ids;
}

async function waitFor(call: Call, id: string): Promise<void> {
  for (;;) {
    const { status } = await call<{ status: string }>('GET', `/backtests/${id}?wait=60&view=agent`);
    if (status !== 'queued' && status !== 'running') return;
  }
}

const total = async (call: Call, status: string): Promise<number> =>
  (await call<{ pagination: { total: number } }>('GET', `/backtests?status=${status}&limit=1`)).pagination.total;
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, POLL_MS));

async function instantOf(call: Call, sort: string, name: 'createdAt' | 'finishedAt', after: string): Promise<number> {
  const { data } = await call<{ data: Record<string, string>[] }>(
    'GET',
    `/backtests?limit=1&sort=${sort}&createdAfter=${encodeURIComponent(after)}`,
  );
  return Date.parse(data[0][name]);
}

/** Every result is read again: a run that was fast because it stored less must not pass. */
async function requireComplete(call: Call, ids: readonly string[]): Promise<void> {
  const open = [...ids];
  const read = async (): Promise<void> => {
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const { status, result } = await call<{
        status: string;
        result: { summaryJson: Record<string, unknown> } | null;
      }>('GET', `/backtests/${id}`);
      const summary = result?.summaryJson;
      const parts = ['strategyTrace', 'ruleStatsSummary', 'equityPreview', 'returnPct', 'totalPositions'];
      const absent = parts.filter((part) => summary?.[part] === undefined);
      if (status !== 'completed' || absent.length > 0)
        throw new Error(`The backtest ${id} is ${status} and lacks ${absent.join(', ') || 'nothing'}.`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, read));
  const sample = ids.filter((_, index) => index % 100 === 0);
  for (const id of sample) {
    const trades = await call<object[]>('GET', `/backtests/${id}/artifacts/trades`);
    const { result } = await call<{ result: { summaryJson: { totalPositions: number } } }>('GET', `/backtests/${id}`);
    if (trades.length < result.summaryJson.totalPositions) throw new Error(`The backtest ${id} lacks trades.`);
  }
}

interface Reading {
  readonly cpu: ReadonlyMap<string, number>;
  readonly stored: number;
  readonly wal: number;
  readonly statements: number | null;
}

async function reading({ pid, sql }: Server): Promise<Reading> {
  const [{ stored, wal, statements }] = await sql<[{ stored: number; wal: number; statements: number | null }]>`
    select pg_database_size(current_database()) as stored, (select wal_bytes::float8 from pg_stat_wal) as wal,
      (select sum(calls)::float8 from pg_stat_statements where toplevel) as statements`;
  const names = new Map(
    (
      await sql<{ pid: number; name: string }[]>`
        select pid, case when backend_type = 'client backend' then application_name else backend_type end as name
        from pg_stat_activity`
    ).map((row) => [row.pid, row.name]),
  );
  const [{ postmaster }] = await sql<[{ postmaster: number }]>`
    select pg_read_file('postmaster.pid')::text as postmaster`.then((rows) =>
    rows.map((row) => ({ postmaster: Number(String(row.postmaster).split('\n')[0]) })),
  );
  const cpu = new Map<string, number>();
  const add = (name: string, seconds: number): void => void cpu.set(name, (cpu.get(name) ?? 0) + seconds);
  for (const each of readProcessTimes(pid)) addNode(each, add);
  for (const each of readProcessTimes(postmaster)) {
    const name = names.get(each.pid) ?? 'postmaster';
    if (name !== 'bench') add(`postgres: ${name}`, each.seconds);
    if (each.pid === postmaster) add('postgres: ended backends', each.endedSeconds);
  }
  return { cpu, stored, wal, statements };
}

/** Threads of a Node process by the name that Linux shows. */
const WORKER_THREADS = { WorkerThread: 'simulation threads', V8Worker: 'collecting garbage and compiling' };

function addNode(
  { command, seconds, mainSeconds, threadSeconds }: ProcessTime,
  add: (name: string, seconds: number) => void,
): void {
  const name = kindOf(command);
  if (name === undefined) return;
  if (name !== 'worker') return add(name, seconds);
  add('worker, main thread', mainSeconds);
  let others = seconds - mainSeconds;
  for (const [thread, label] of Object.entries(WORKER_THREADS)) {
    const spent = threadSeconds.get(thread) ?? 0;
    add(`worker, ${label}`, spent);
    others -= spent;
  }
  add('worker, other threads', others);
}

/**
 * Resolves when every process rests and one of each kind stands by: those start some seconds after the others, and
 * would warm up while something is measured.
 */
async function rest({ pid }: Server): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  let before = readProcessTimes(pid);
  while (performance.now() < deadline) {
    await new Promise((done) => setTimeout(done, REST_MS));
    const now = readProcessTimes(pid);
    const spent = secondsOf(now) - secondsOf(before);
    before = now;
    const children = ['api', 'worker'].map((name) => now.filter(({ command }) => kindOf(command) === name).length);
    if (children.every((count) => count >= 2) && spent * 1_000 < REST_MS / 20) return;
  }
  throw new Error(`The processes of the server did not come to rest within ${READY_WITHIN_MS / 1_000} s.`);
}

const secondsOf = (processes: readonly ProcessTime[]): number => processes.reduce((sum, each) => sum + each.seconds, 0);
/** What a process of ours does: the name of its command. */
const kindOf = (command: string): string | undefined =>
  command.startsWith('postgres') ? undefined : /main\.ts (\w+)/.exec(command)?.[1];

async function measure(root: string, { runs, warm }: Options): Promise<QueueMeasure> {
  await using server = await startServer(root);
  const call = caller(server);
  const versionId = await makeVersion(call);
  if (warm > 0) await runAll(call, versionId, 1_000_000, warm);
  await rest(server);
  await server.sql`checkpoint`;
  const since = new Date().toISOString();
  const before = await reading(server);
  const ids = await runAll(call, versionId, 0, runs);
  const after = await reading(server);
  if (process.env.BENCH_STATEMENTS) await printStatements(server.sql);
  const seconds =
    ((await instantOf(call, '-finishedAt', 'finishedAt', since)) -
      (await instantOf(call, 'createdAt', 'createdAt', since))) /
    1_000;
  await requireComplete(call, ids);
  const cpu = Object.fromEntries(
    [...after.cpu]
      .map(([name, spent]): [string, number] => [name, ((spent - (before.cpu.get(name) ?? 0)) * 1_000) / runs])
      .filter(([, ms]) => ms >= 0.001)
      .toSorted(([, a], [, b]) => b - a),
  );
  return {
    checkout: root,
    runs,
    seconds,
    runsPerSecond: runs / seconds,
    cpu,
    storedBytesPerRun: (after.stored - before.stored) / runs,
    walBytesPerRun: (after.wal - before.wal) / runs,
    statementsPerRun: after.statements === null ? null : (after.statements - before.statements!) / runs,
  };
}

async function printStatements(sql: Sql): Promise<void> {
  const rows = await sql<{ query: string; calls: number; ms: number; rows: number; wal: number }[]>`
    select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::float8 as calls, total_exec_time as ms,
      rows::float8 as rows,
      wal_bytes::float8 as wal
    from pg_stat_statements where toplevel order by total_exec_time desc limit 25`;
  for (const { query, calls, ms, rows: count, wal } of rows) {
    const cells = [
      `${ms.toFixed(0).padStart(7)} ms`,
      `${String(calls).padStart(6)} calls`,
      `${String(count).padStart(6)} rows`,
      `${(wal / 1e6).toFixed(1).padStart(6)} MB WAL `,
      query.slice(0, 130),
    ];
    console.error(cells.join(' '));
  }
}

function print(measures: readonly QueueMeasure[]): void {
  for (const each of measures) {
    const { checkout, runs, seconds, runsPerSecond } = each;
    console.log(`${checkout}: ${runs} runs in ${seconds.toFixed(2)} s, ${runsPerSecond.toFixed(0)} per second`);
    const sum = Object.values(each.cpu).reduce((total, ms) => total + ms, 0);
    for (const [name, ms] of Object.entries({ ...each.cpu, 'all of it': sum }))
      console.log(`  ${name.padEnd(40)} ${ms.toFixed(3).padStart(8)} ms of processor time per run`);
    const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB per run`;
    console.log(`  stored ${kB(each.storedBytesPerRun)}, write-ahead log ${kB(each.walBytesPerRun)}`);
    if (each.statementsPerRun !== null) console.log(`  ${each.statementsPerRun.toFixed(3)} SQL statements per run`);
  }
}

const USAGE =
  'node scripts/node24.mjs bench/queue.ts [--runs N] [--warm N] [--rounds N] [--against CHECKOUT] [--json] [--short]';

async function main(): Promise<void> {
  const { values } = commandLine(USAGE, {
    options: {
      runs: { type: 'string' },
      warm: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '1' },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
      // What `npm run bench` passes to every suite; this one has a single task.
      short: { type: 'boolean', default: false },
      task: { type: 'string' },
    },
  });
  const runs = count(USAGE, 'runs', values.runs ?? (values.short ? '500' : '5000'));
  const warm = values.warm === '0' ? 0 : count(USAGE, 'warm', values.warm);
  const rounds = count(USAGE, 'rounds', values.rounds);
  if (values.against !== undefined && !existsSync(join(values.against, 'src', 'main.ts')))
    refuse(USAGE, `--against takes the folder of another checkout, and ${values.against} is not one.`);
  const task = `queue/backtests of 2,148 bars in batches of ${BATCH}/${runs}`;
  if (values.task !== undefined && !task.includes(values.task)) return console.log(values.json ? '[]' : '');
  const roots = values.against === undefined ? [HERE] : [resolve(values.against), HERE];
  if (!values.json)
    console.log(`${availableParallelism()} cores, ${CLIENTS} clients, batches of ${BATCH}, ${SYMBOL} 1d`);
  const best = new Map<string, QueueMeasure>();
  for (let round = 0; round < rounds; round++) {
    for (const root of roots) {
      const found = await measure(root, { runs, warm });
      if (found.runsPerSecond > (best.get(root)?.runsPerSecond ?? 0)) best.set(root, found);
    }
  }
  if (!values.json) return print([...best.values()]);
  const { seconds } = best.get(HERE)!;
  const measured: Measure = {
    task,
    unit: 'run',
    count: runs,
    ns: (seconds * 1e9) / runs,
    rounds,
  };
  console.log(JSON.stringify([{ ...measured, ...best.get(HERE)! }]));
}

if (import.meta.main) await main();
