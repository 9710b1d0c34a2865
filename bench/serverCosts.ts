// What a server has cost so far: processor time of its processes and of Postgres, bytes stored and logged, statements.
import type { Sql } from '../src/db/connect.ts';
import { readProcessTimes, type ProcessTime } from './processTimes.ts';
import { READY_WITHIN_MS, type Server } from './server.ts';

/** Processes that take less than a twentieth of this time for themselves rest. */
const REST_MS = 1_000;

export interface Costs {
  readonly cpu: ReadonlyMap<string, number>;
  readonly stored: number;
  readonly wal: number;
  readonly statements: number | null;
}

export async function readCosts({ pid, sql }: Server): Promise<Costs> {
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
export const WORKER_THREADS = { WorkerThread: 'simulation threads', V8Worker: 'collecting garbage and compiling' };

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
export async function rest({ pid }: Server): Promise<void> {
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

export async function printStatements(sql: Sql): Promise<void> {
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
