// A real `serve` in a folder of its own, with tenants, and what its processes need meanwhile.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, socketUrl } from '../../src/db/connect.ts';
import { stopEmbedded } from '../../src/db/embedded.ts';
import type { Tier } from '../../src/tiers.ts';
import { readyUrl, startCommand } from '../support/command.ts';
import { childrenOf, residentBytesOf } from '../support/processes.ts';
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
  /** The process that works as it; one that was started again has another pid. */
  pidOf(command: 'api' | 'worker'): number | undefined;
}

/** @param more environment variables of its processes. */
export async function startService(more: Record<string, string> = {}): Promise<Service> {
  const identity = await startIdentity();
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-hostile-'));
  const own = { DATA_DIR: folder, LOG_LEVEL: 'error', WORKER_THREADS: '2', WEBHOOKS_PRIVATE: 'on' };
  const env = { ...own, ...identity.env, ...more };
  const server = startCommand(['serve', '--port', '0', '--json'], env);
  const url = await readyUrl(server);
  const sql = connect(socketUrl(join(folder, 'postgres', 'socket'), 'candlepool', 'postgres'), { max: 1 });
  // The oldest works; another stands by.
  const pidOf = (command: string): number | undefined => childrenOf(server.pid!, command)[0];
  return {
    url,
    signer: identity.signer,
    pidOf,
    tenant: async (tier) => {
      const subject = `idp|${randomUUID()}`;
      const ids = await makeTenant(sql, tier, subject);
      const [key, viewerKey] = [await makeKey(sql, ids), await makeKey(sql, ids, 'viewer')];
      return { workspaceId: ids.workspaceId, key, viewerKey, token: await signToken(identity.signer, subject) };
    },
    residentBytes: (command) => residentBytesOf(pidOf(command) ?? 0),
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

/** Largest value of a metric, over all its labels. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
    Number(value),
  );
  return Math.max(0, ...values);
}
