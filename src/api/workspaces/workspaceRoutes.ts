// Workspace: the identity of the key, what it may do, and how much of its tier is used.
import { z } from 'zod';
import { API_KEY_SCOPES } from '../../db/apiKeys.ts';
import { findWorkspaceUsage } from '../../db/workspaceUsage.ts';
import { TIER_LIMITS, TIERS } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { keyPrefix } from '../http/auth/keyFormat.ts';
import {
  API_KEY_SECURITY,
  instant,
  instantOrNull,
  isoOrNull,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  problems,
  Uuid,
} from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';

const WorkspaceContext = z
  .object({
    workspace: z.object({ id: Uuid, name: z.string(), createdAt: instant('When the workspace was made.') }),
    apiKey: z.object({
      id: Uuid,
      name: z.string(),
      keyPrefix: z.string(),
      role: z.enum(['viewer', 'member']),
      scopes: z.array(z.enum(API_KEY_SCOPES)),
      expiresAt: instantOrNull('When the key stops working; null: never.'),
    }),
    subscription: z.object({
      tier: z.enum(TIERS),
      limits: z.record(z.string(), z.int()),
      usage: z.record(z.string(), z.int()).meta({ description: 'By the names of `limits`.' }),
    }),
  })
  .meta({ id: 'WorkspaceContext' });

export async function workspaceRoutes(app: App, { shortReads }: Services): Promise<void> {
  app.get(
    '/public/v1/workspace',
    {
      onRequest: requireKey({ scope: 'workspace_read' }),
      schema: {
        tags: ['Discovery'],
        operationId: 'get_workspace_context',
        summary: 'Workspace, key and subscription',
        security: API_KEY_SECURITY,
        querystring: NoQuery,
        response: { 200: WorkspaceContext, ...problems(...KEY_PROBLEMS) },
      },
    },
    async ({ caller }) => {
      const workspace = await findWorkspaceUsage(shortReads, caller.workspaceId);
      if (workspace === null) throw notFound('workspace', caller.workspaceId);
      return {
        workspace: { id: caller.workspaceId, name: workspace.name, createdAt: workspace.createdAt.toISOString() },
        apiKey: {
          id: caller.apiKeyId,
          name: caller.name,
          keyPrefix: keyPrefix(caller.keyId),
          role: caller.role,
          scopes: [...caller.scopes],
          expiresAt: isoOrNull(caller.expiresAt),
        },
        subscription: {
          tier: caller.tier,
          limits: { ...TIER_LIMITS[caller.tier] },
          usage: { ...workspace.usage },
        },
      };
    },
  );
}
