// The whole HTTP service over a fresh database and the shipped market data, with keys at hand.
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { buildApp } from '../../src/api/app.ts';
import type { HeavyThreadOptions } from '../../src/api/http/heavyQueue.ts';
import { startHeavyRequests } from '../../src/api/http/heavyThreads.ts';
import { createKey } from '../../src/api/apiKeys/newKey.ts';
import { signLocalToken } from '../../src/api/http/auth/tokens.ts';
import type { App, Services } from '../../src/api/services.ts';
import { readConfig } from '../../src/config.ts';
import { API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import type { ApiKeyRole, ApiKeyScope } from '../../src/db/apiKeys.ts';
import { connect, urlOf } from '../../src/db/connect.ts';
import { upsertMember, upsertUser } from '../../src/db/members.ts';
import type { MemberRole } from '../../src/db/members.ts';
import { insertWorkspace } from '../../src/db/workspaces.ts';
import { createLog } from '../../src/log.ts';
import type { Catalog } from '../../src/market/catalog.ts';
import { SnapshotFiles } from '../../src/market/snapshotFiles.ts';
import { SnapshotTable } from '../../src/market/snapshotStorage.ts';
import { WorkspaceCatalogs } from '../../src/market/workspaceCatalogs.ts';
import { shippedData } from './shippedData.ts';
import type { Tier } from '../../src/tiers.ts';
import { createTestDatabase } from './database.ts';

export interface Reply {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly body: any;
}

/** A client that calls the API with one key. */
export interface Client {
  readonly workspaceId: string;
  readonly apiKey: string;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  patch(path: string, body: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
}

export interface ApiApp extends AsyncDisposable {
  readonly app: App;
  readonly services: Services;
  send(options: InjectOptions): Promise<Reply>;
  /** A key of a new workspace, or of `workspaceId`. */
  client(options?: {
    readonly tier?: Tier;
    readonly role?: ApiKeyRole;
    readonly scopes?: readonly ApiKeyScope[];
    readonly workspaceId?: string;
  }): Promise<Client>;
  token(workspaceId: string, role: MemberRole): Promise<string>;
}

/** @param thread heavy requests go to a thread of their own, as under `serve`; or to one with these options. */
export async function createApiApp(
  env: Record<string, string> = {},
  thread: boolean | HeavyThreadOptions = false,
): Promise<ApiApp> {
  const database = await createTestDatabase();
  const { sql } = database;
  const config = readConfig({ LOG_LEVEL: 'silent', RATE_LIMITS: 'off', WARM_UP: 'off', ...env });
  const shortReads = connect(urlOf(sql), { max: 1 });
  const files = new SnapshotFiles(new SnapshotTable(sql));
  const services: Services = {
    sql,
    shortReads,
    config,
    log: createLog(config),
    catalogs: new WorkspaceCatalogs(sql, withStored(await shippedData(), files), files),
  };
  const options = thread === true ? {} : thread;
  const heavyRequests = options === false ? null : startHeavyRequests(services, Promise.resolve(), options);
  const app = await buildApp(services, { heavyRequests });
  const send = async (options: InjectOptions): Promise<Reply> => replyOf(await app.inject(options));
  return {
    app,
    services,
    send,
    client: async ({ tier = 'pro', role = 'member', scopes = API_KEY_SCOPES, workspaceId: given } = {}) => {
      const workspaceId = given ?? (await insertWorkspace(sql, { name: 'Test', tier })).id;
      const user = await upsertUser(sql, { email: `owner-${workspaceId}@example.com` });
      await upsertMember(sql, { workspaceId, userId: user.id, role: 'owner' });
      const { apiKey } = await createKey(sql, app.authentication.secrets, {
        workspaceId,
        userId: user.id,
        name: 'test',
        description: null,
        role,
        scopes,
        expiresAt: null,
      });
      const headers = { 'x-api-key': apiKey };
      const json = { 'content-type': 'application/json' };
      return {
        workspaceId,
        apiKey,
        get: (path, more = {}) => send({ url: `/public/v1${path}`, headers: { ...headers, ...more } }),
        patch: (path, body) =>
          send({
            method: 'PATCH',
            url: `/public/v1${path}`,
            headers: { ...headers, ...json },
            payload: JSON.stringify(body),
          }),
        delete: (path) => send({ method: 'DELETE', url: `/public/v1${path}`, headers }),
        post: (path, body, more = {}) =>
          send({
            method: 'POST',
            url: `/public/v1${path}`,
            headers: { ...headers, ...(body === undefined ? {} : json), ...more },
            ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
          }),
      };
    },
    token: async (workspaceId, role) => {
      const user = await upsertUser(sql, { email: `${role}-${workspaceId}@example.com` });
      await upsertMember(sql, { workspaceId, userId: user.id, role });
      return signLocalToken(sql, config, { subject: user.subject, email: user.email, ttlSeconds: 3_600 });
    },
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await shortReads.end({ timeout: 1 });
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The shipped series in memory, and in place of what is not among them the uploaded ones in Postgres. */
const withStored = (shipped: Catalog, files: SnapshotFiles): Catalog => ({
  ...shipped,
  open: (sha256s) =>
    Promise.all(
      sha256s.map((name) =>
        shipped.open([name]).then(
          ([found]) => found,
          () => files.open(name),
        ),
      ),
    ),
});

function replyOf(response: LightMyRequestResponse): Reply {
  const isJson = String(response.headers['content-type']).includes('json');
  const { statusCode, headers, payload } = response;
  return {
    status: statusCode,
    headers,
    text: payload,
    body: isJson && payload !== '' ? JSON.parse(payload) : undefined,
  };
}
