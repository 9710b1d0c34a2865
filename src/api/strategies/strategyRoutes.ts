// Strategies: list, read, validate, create and finalize.
import { z } from 'zod';
import type { Transaction } from '../../db/connect.ts';
import {
  archiveStrategy,
  changeStrategy,
  deleteStrategy,
  findStrategy,
  insertStrategy,
  listedStrategies,
  listStrategies,
  lockStrategy,
  type NewHead,
  type Strategy,
} from '../../db/strategies.ts';
import { labelBytes, labelsOf } from '../../db/labels.ts';
import { storedSize } from '../../db/strategyVersions.ts';
import type { VersionContent } from '../../db/strategyVersions.ts';
import { lockWorkspace } from '../../db/workspaces.ts';
import { explainStrategy, type CheckOutcome, type SignalGraph } from '../../engine/index.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { requireKey } from '../http/auth/authentication.ts';
import type { Caller } from '../http/auth/authentication.ts';
import { answerOnce } from '../http/idempotency.ts';
import { changeLabels, StrategyLabelsBody } from '../http/labelShapes.ts';
import { requireStorage } from '../http/storageQuota.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, KEY_PROBLEMS, notFound, pathId, problems } from '../http/routeSchemas.ts';
import { IdempotencyHeader, IdParams, issueBodies, NoQuery } from '../http/routeSchemas.ts';
import { finalizeRoute } from './finalizeRoute.ts';
import * as shapes from './strategySchemas.ts';
import type { App, Services } from '../services.ts';
import {
  checkPayloads,
  contentOf,
  limitPayloads,
  requireEnvelope,
  requireValid,
  warningsOf,
} from './strategyChecks.ts';
import { newStrategyBody, strategyBody } from './strategyBodies.ts';
import { withTemplates } from '../templates/nearestTemplate.ts';
import { versionRoutes } from './versionRoutes.ts';

const BASE = '/public/v1/strategies';
const read = requireKey({ scope: 'strategies_read' });
const write = requireKey({ scope: 'strategies_write', role: 'member' });
const described = { tags: ['Strategies'], security: API_KEY_SECURITY };
/**
 * The options of routes that take payloads: the size is checked first, and faults of the body are reported together
 * with those of the payloads.
 */
const writes = {
  onRequest: write,
  preValidation: limitPayloads,
  attachValidation: true,
  config: { body: 'bodyBytes' },
} as const;

export async function strategyRoutes(app: App, services: Services): Promise<void> {
  readRoutes(app, services);
  validateRoute(app, services);
  explainRoute(app, services);
  createRoute(app, services);
  changeRoute(app, services);
  archiveRoute(app, services);
  versionRoutes(app, services);
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
        response: { 200: pageOf(shapes.Strategy), ...problems(...KEY_PROBLEMS) },
      },
    },
    ({ caller, query }) =>
      // Without notes, which may be long.
      paginate(
        query,
        (row: Strategy) => strategyBody({ ...row, note: null }),
        (page) => listStrategies(sql, caller.workspaceId, query, page),
      ),
  );

  app.get(
    `${BASE}/:id`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_strategy',
        summary: 'A strategy with its newest versions, without payloads',
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
        querystring: shapes.ValidateQuery,
        body: shapes.ValidateBody,
        response: { 200: shapes.ValidationReport, ...problems(...BODY_PROBLEMS) },
      },
    },
    async (request) => {
      await requireEnvelope(services, request.caller, request);
      const outcome = await checkPayloads(services, request.caller, request.body);
      const issues = withTemplates(outcome.issues, request.body);
      const { compiled, ...report } = shapes.reportBody({ ...outcome, issues }, request.body.ignoreWarnings);
      return request.query.compiled === 'false' ? report : { ...report, compiled };
    },
  );
}

function explainRoute(app: App, services: Services): void {
  app.post(
    `${BASE}/explain`,
    {
      ...writes,
      schema: {
        ...described,
        operationId: 'explain_strategy',
        summary: 'The plan of a valid strategy; stores nothing',
        querystring: NoQuery,
        body: shapes.ValidateBody,
        response: { 200: shapes.Explanation, ...problems(...BODY_PROBLEMS, 422) },
      },
    },
    async (request) => {
      await requireEnvelope(services, request.caller, request);
      const outcome = await checkPayloads(services, request.caller, request.body);
      requireValid(contentOf(request.body, outcome), outcome);
      const { settings, strategyAst, signalGraph } = request.body;
      // With both payloads the AST is the one that is compiled.
      const sent = strategyAst == null && signalGraph != null ? (signalGraph as unknown as SignalGraph) : undefined;
      const explained = explainStrategy(outcome.compiled!.strategyAst, settings, { signalGraph: sent });
      if (explained.ok) return explained.explanation;
      throw problem('STRATEGY_INVALID', { issues: explained.issues });
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
      await requireEnvelope(services, caller, request);
      const { name, description, tags, note } = body;
      const strategy = { name, description: description ?? '', templateKey: null, labels: { tags, note } };
      const outcome = await checkPayloads(services, caller, body);
      return answerOnce(services, request, reply, (tx, requestKey) =>
        createStrategy(tx, requestKey, caller, strategy, contentOf(body, outcome), outcome),
      );
    },
  );
}

