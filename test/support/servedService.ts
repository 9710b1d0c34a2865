// `candlepool serve` as an operator runs it, with everything a test needs to break it and to watch it: the processes,
// the embedded Postgres, and what died that nobody killed.
import { execFileSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, socketUrl } from '../../src/db/connect.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import { isAlive } from '../../src/db/processes.ts';
import { readyUrl, startCommand } from './command.ts';
import { eventually } from './eventually.ts';
import { childrenOf } from './processes.ts';

export type Role = 'api' | 'worker';

export class ServedService {
  readonly folder: string;
  readonly databaseUrl: string;
  url = '';
  /** What ended without having been killed by the test. */
  readonly deaths: string[] = [];
  readonly #isMounted: boolean;
  readonly #killed = new Set<number>();
  #server: ChildProcessWithoutNullStreams | undefined;

  constructor(folder: string, isMounted: boolean) {
    this.folder = folder;
    this.#isMounted = isMounted;
    this.databaseUrl = socketUrl(join(folder, 'postgres', 'socket'), 'candlepool', 'postgres');
  }

  /** A service in a folder of its own, on a file system of `bytes` where this user may mount one. */
  static async open(bytes?: number): Promise<ServedService> {
    const folder = mkdtempSync(join(tmpdir(), 'candlepool-served-'));
    const service = new ServedService(folder, bytes !== undefined && mounted(folder, bytes));
    await service.start();
    return service;
  }

  /** Whether its disk can be filled without filling anybody else's. */
  get hasOwnDisk(): boolean {
    return this.#isMounted;
  }

  /** Starts `serve`, again at the same address. */
  async start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const env = { DATA_DIR: this.folder, WORKER_THREADS: '2', LOG_LEVEL: 'warn', RATE_LIMITS: 'off' };
    const server = startCommand(['serve', '--port', port, '--json'], env);
    this.#server = server;
    server.once('exit', (code, signal) => {
      if (!this.#killed.has(server.pid!)) this.deaths.push(`serve (${code ?? signal})`);
    });
    createInterface(server.stderr).on('line', (line) => this.#readLog(line));
    this.url = await readyUrl(server);
  }

  /** The line of the supervisor that says that a child of it has died. */
  #readLog(line: string): void {
    if (!line.includes('child process died')) return;
    const { childPid, args, code, signal } = JSON.parse(line) as {
      childPid: number;
      args: string[];
      code: number | null;
      signal: string | null;
    };
    if (!this.#killed.has(childPid)) this.deaths.push(`${args[0]} (${code ?? signal})`);
  }

  pidOf(role: Role): Promise<number> {
    return eventually(() => childrenOf(this.#server!.pid!, role)[0], { what: `a ${role}` });
  }

  async kill(role: Role): Promise<void> {
    this.#kill(await this.pidOf(role));
  }

  postmaster(): number | null {
    const path = join(this.folder, 'postgres', 'cluster', 'postmaster.pid');
    const pid = existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : Number.NaN;
    return Number.isInteger(pid) && isAlive(pid) ? pid : null;
  }

  /** Stops Postgres and waits until it is gone. */
  async stopPostgres(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const pid = await eventually(() => this.postmaster(), { what: 'a postmaster' });
    process.kill(pid, signal);
    await eventually(() => !isAlive(pid), { what: 'the end of Postgres' });
  }

  /** kill -9 of every process at once. */
  async killAll(): Promise<void> {
    const server = this.#server!;
    const pids = [await this.pidOf('api'), await this.pidOf('worker'), server.pid!];
    const postmaster = this.postmaster();
    const ended = once(server, 'exit');
    if (postmaster !== null) process.kill(postmaster, 'SIGKILL');
    for (const pid of pids) this.#kill(pid);
    await ended;
  }

  /** Nobody starts anything again while `during` runs. */
  async withoutSupervisor(during: () => Promise<void>): Promise<void> {
    process.kill(this.#server!.pid!, 'SIGSTOP');
    try {
      await during();
    } finally {
      process.kill(this.#server!.pid!, 'SIGCONT');
    }
  }

  /** Sessions on the database that are not our own. @returns how many were ended */
  async terminateSessions(limit: number): Promise<number> {
    const sql = connect(this.databaseUrl, { max: 1 });
    try {
      const rows = await sql`
        select pg_terminate_backend(pid) from (
          select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
          order by random() limit ${limit}) as chosen`;
      return rows.length;
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server;
    if (server !== undefined && isAlive(server.pid!)) {
      const ended = once(server, 'exit');
      this.#killed.add(server.pid!);
      server.kill('SIGTERM');
      await ended;
    }
    await stopEmbedded(this.folder);
    if (this.#isMounted) execFileSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #kill(pid: number): void {
    this.#killed.add(pid);
    process.kill(pid, 'SIGKILL');
  }
}

/** A file system in memory; false where this user may not mount one. */
function mounted(folder: string, bytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'candlepool-test', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
