// Finalize: makes a ready version of a strategy, from the payload that is sent or from the draft that is stored.
import type { Transaction } from '../../db/connect.ts';
import { lockStrategy } from '../../db/strategies.ts';
import {
  countVersions,
  finalizeVersion,
  findDuplicate,
  findVersion,
  findVersionNumber,
  storedSize,
} from '../../db/strategyVersions.ts';
import type { StrategyVersion, VersionContent } from '../../db/strategyVersions.ts';
import type { CheckOutcome, ValidationIssue } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, notFound, versionNotFound, pathId, problems } from '../http/routeSchemas.ts';
import { IdempotencyHeader, IdParams, NoQuery } from '../http/routeSchemas.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { requireStorage } from '../http/storageQuota.ts';
import { answerOnce } from '../http/idempotency.ts';
import { problem } from '../http/problems.ts';
import type { App, Services } from '../services.ts';
import { finalizedBody } from './strategyBodies.ts';
import {
  checkPayloads,
  contentOf,
  limitPayloads,
  requireEnvelope,
  requireValid,
  warningsOf,
} from './strategyChecks.ts';
import type { Payloads } from './strategyChecks.ts';
import * as shapes from './strategySchemas.ts';

/** Registered by strategyRoutes. */
export function finalizeRoute(app: App, services: Services): void {
  app.post(
    '/public/v1/strategies/:id/versions/finalize',
    {
      onRequest: requireKey({ scope: 'strategies_write', role: 'member' }),
      preValidation: limitPayloads,
      attachValidation: true,
      config: { body: 'bodyBytes' },
      schema: {
        tags: ['Strategies'],
        security: API_KEY_SECURITY,
        operationId: 'finalize_strategy_version',
        summary: 'A ready version: a draft promoted, or a new one',
        params: IdParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: shapes.FinalizeBody,
        response: { 200: shapes.FinalizedVersion, ...problems(...BODY_PROBLEMS, 404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { caller, body, params } = request;
      await requireEnvelope(services, caller, request);
      const payloads = await finalizedPayloads(services, caller.workspaceId, params.id, body);
      const outcome = payloads && (await checkPayloads(services, caller, payloads));
      const candidate = payloads && outcome && { payloads, outcome };
      return answerOnce(services, request, reply, async (tx, requestKey) => {
        const strategyId = pathId(params.id, 'strategy');
        const { version, warnings } = await finalize(tx, requestKey, caller, strategyId, body, candidate);
        const duplicateOf = await findDuplicate(tx, caller.workspaceId, version.strategyHash, version.id);
        return { status: 200 as const, body: finalizedBody(version, warnings, duplicateOf) };
      });
    },
  );
}

/**
 * What is to be made ready: the payload of the request, or that of the stored version when the request names one and
 * sends none. Undefined when there is no such version.
 */
async function finalizedPayloads(
  { sql }: Services,
  workspaceId: string,
  strategyId: string,
  { settings, strategyAst, signalGraph, version }: shapes.FinalizeBody,
): Promise<Payloads | undefined> {
  if (settings !== undefined && (strategyAst ?? signalGraph)) return { settings, strategyAst, signalGraph };
  const stored = await findVersionNumber(sql, workspaceId, pathId(strategyId, 'strategy'), version!);
  return stored && { ...stored, settings: settings ?? stored.settings };
}

/** Answers in this order: 404, 409, 422. A ready version with equal content is given back as it is. */
async function finalize(
  tx: Transaction,
  requestKey: Buffer | null,
  { workspaceId, tier }: Asker,
  strategyId: string,
  body: shapes.FinalizeBody,
  candidate: { readonly payloads: Payloads; readonly outcome: CheckOutcome } | undefined,
): Promise<{ version: StrategyVersion; warnings: ValidationIssue[] }> {
  const locked = await lockStrategy(tx, workspaceId, strategyId);
  if (locked === undefined) throw notFound('strategy', strategyId);
  const wanted =
    body.version === undefined ? undefined : await findVersionNumber(tx, workspaceId, strategyId, body.version);
  if (candidate === undefined || (body.version !== undefined && wanted === undefined))
    throw versionNotFound(String(body.version));
  if (locked.isArchived)
    throw problem('STRATEGY_ARCHIVED', {
      message:
        'The strategy is archived and takes no new versions. Take it back into use first: PATCH it with ' +
        '{"archived": false}.',
    });
  const { payloads, outcome } = candidate;
  const content = contentOf(payloads, outcome);
  const warnings = warningsOf(outcome);
  const origin = body.forkedFromVersionId?.toLowerCase() ?? null;
  if (origin !== null && (await findVersion(tx, workspaceId, origin)) === undefined)
    throw notFound('strategy version', origin);
  if (wanted?.status === 'ready') {
    requireSameContent(wanted, content);
    return { version: wanted, warnings };
  }
  requireValid(content, outcome);
  if (outcome.requiresConfirmation && body.ignoreWarnings !== true)
    throw problem('WARNINGS_REQUIRE_CONFIRMATION', {
      message: 'An entry can never be true. Repair it, or send ignoreWarnings: true.',
      issues: warnings,
      extras: { requiresConfirmation: true },
    });
  await requireRoom(tx, { workspaceId, tier }, strategyId, wanted, content);
  const version = await finalizeVersion(tx, workspaceId, strategyId, wanted, content, origin, requestKey);
  return { version, warnings };
}

/** @throws VERSION_NOT_DRAFT: a ready version never changes */
function requireSameContent(ready: StrategyVersion, content: VersionContent | null): void {
  if (content !== null && hasContent(ready, content)) return;
  const { id, version, status } = ready;
  throw problem('VERSION_NOT_DRAFT', {
    message: `Version ${version} is ready and has other content; finalize without version to make a new one.`,
    extras: { existing: { id, version, status } },
  });
}

/**
 * @throws TIER_LIMIT_REACHED when the strategy has no room for another version, or the workspace none for its bytes.
 */
async function requireRoom(
  tx: Transaction,
  asker: Asker,
  strategyId: string,
  draft: StrategyVersion | undefined,
  content: VersionContent,
): Promise<void> {
  await requireStorage(tx, asker, storedSize(content) - (draft === undefined ? 0 : storedSize(draft)));
  if (draft !== undefined) return;
  const limit = TIER_LIMITS[asker.tier].versionsPerStrategy;
  const usage = await countVersions(tx, strategyId);
  if (usage < limit) return;
  throw problem('TIER_LIMIT_REACHED', {
    message:
      `Version limit (${limit}) per strategy of the ${asker.tier} tier reached. Delete versions you no longer need: ` +
      `DELETE /public/v1/strategies/${strategyId}/versions/{version}, or create another strategy from this payload.`,
    extras: { limitName: 'versionsPerStrategy', limit, usage },
  });
}

/** Whether a version has this content: what its hash covers, and the settings; labels and spelling do not count. */
const hasContent = (version: StrategyVersion, content: VersionContent): boolean =>
  version.strategyHash === content.strategyHash && sameMembers(version.settings, content.settings);

/** Whether two flat objects, such as `settings`, have equal members. */
function sameMembers(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
