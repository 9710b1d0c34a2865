// Strategies: list, read, validate, create and finalize (spec §4.3.7 to §4.3.11).
import type { z } from 'zod';
import type { Transaction } from '../../db/connect.ts';
import {
  countStrategies,
  finalizeVersion,
  findDuplicate,
  findStrategy,
  findVersion,
  findVersionNumber,
  insertStrategy,
  listStrategies,
  lockStrategy,
} from '../../db/strategies.ts';
import type { StrategyVersion, VersionContent } from '../../db/strategies.ts';
import { lockWorkspace } from '../../db/workspaces.ts';
import type { CheckOutcome } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireKey } from '../auth/authentication.ts';
import type { Caller } from '../auth/authentication.ts';
import { answerOnce } from '../idempotency.ts';
import { pageOf, paginate } from '../pagination.ts';
import { problem } from '../problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, KEY_PROBLEMS, notFound, pathId, problems } from '../schemas/common.ts';
import { IdempotencyHeader, IdParams, issueBodies, NoQuery } from '../schemas/common.ts';
import * as shapes from '../schemas/strategies.ts';
import type { App, Services } from '../services.ts';
import {
  checkPayloads,
  contentOf,
  limitPayloads,
  requireEnvelope,
  requireValid,
  warningsOf,
} from '../strategyCheck.ts';
import { finalizedBody, rowBody, strategyBody } from '../strategyBodies.ts';

const BASE = '/public/v1/strategies';
const read = requireKey({ scope: 'strategies_read' });
const write = requireKey({ scope: 'strategies_write', role: 'member' });
const described = { tags: ['Strategies'], security: API_KEY_SECURITY };
/** A body with payloads: its size is looked at first, and what is wrong with it is told together with what is wrong inside. */
const writes = { onRequest: write, preValidation: limitPayloads, attachValidation: true };

export async function strategyRoutes(app: App, services: Services): Promise<void> {
  readRoutes(app, services);
  validateRoute(app, services);
  createRoute(app, services);
  finalizeRoute(app, services);
}

function readRoutes(app: App, { sql }: Services): void {
  app.get(
    BASE,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_strategies',
        summary: 'Strategies of the workspace, without payloads',
        querystring: shapes.StrategyListQuery,
        response: { 200: pageOf(shapes.StrategyRow), ...problems(...KEY_PROBLEMS) },
      },
    },
    ({ caller, query }) =>
      paginate(query, async (page) => {
        const { rows, total } = await listStrategies(sql, caller.workspaceId, query, page);
        return { rows: rows.map((each) => ({ ...each, row: rowBody(each.row) })), total };
      }),
  );

  app.get(
    `${BASE}/:id`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_strategy',
        summary: 'A strategy with its versions',
        params: IdParams,
        querystring: NoQuery,
        response: { 200: shapes.Strategy, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }) => {
      const strategy = await findStrategy(sql, caller.workspaceId, pathId(params.id, 'strategy'));
      if (strategy === undefined) throw notFound('strategy', params.id);
      return strategyBody(strategy);
    },
  );
}

function validateRoute(app: App, services: Services): void {
  app.post(
    `${BASE}/validate`,
    {
      ...writes,
      schema: {
        ...described,
        operationId: 'validate_strategy',
        summary: 'Finalize-grade validation; stores nothing',
        querystring: NoQuery,
        body: shapes.ValidateBody,
        response: { 200: shapes.ValidationReport, ...problems(...BODY_PROBLEMS) },
      },
    },
    async (request) => {
      await requireEnvelope(services, request.caller.tier, request);
      return shapes.reportBody(await checkPayloads(services, request.caller.tier, request.body));
    },
  );
}

