// An app with the authentication of the service, its key management, and one probe route for each need, over a fresh
// database.
import fastify from 'fastify';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { createSerializerCompiler, validatorCompiler } from 'fastify-zod-openapi';
import type { FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi';
import { authenticateRequests, requireKey } from '../../src/api/http/auth/authentication.ts';
import { signLocalToken } from '../../src/api/http/auth/tokens.ts';
import { readJsonBodies } from '../../src/api/http/body.ts';
import { answerFailures } from '../../src/api/http/failures.ts';
import { apiKeyRoutes } from '../../src/api/apiKeys/apiKeyRoutes.ts';
import type { App, Services } from '../../src/api/services.ts';
import { readConfig } from '../../src/config.ts';
import type { Config } from '../../src/config.ts';
import { API_KEY_SCOPES } from '../../src/db/apiKeys.ts';
import { endMember, upsertMember, upsertUser } from '../../src/db/members.ts';
import type { MemberRole } from '../../src/db/members.ts';
import { insertWorkspace } from '../../src/db/workspaces.ts';
import { createLog } from '../../src/log.ts';
import type { Tier } from '../../src/tiers.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';

export type AuthApp = AsyncDisposable & {
  readonly app: App;
  readonly database: TestDatabase;
  readonly config: Config;
  request(options: InjectOptions): Promise<LightMyRequestResponse>;
  /** A workspace and its owner's token. */
  tenant(tier?: Tier): Promise<Tenant>;
  /** Another app over the same database: a second host. */
  host(): Promise<App>;
};

export interface Tenant {
  readonly workspaceId: string;
  readonly ownerId: string;
  readonly token: string;
  /** Makes or changes a member and signs a token. */
  member(email: string, role: MemberRole): Promise<{ userId: string; token: string }>;
  leave(userId: string): Promise<void>;
  /** Creates a key over HTTP; asserts nothing. */
  create(body: object, token?: string): Promise<LightMyRequestResponse>;
  list(token?: string): Promise<LightMyRequestResponse>;
  revoke(id: string, token?: string): Promise<LightMyRequestResponse>;
}

export async function createAuthApp(env: Record<string, string> = {}): Promise<AuthApp> {
  const database = await createTestDatabase();
  const { sql } = database;
  const config = readConfig({ LOG_LEVEL: 'silent', ...env });
  const services = { sql, shortReads: sql, config, log: createLog(config) } as Services;
  const apps: App[] = [];
  const host = async (): Promise<App> => {
    const app = await buildProbeApp(services);
    apps.push(app);
    return app;
  };
  const app = await host();
  const tokenOf = (user: { subject: string; email: string }) =>
    signLocalToken(sql, config, { ...user, ttlSeconds: 3_600 });
  const tenant = async (tier: Tier = 'free'): Promise<Tenant> => {
    const { id: workspaceId } = await insertWorkspace(sql, { name: 'Test', tier });
    const member = async (email: string, role: MemberRole) => {
      const user = await upsertUser(sql, { email });
      await upsertMember(sql, { workspaceId, userId: user.id, role });
      return { userId: user.id, token: await tokenOf(user) };
    };
    const { userId: ownerId, token } = await member(`owner-${workspaceId}@example.com`, 'owner');
    const url = `/workspaces/${workspaceId}/api-keys`;
    const bearer = (value = token) => ({ authorization: `Bearer ${value}` });
    return {
      workspaceId,
      ownerId,
      token,
      member,
      leave: async (userId) => void (await sql.begin((transaction) => endMember(transaction, workspaceId, userId))),
      create: (body, by) => app.inject({ method: 'POST', url, headers: bearer(by), payload: body }),
      list: (by) => app.inject({ url, headers: bearer(by) }),
      revoke: (id, by) => app.inject({ method: 'DELETE', url: `${url}/${id}`, headers: bearer(by) }),
    };
  };
  return {
    app,
    database,
    config,
    tenant,
    host,
    request: (options) => app.inject(options),
    [Symbol.asyncDispose]: async () => {
      for (const each of apps) await each.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** `/probe` needs any key; `/probe/<scope>` the scope; `/probe/<scope>/write` the scope and the role member. */
async function buildProbeApp(services: Services): Promise<App> {
  const app: App = fastify().withTypeProvider<FastifyZodOpenApiTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(createSerializerCompiler({ stringify: JSON.stringify }));
  answerFailures(app, null);
  readJsonBodies(app);
  authenticateRequests(app, services);
  app.get('/probe', { onRequest: requireKey() }, async ({ caller }) => ({ ...caller, scopes: [...caller.scopes] }));
  for (const scope of API_KEY_SCOPES) {
    app.get(`/probe/${scope}`, { onRequest: requireKey({ scope }) }, async () => ({ ok: true }));
    app.post(`/probe/${scope}/write`, { onRequest: requireKey({ scope, role: 'member' }) }, async () => ({ ok: true }));
  }
  await apiKeyRoutes(app, services);
  await app.ready();
  return app;
}
