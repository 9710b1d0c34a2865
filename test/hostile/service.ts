// A real `serve` in a folder of its own, with tenants, and what its processes need meanwhile.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, socketUrl } from '../../src/db/connect.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import type { Tier } from '../../src/tiers.ts';
import { readyUrl, startCommand } from '../support/command.ts';
import { makeKey, makeTenant } from '../support/tenants.ts';
import { signToken, startIdentity, type Signer } from './identity.ts';

export interface Tenant {
  readonly workspaceId: string;
  readonly key: string;
  readonly viewerKey: string;
  readonly token: string;
}
export interface Service extends AsyncDisposable {
  readonly url: string;
  /** Of the identity provider that it believes. */
  readonly signer: Signer;
  tenant(tier: Tier): Promise<Tenant>;
  /** Resident bytes of the process of this service that works as a command, such as `api`. */
  residentBytes(command: 'api' | 'worker'): number;
  /** Process ids of it: a process that was started again has another. */
  pids(command: 'api' | 'worker'): number[];
}

/** @param more environment variables of its processes. */
export async function startService(more: Record<string, string> = {}): Promise<Service> {
  const identity = await startIdentity();
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-hostile-'));
  const env = { DATA_DIR: folder, LOG_LEVEL: 'error', WORKER_THREADS: '2', ...identity.env, ...more };
  const server = startCommand(['serve', '--port', '0', '--json'], env);
  const url = await readyUrl(server);
  const sql = connect(socketUrl(join(folder, 'postgres', 'socket'), 'candlepool', 'postgres'), { max: 1 });
  const pids = (command: string): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        const words = read(pid, 'cmdline').split('\0');
        return words.includes(command) && words.includes('--supervised') && read(pid, 'environ').includes(folder);
      })
      // The oldest works; another stands by.
      .toSorted((a, b) => a - b)
      .slice(0, 1);
  return {
    url,
    signer: identity.signer,
    pids,
    tenant: async (tier) => {
      const subject = `idp|${randomUUID()}`;
      const ids = await makeTenant(sql, tier, subject);
      const [key, viewerKey] = [await makeKey(sql, ids), await makeKey(sql, ids, 'viewer')];
      return { workspaceId: ids.workspaceId, key, viewerKey, token: await signToken(identity.signer, subject) };
    },
    residentBytes: (command) =>
      pids(command)
        .map((pid) => Number(/VmRSS:\s+(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) * 1024)
        .reduce((sum, bytes) => sum + bytes, 0),
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 });
      const ended = once(server, 'close');
      server.kill('SIGTERM');
      await ended;
      await identity[Symbol.asyncDispose]();
      await stopEmbedded(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Empty for a process that has ended. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Largest value of a metric, over all its labels. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
    Number(value),
  );
  return Math.max(0, ...values);
}