function changeRoute(app: App, { sql }: Services): void {
  app.patch(
    `${BASE}/:id`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'label_strategy',
        summary: 'Name, tag, annotate or archive a strategy; its versions stay as they are',
        params: IdParams,
        querystring: NoQuery,
        body: StrategyLabelsBody,
        response: { 200: shapes.Strategy, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, body }) => {
      const id = pathId(params.id, 'strategy');
      const { tags, note, ...head } = body;
      const strategy = await sql.begin(async (tx) => {
        // As in createStrategy, the workspace is locked first.
        if (head.archived === false) await lockWorkspace(tx, caller.workspaceId);
        const found = await lockStrategy(tx, caller.workspaceId, id);
        if (found === undefined) throw notFound('strategy', params.id);
        if (head.archived === false && found.isArchived) await requireStrategyRoom(tx, caller);
        await changeStrategy(tx, id, head);
        await changeLabels(tx, caller, id, { tags, note });
        return findStrategy(tx, caller.workspaceId, id);
      });
      return strategyBody(strategy!);
    },
  );
}

const STRATEGY_IN_USE =
  'The strategy cannot be deleted: backtests or sweeps have run its versions, and later sweeps count their trials. ' +
  'Delete them first, or archive the strategy: DELETE without `permanently`.';

function archiveRoute(app: App, { sql }: Services): void {
  app.delete(
    `${BASE}/:id`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'archive_strategy',
        summary: 'Archive a strategy: it leaves the lists and the quota, and keeps its versions and backtests',
        params: IdParams,
        querystring: shapes.DeleteStrategyQuery,
        response: {
          200: z.union([shapes.ArchivedStrategy, shapes.DeletedStrategy]),
          ...problems(...KEY_PROBLEMS, 404, 409),
        },
      },
    },
    async ({ caller, params, query }) => {
      const id = pathId(params.id, 'strategy');
      if (query.permanently === 'true') {
        const outcome = await sql.begin((tx) => deleteStrategy(tx, caller.workspaceId, id));
        if (outcome === undefined) throw notFound('strategy', params.id);
        if (outcome === 'in use') throw problem('VERSION_IN_USE', { message: STRATEGY_IN_USE });
        return { id, deleted: true as const };
      }
      const archivedAt = await archiveStrategy(sql, caller.workspaceId, id);
      if (archivedAt === undefined) throw notFound('strategy', params.id);
      return { id, archivedAt: archivedAt.toISOString() };
    },
  );
}

/**
 * Stores a strategy and its draft version 1, unless the tier's number of strategies is used up (403) or the payloads
 * are not valid (422); the quota is checked first.
 */
export async function createStrategy(
  tx: Transaction,
  requestKey: Buffer | null,
  caller: Caller,
  strategy: NewHead,
  content: VersionContent | null,
  outcome: CheckOutcome,
) {
  await requireStrategyRoom(tx, caller);
  requireValid(content, outcome);
  await requireStorage(tx, caller, storedSize(content) + labelBytes(labelsOf(strategy.labels ?? {})));
  const stored = await insertStrategy(tx, caller.workspaceId, strategy, content, requestKey);
  return {
    status: 201 as const,
    body: { ...newStrategyBody(stored), warnings: issueBodies(warningsOf(outcome)) },
    location: `${BASE}/${stored.id}`,
  };
}

/**
 * Whether one more strategy may be in use; the number cannot change until the transaction ends.
 * @throws TIER_LIMIT_REACHED
 */
async function requireStrategyRoom(tx: Transaction, caller: Caller): Promise<void> {
  await lockWorkspace(tx, caller.workspaceId);
  const limit = TIER_LIMITS[caller.tier].strategies;
  const [{ count: usage }] = await listedStrategies(tx, caller.workspaceId);
  if (usage >= limit)
    throw problem('TIER_LIMIT_REACHED', {
      message:
        `Strategy limit (${limit}) of the ${caller.tier} tier reached. Archive strategies you no longer need: DELETE ` +
        `${BASE}/{id}.`,
      extras: { limitName: 'strategies', limit, usage },
    });
}
