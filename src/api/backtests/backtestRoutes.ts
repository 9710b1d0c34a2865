// Backtests: queue, list, read, follow and cancel.
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Sql } from '../../db/connect.ts';
import {
  cancelBacktest,
  deleteBacktest,
  findBacktestStatus,
  keepBacktest,
  findBacktestState,
  type BacktestState,
} from '../../db/backtests.ts';
import { notify } from '../../db/notifications.ts';
import { AgentView, agentView } from './agentView.ts';
import { queueOne } from './queueing.ts';
import { requireBacktest } from './requireBacktest.ts';
import { requireKey, type Caller } from '../http/auth/authentication.ts';
import { viewOf } from '../http/detailQuery.ts';
import { BACKTESTS, detailBody, progressOf } from './backtestBodies.ts';
import { BacktestCheck } from './backtestChecks.ts';
import { findReady } from './readyVersion.ts';
import { batchRoutes } from './batchRoutes.ts';
import { requireConfigBody } from './configFaults.ts';
import { waitForEnd } from '../http/waiting.ts';
import { sendTaggedJson } from '../http/etag.ts';
import { answerAfter, answerOnce } from '../http/idempotency.ts';
import { problem } from '../http/problems.ts';
import * as shapes from './backtestSchemas.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdParams,
  IdempotencyHeader,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { artifactRoutes } from './artifactRoutes.ts';
import { listRoute } from './listRoute.ts';
import { combineRoute } from './combineRoute.ts';
import { compareRoute } from './compareRoute.ts';
import { robustnessRoutes } from './robustnessRoutes.ts';
import { deleteRoute, followRoute, labelRoute, type RunKind } from './runRoutes.ts';

const read = requireKey({ scope: 'backtests_read' });
const write = requireKey({ scope: 'backtests_write', role: 'member' });
const KIND: RunKind = { path: BACKTESTS, what: 'backtest', tag: 'Backtests' };
const described = { tags: [KIND.tag], security: API_KEY_SECURITY };
/** A running backtest ends within 100 ms of a cancel. The answer waits for that, so that it has the final status. */
const CANCEL_WAIT_MS = 1_000;

export async function backtestRoutes(app: App, services: Services): Promise<void> {
  createRoute(app, services);
  batchRoutes(app, services);
  listRoute(app, services);
  detailRoute(app, services);
  cancelRoute(app, services);
  followRoute(app, KIND, followed(services.sql));
  deleteRoute(app, services.sql, KIND, {
    summary: 'Delete a backtest that has ended, with its result and its artifacts',
    answer: shapes.DeletedBacktest,
    notTerminal: 'BACKTEST_NOT_TERMINAL',
    remove: (workspaceId, id) => deleteBacktest(services.sql, workspaceId, id),
  });
  labelRoute(app, services.sql, KIND, keepBacktest);
  artifactRoutes(app, services);
  compareRoute(app, services);
  combineRoute(app, services);
  robustnessRoutes(app, services);
}

function createRoute(app: App, services: Services): void {
  app.post(
    BACKTESTS,
    {
      onRequest: write,
      config: { body: 'configBytes' },
      attachValidation: true,
      schema: {
        ...described,
        operationId: 'run_backtest',
        summary: 'Queue a backtest of a ready strategy version',
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: shapes.CreateBacktestBody,
        response: { 201: shapes.QueuedBacktest, ...problems(...BODY_PROBLEMS, 404, 409, 422) },
      },
    },
    async (request, reply) => {
      await requireConfigBody(services, request);
      return answerOnce(services, request, reply, async (tx, requestKey) => {
        const { caller, body } = request;
        const version = await findReady(tx, caller.workspaceId, body.strategyVersionId);
        const check = new BacktestCheck(services.catalogs, caller);
        const { config, name, tags, note } = body;
        const item = { ...(await check.accept(version, config)), labels: { name, tags, note } };
        return queueOne(tx, requestKey, caller, item, services.config);
      });
    },
  );
}

function detailRoute(app: App, { sql, config }: Services): void {
  app.get(
    `${BACKTESTS}/:id`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_backtest',
        summary: 'Status, progress and result; `wait` answers as soon as it is terminal',
        params: IdParams,
        querystring: shapes.BacktestQuery,
        response: { 200: z.union([shapes.BacktestDetail, AgentView]), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const id = pathId(params.id, 'backtest');
      if (query.wait > 0) await waitUntilEnded(app, sql, caller, id, query.wait * 1_000, reply);
      const body = viewOf(query, detailBody(await requireBacktest(sql, caller, id), config), agentView);
      // Terminal states never change, so neither does their tag; for others, an equal tag means that nothing has
      // changed.
      return sendTaggedJson(request, reply, body);
    },
  );
}

function cancelRoute(app: App, services: Services): void {
  app.post(
    `${BACKTESTS}/:id/cancel`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'cancel_backtest',
        summary: 'Cancel a backtest: at once when queued, within a moment when running',
        params: IdParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        response: { 200: shapes.BacktestDetail, ...problems(...BODY_PROBLEMS, 404, 409) },
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      const id = pathId(params.id, 'backtest');
      return answerAfter(services, request, reply, () => cancel(app, services, caller, id, reply));
    },
  );
}

async function cancel(app: App, { sql, config }: Services, caller: Caller, id: string, reply: FastifyReply) {
  const outcome = await cancelBacktest(sql, caller.workspaceId, id);
  if (outcome === undefined) throw notFound('backtest', id);
  if (outcome === 'terminal') {
    const status = await findBacktestStatus(sql, caller.workspaceId, id);
    throw problem('BACKTEST_ALREADY_TERMINAL', { message: `The backtest has ended already: it is ${status}.` });
  }
  await notify(sql, 'changed', [id]);
  if (outcome === 'running') {
    await notify(sql, 'cancel', [id]);
    await waitUntilEnded(app, sql, caller, id, CANCEL_WAIT_MS, reply);
  }
  return detailBody(await requireBacktest(sql, caller, id), config);
}

const waitUntilEnded = (app: App, sql: Sql, caller: Caller, id: string, timeoutMs: number, reply: FastifyReply) =>
  waitForEnd(app, reply, id, timeoutMs, () => findBacktestStatus(sql, caller.workspaceId, id));

/** How `followRoute` reads a backtest, and what an event says of it. */
export const followed = (sql: Sql) => ({
  read: (workspaceId: string, id: string) => findBacktestState(sql, workspaceId, id),
  dataOf: (backtest: BacktestState): string =>
    JSON.stringify({
      id: backtest.id,
      status: backtest.status,
      progress: progressOf(backtest),
      error: backtest.error,
      finishedAt: backtest.finishedAt,
    }),
});
