// The editor: its two operations, for signed-in users.
import { z } from 'zod';
import { MANAGING_ROLES } from '../../db/members.ts';
import { compileTokens } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireMember } from '../http/auth/authentication.ts';
import { BODY_PROBLEMS, Issue, issueBodies, Json, JWT_SECURITY, NoQuery, problems } from '../http/routeSchemas.ts';
import { TOKENS_EXAMPLES } from './strategyExamples.ts';
import * as shapes from './strategySchemas.ts';
import type { App, Services } from '../services.ts';
import { checkPayloads, knownSymbols, limitPayloadBytes, requireEnvelope } from './strategyChecks.ts';

/** The editor's vocabulary; what is inside a token is an issue, not a malformed request. */
const Tokens = z.array(z.unknown()).max(10_000);
const TokensBody = z
  .strictObject({ entryTokens: Tokens, exitTokens: Tokens.optional(), settings: Json.optional() })
  .meta({
    id: 'EditorTokens',
    examples: TOKENS_EXAMPLES,
    description: 'Infix order; a token is {id, type, value?, name?, args?}.',
  });
const TokensReport = z
  .object({ valid: z.boolean(), issues: z.array(Issue), strategyAst: Json.nullable() })
  .meta({ id: 'EditorTokensReport' });

const BASE = '/workspaces/:workspaceId/backtests';
const params = z.object({ workspaceId: z.string() });

export async function editorRoutes(app: App, services: Services): Promise<void> {
  const onRequest = requireMember(MANAGING_ROLES);
  const described = { tags: ['Management'], security: JWT_SECURITY, params, querystring: NoQuery };
  const failures = problems(...BODY_PROBLEMS, 404);

  app.post(
    `${BASE}/validate-strategy`,
    {
      onRequest,
      config: { body: 'bodyBytes' },
      schema: {
        ...described,
        operationId: 'validate_editor_tokens',
        summary: 'Compile editor tokens into a canonical payload',
        body: TokensBody,
        response: { 200: TokensReport, ...failures },
      },
    },
    async ({ body, member }) => {
      const { valid, issues, strategyAst } = compileTokens(body, {
        limits: TIER_LIMITS[member.tier],
        knownSymbols: await knownSymbols(services, member.workspaceId),
      });
      return { valid, issues: issueBodies(issues), strategyAst: strategyAst && { ...strategyAst } };
    },
  );

  app.post(
    `${BASE}/validate-signal-graph`,
    {
      onRequest,
      config: { body: 'bodyBytes' },
      preValidation: async (request) => limitPayloadBytes(request, request.member.tier),
      attachValidation: true,
      schema: {
        ...described,
        operationId: 'validate_signal_graph',
        summary: 'validate, for signed-in users',
        body: shapes.ValidateBody,
        response: { 200: shapes.ValidationReport, ...failures },
      },
    },
    async (request) => {
      await requireEnvelope(services, request.member, request);
      const outcome = await checkPayloads(services, request.member, request.body);
      return shapes.reportBody(outcome, request.body.ignoreWarnings);
    },
  );
}
