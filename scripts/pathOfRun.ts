// The path of one backtest: counts the source files and functions that run between `POST /public/v1/backtests` and the
// stored row, in the API, the worker and its threads, and compares them with the hops that docs/architecture.md lists.
// `node scripts/node24.mjs scripts/pathOfRun.ts [--list]`
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../src/api/app.ts';
import { createKey } from '../src/api/apiKeys/newKey.ts';
import { isolatedEnvironment, readConfig, ROOT } from '../src/config.ts';
import { API_KEY_SCOPES } from '../src/db/apiKeys.ts';
import { connect, type Sql } from '../src/db/connect.ts';
import { removeEmbedded, startEmbedded } from '../src/db/embedded.ts';
import { upsertMember, upsertUser } from '../src/db/members.ts';
import { migrate } from '../src/db/migrate.ts';
import { insertWorkspace } from '../src/db/workspaces.ts';
import { startWorker } from '../src/jobs/runner.ts';
import { createLog } from '../src/log.ts';
import { openCatalog } from '../src/market/catalog.ts';
import { WorkspaceCatalogs } from '../src/market/workspaceCatalogs.ts';
import { importShipped } from '../src/market/shipped.ts';

/** Backtests that are followed. What does not run for each of them belongs to a timer, not to their path. */
const ROUNDS = 4;
/** How long the processes rest before a backtest is followed. */
const REST_MS = 1_500;
const MOST_HOPS = 20;
/** The folders of the engine that compute. All other files bring a backtest to them, or its result to the database. */
const COMPUTING = /^src\/engine\/(?!pool\/)/;

/** The functions that ran, as `file name offset`, modules themselves left out. */
type Functions = ReadonlySet<string>;

/** Counts the calls of functions in this thread and, through it, in all others. */
class Coverage {
  readonly #session = new Session();
  readonly #threads = new Map<string, { nextId: number; readonly answers: Map<number, (result: unknown) => void> }>();