function createRoute(app: App, services: Services): void {
  app.post(
    BASE,
    {
      ...writes,
      schema: {
        ...described,
        operationId: 'create_strategy',
        summary: 'A strategy with draft version 1',
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: shapes.CreateBody,
        response: { 201: shapes.CreatedStrategy, ...problems(...BODY_PROBLEMS, 409, 422) },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      await requireEnvelope(services, caller.tier, request);
      const { name, description = '' } = body;
      const strategy = { name, description, templateKey: null };
      const outcome = await checkPayloads(services, caller.tier, body);
      return answerOnce(services, request, reply, (tx) =>
        createStrategy(tx, caller, strategy, contentOf(body, outcome), outcome),
      );
    },
  );
}

/**
 * Stores a strategy and its draft version 1, unless the tier's number of strategies is used up (403) or the payloads are not valid
 * (422); the former is said first.
 */
export async function createStrategy(
  tx: Transaction,
  caller: Caller,
  strategy: { readonly name: string; readonly description: string; readonly templateKey: string | null },
  content: VersionContent | null,
  outcome: CheckOutcome,
) {
  await lockWorkspace(tx, caller.workspaceId);
  const limit = TIER_LIMITS[caller.tier].strategies;
  const usage = await countStrategies(tx, caller.workspaceId);
  if (usage >= limit)
    throw problem('TIER_LIMIT_REACHED', {
      message: `Strategy limit (${limit}) of the ${caller.tier} tier reached.`,
      extras: { limitName: 'strategies', limit, usage },
    });
  requireValid(content, outcome);
  const stored = await insertStrategy(tx, caller.workspaceId, strategy, content);
  return {
    status: 201 as const,
    body: { ...strategyBody(stored), warnings: issueBodies(warningsOf(outcome)) },
    location: `${BASE}/${stored.id}`,
  };
}

function finalizeRoute(app: App, services: Services): void {
  app.post(
    `${BASE}/:id/versions/finalize`,
    {
      ...writes,
      schema: {
        ...described,
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
      await requireEnvelope(services, caller.tier, request);
      const outcome = await checkPayloads(services, caller.tier, body);
      return answerOnce(services, request, reply, async (tx) => {
        const strategyId = pathId(params.id, 'strategy');
        const version = await finalize(tx, caller.workspaceId, strategyId, body, outcome);
        const duplicateOf = await findDuplicate(tx, caller.workspaceId, version.strategyHash, version.id);
        return { status: 200 as const, body: finalizedBody(version, warningsOf(outcome), duplicateOf) };
      });
    },
  );
}

/** In the order of design §6: 404, 409, 422. A ready version with equal content is given back as it is. */
async function finalize(
  tx: Transaction,
  workspaceId: string,
  strategyId: string,
  body: z.infer<typeof shapes.FinalizeBody>,
  outcome: CheckOutcome,
): Promise<StrategyVersion> {
  const content = contentOf(body, outcome);
  if (!(await lockStrategy(tx, workspaceId, strategyId))) throw notFound('strategy', strategyId);
  const wanted =
    body.version === undefined ? undefined : await findVersionNumber(tx, workspaceId, strategyId, body.version);
  if (body.version !== undefined && wanted === undefined)
    throw notFound('version of this strategy', String(body.version));
  const origin = body.forkedFromVersionId?.toLowerCase() ?? null;
  if (origin !== null && (await findVersion(tx, workspaceId, origin)) === undefined)
    throw notFound('strategy version', origin);
  if (wanted?.status === 'ready') {
    if (content !== null && hasContent(wanted, content)) return wanted;
    const { id, version, status } = wanted;
    throw problem('VERSION_NOT_DRAFT', {
      message: `Version ${version} is ready and has other content; finalize without version to make a new one.`,
      extras: { existing: { id, version, status } },
    });
  }
  requireValid(content, outcome);
  if (outcome.requiresConfirmation && body.ignoreWarnings !== true)
    throw problem('WARNINGS_REQUIRE_CONFIRMATION', {
      message: 'An entry can never be true. Repair it, or send ignoreWarnings: true.',
      issues: warningsOf(outcome),
      extras: { requiresConfirmation: true },
    });
  return finalizeVersion(tx, workspaceId, strategyId, wanted, content, origin);
}

/** Content is what the hash speaks for, and the settings; labels and the spelling of a payload are not. */
const hasContent = (version: StrategyVersion, content: VersionContent): boolean =>
  version.strategyHash === content.strategyHash && sameMembers(version.settings, content.settings);

/** `settings` are flat. */
function sameMembers(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}
