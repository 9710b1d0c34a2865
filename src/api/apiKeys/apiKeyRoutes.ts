// Management of API keys: list, create, revoke, for owners and admins of the workspace.
import { z } from 'zod';
import {
  API_KEY_ROLES,
  API_KEY_SCOPES,
  API_KEY_STATUSES,
  DEFAULT_API_KEY_SCOPES,
  listApiKeys,
  revokeApiKey,
} from '../../db/apiKeys.ts';
import { MANAGING_ROLES } from '../../db/members.ts';
import { requireMember } from '../http/auth/authentication.ts';
import { apiKeyAnswer } from './keyAnswer.ts';
import { createKey } from './newKey.ts';
import { linkTo } from '../http/links.ts';
import { problem } from '../http/problems.ts';
import {
  BODY_PROBLEMS,
  instant,
  instantOrNull,
  JWT_SECURITY,
  KEY_PROBLEMS,
  NoQuery,
  pathId,
  problems,
  text,
} from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';

const Scope = z.enum(API_KEY_SCOPES).meta({ id: 'ApiKeyScope', description: 'What the key can reach.' });
const Role = z.enum(API_KEY_ROLES).meta({ description: 'A viewer cannot write, whatever its scopes.' });

/** Counts characters as Postgres does: an emoji of two UTF-16 units is one. */
const characters = (min: number, max: number) =>
  text(min, max * 2)
    .refine((value) => Array.from(value).length <= max, `must have at most ${max} characters`)
    .meta({ maxLength: max });

const NewApiKeyBody = z
  .strictObject({
    name: characters(1, 100),
    description: characters(0, 500).nullish(),
    role: Role.default('member'),
    scopes: z
      .array(Scope)
      .min(1)
      .max(100)
      .default([...DEFAULT_API_KEY_SCOPES])
      .meta({ description: `Default: ${DEFAULT_API_KEY_SCOPES.join(', ')}.` }),
    expiresAt: z.iso
      .datetime({ offset: true })
      .refine((value) => Date.parse(value) > Date.now(), 'must be in the future')
      .nullish()
      .meta({ description: 'ISO 8601, in the future; absent: never.' }),
  })
  .meta({
    id: 'NewApiKey',
    examples: [
      {
        name: 'Research agent',
        description: 'Writes strategies and runs backtests.',
        role: 'member',
        scopes: ['workspace_read', 'strategies_read', 'strategies_write', 'backtests_read', 'backtests_write'],
      },
    ],
  });

const shared = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  role: Role,
  scopes: z.array(Scope),
  keyPrefix: z.string().meta({ description: 'svc_live_<keyId>, the public part.' }),
  expiresAt: instantOrNull('When the key stops working; null: never.'),
  createdAt: instant('When the key was made.'),
};
const ApiKey = z
  .object({
    ...shared,
    tokenPreview: z.string().meta({ description: 'keyPrefix and an ellipsis.' }),
    status: z.enum(API_KEY_STATUSES),
    lastUsedAt: instantOrNull('When a request last used the key, to the minute; null: never.'),
    revokedAt: instantOrNull('When the key was revoked; null: it was not.'),
    createdBy: z.object({ id: z.uuid(), email: z.string(), name: z.string() }),
  })
  .meta({ id: 'ApiKey' });
const CreatedApiKey = z
  .object({ ...shared, apiKey: z.string().meta({ description: 'The plaintext key: only here, only once.' }) })
  .meta({ id: 'CreatedApiKey' });

const onRequest = requireMember(MANAGING_ROLES);
const described = { tags: ['Management'], security: JWT_SECURITY };

export async function apiKeyRoutes(app: App, services: Services): Promise<void> {
  listRoute(app, services);
  createRoute(app, services);
  revokeRoute(app, services);
}

function listRoute(app: App, { sql }: Services): void {
  app.get(
    '/workspaces/:workspaceId/api-keys',
    {
      onRequest,
      schema: {
        ...described,
        summary: "List the workspace's API keys, newest first",
        params: z.object({ workspaceId: z.string() }),
        querystring: NoQuery,
        response: { 200: z.object({ data: z.array(ApiKey) }), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request) => ({ data: (await listApiKeys(sql, request.member.workspaceId)).map(apiKeyAnswer) }),
  );
}

function createRoute(app: App, { sql, config }: Services): void {
  app.post(
    '/workspaces/:workspaceId/api-keys',
    {
      onRequest,
      schema: {
        ...described,
        summary: 'Create an API key; its plaintext is in this answer and nowhere else',
        params: z.object({ workspaceId: z.string() }),
        body: NewApiKeyBody,
        response: { 201: CreatedApiKey, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { workspaceId, userId } = request.member;
      const { name, description, role, scopes, expiresAt } = request.body;
      request.server.beforeCommit?.(request);
      const created = await createKey(sql, app.authentication.secrets, {
        workspaceId,
        userId,
        name,
        description: description ?? null,
        role,
        scopes: [...new Set(scopes)],
        expiresAt: expiresAt ? new Date(expiresAt) : null,
      });
      reply.code(201).header('location', linkTo(config, `/workspaces/${workspaceId}/api-keys/${created.id}`));
      // A plaintext key must not stay in any cache.
      reply.header('cache-control', 'no-store');
      return { ...created, scopes: [...created.scopes] };
    },
  );
}

function revokeRoute(app: App, { sql }: Services): void {
  app.delete(
    '/workspaces/:workspaceId/api-keys/:apiKeyId',
    {
      onRequest,
      schema: {
        ...described,
        summary: 'Revoke an API key, at once and for good; revoking it again succeeds',
        params: z.object({ workspaceId: z.string(), apiKeyId: z.string() }),
        response: {
          200: z.object({
            success: z.boolean(),
            revokedAt: instant('When the key was revoked, by this call or an earlier one.'),
          }),
          ...problems(...KEY_PROBLEMS, 404),
        },
      },
    },
    async (request) => {
      const id = pathId(request.params.apiKeyId, 'API key');
      const revokedAt = await revokeApiKey(sql, request.member.workspaceId, id);
      if (revokedAt === null) throw problem('NOT_FOUND', { message: `No API key "${id}" in this workspace.` });
      return { success: true, revokedAt: revokedAt.toISOString() };
    },
  );
}