  async open(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
      this.#threads.set(sessionId, { nextId: 1, answers: new Map() });
      void this.#send(sessionId, 'Profiler.enable');
      void this.#send(sessionId, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      const { id, result } = JSON.parse(message) as { id?: number; result?: unknown };
      if (id !== undefined) this.#threads.get(sessionId)?.answers.get(id)?.(result);
    });
    this.#session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => this.#threads.delete(sessionId));
    await this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  }

  /** What ran since the last call. */
  async take(): Promise<Functions> {
    const inThreads = [...this.#threads.keys()].map((id) => this.#send(id, 'Profiler.takePreciseCoverage'));
    const taken = await Promise.all([this.#session.post('Profiler.takePreciseCoverage'), ...inThreads]);
    const scripts = (taken as Profiler.TakePreciseCoverageReturnType[]).flatMap(({ result }) => result);
    return new Set(
      scripts
        .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(join(ROOT, 'src')))
        .flatMap(({ url, functions }) => {
          const file = fileURLToPath(url).slice(ROOT.length + 1);
          const ran = functions.filter(({ ranges: [{ count, startOffset }] }) => count > 0 && startOffset > 0);
          return ran.map(({ functionName, ranges: [{ startOffset }] }) => `${file} ${functionName} ${startOffset}`);
        }),
    );
  }

  #send(sessionId: string, method: string, params: object = {}): Promise<unknown> {
    const thread = this.#threads.get(sessionId)!;
    const id = thread.nextId++;
    const message = JSON.stringify({ id, method, params });
    return new Promise((answer) => {
      thread.answers.set(id, answer);
      void this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
  }
}

interface Service extends AsyncDisposable {
  readonly sql: Sql;
  readonly post: <Body>(path: string, body: object) => Promise<Body>;
}

/** The API, a worker with one thread, and a database of their own. */
async function startService(): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'candlepool-path-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  stack.defer(() => removeEmbedded(dataDir));
  const { url } = stack.use(await startEmbedded(dataDir));
  const sql = connect(url);
  const shortReads = connect(url, { max: 1 });
  stack.defer(async () => void (await Promise.all([sql.end({ timeout: 1 }), shortReads.end({ timeout: 1 })])));
  await migrate(sql);
  const config = readConfig({ ...isolatedEnvironment(dataDir), LOG_LEVEL: 'warn' });
  const log = createLog(config);
  const catalog = openCatalog(sql, dataDir, { storage: 'folder', log });
  await importShipped(catalog);
  const catalogs = new WorkspaceCatalogs(sql, catalog, catalog.files);
  const app = await buildApp({ sql, shortReads, config, log, catalogs });
  stack.defer(() => app.close());
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const { id: workspaceId } = await insertWorkspace(sql, { name: 'path', tier: 'pro' });
  const user = await upsertUser(sql, { email: 'path@example.com' });
  await upsertMember(sql, { workspaceId, userId: user.id, role: 'owner' });
  const key = { workspaceId, userId: user.id, name: 'path', description: null, expiresAt: null } as const;
  const { secrets } = app.authentication;
  const { apiKey } = await createKey(sql, secrets, { ...key, role: 'member', scopes: API_KEY_SCOPES });
  stack.use(await startWorker({ url, threads: 1, snapshots: () => catalog }, log));
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const post = async <Body>(path: string, body: object): Promise<Body> => {
    const answer = await fetch(`${address}/public/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Body;
  };
  const opened = stack.move();
  return { sql, post, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const average = (length: number): object => ({ kind: 'indicator', indicator: 'sma', args: { length } });

/** A crossing of two averages: another one in each round, so that nothing of it is known. */
const crossing = (round: number): object => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: { kind: 'cross', op: 'cross_up', left: average(10 + round), right: average(50 + round) },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    risk: { stopLoss: { mode: 'percent', value: 10 } },
  },
});

const CONFIG = {
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
    },
    slippage: { kind: 'none' },
  },
};

/** Queues a backtest of a new strategy. @returns what ran until its row was stored */
async function follow({ sql, post }: Service, coverage: Coverage, round: number): Promise<Functions> {
  const payload = { settings: {}, strategyAst: crossing(round) };
  const { id } = await post<{ id: string }>('/strategies', { name: `path ${round}`, description: '', ...payload });
  const version = await post<{ id: string }>(`/strategies/${id}/versions/finalize`, payload);
  await sleep(REST_MS);
  await coverage.take();
  const run = await post<{ id: string }>('/backtests', { strategyVersionId: version.id, config: CONFIG });
  for (;;) {
    const [row] = await sql<{ status: string }[]>`select status from backtest_results where id = ${run.id}`;
    if (row?.status === 'completed') break;
    if (row) throw new Error(`The backtest ended as ${row.status}.`);
    await sleep(5);
  }
  return coverage.take();
}

const coverage = new Coverage();
await coverage.open();
await using service = await startService();
let path: Functions | undefined;
for (let round = 0; round < ROUNDS; round++) {
  const ran = await follow(service, coverage, round);
  path = path === undefined ? ran : path.intersection(ran);
}
const byFile = Map.groupBy([...path!].toSorted(), (each) => each.split(' ')[0]);
const files = [...byFile.keys()];
const functionsIn = (some: readonly string[]): number => some.reduce((sum, file) => sum + byFile.get(file)!.length, 0);
const print = (what: string, some: readonly string[]): void =>
  console.log(`${what.padEnd(40)} ${String(some.length).padStart(4)} files ${functionsIn(some)} functions`);

const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(1, file.startsWith('src/engine/') ? 3 : 2)
    .join('/');
for (const [folder, some] of [...Map.groupBy(files, folderOf)].toSorted(([a], [b]) => a.localeCompare(b))) {
  print(folder, some);
  if (process.argv.includes('--list')) for (const file of some) console.log(`  ${file} (${byFile.get(file)!.length})`);
}
const isComputing = (file: string): boolean => COMPUTING.test(file);
print(
  'from the request to the row',
  files.filter((file) => !isComputing(file)),
);
print('computing', files.filter(isComputing));
print('all', files);

/** The files that each hop names, a path or a name alone. */
const architecture = await readFile(join(ROOT, 'docs', 'architecture.md'), 'utf8');
const hops = [...architecture.matchAll(/^(\d+)\. (.*(?:\n {3}.*)*)/gm)];
const named = hops.map(([, number, text]) => ({
  number,
  names: [...text.matchAll(/`([\w/.]+\.ts)`/g)].map(([, name]) => basename(name)),
}));
const ran = new Set(files.map((file) => basename(file)));
const empty = named.filter(({ names }) => !names.some((name) => ran.has(name)));
for (const { number } of empty) console.error(`No file of hop ${number} in docs/architecture.md ran.`);
const unnamed = files.filter(
  (file) => /^src\/(jobs|engine\/pool)\//.test(file) && !named.some(({ names }) => names.includes(basename(file))),
);
console.log(`${hops.length} hops; not named in them, of the worker and the pool: ${unnamed.join(', ') || 'nothing'}`);
if (hops.length === 0 || hops.length > MOST_HOPS || empty.length > 0) process.exitCode = 1;
