// Backtests: queue, list, read, follow and cancel (spec §4.3.12, §4.3.13; design §6).
import type { FastifyReply } from 'fastify';
import type { Sql, Transaction } from '../../db/connect.ts';
import { cancelBacktest, findBacktest, findBacktestStatus, isTerminal, listBacktests, lockOpenCount } from '../../db/backtests.ts'; // prettier-ignore
import type { Backtest, NewBacktest } from '../../db/backtests.ts';
import { openNews, tell } from '../../db/news.ts';
import type { News } from '../../db/news.ts';
import { findVersions } from '../../db/strategies.ts';
import type { StrategyVersion } from '../../db/strategies.ts';
import { enqueueBacktests } from '../../jobs/enqueue.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import { agentView } from '../agentView.ts';
import { requireKey } from '../auth/authentication.ts';
import type { Caller } from '../auth/authentication.ts';
import { BACKTESTS, detailBody, linksOf, rowBody } from '../backtestBodies.ts';
import { BacktestCheck } from '../backtestCheck.ts';
import { measureBacktests } from '../backtestMetrics.ts';
import { clientGone, waitFor } from '../backtestWaiting.ts';
import { sendTagged, tagged } from '../etag.ts';
import { answerAfter, answerOnce } from '../idempotency.ts';
import { pageOf, paginate } from '../pagination.ts';
import { PROBLEMS, ProblemError, problem } from '../problems.ts';
import * as shapes from '../schemas/backtests.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, IdParams, IdempotencyHeader, KEY_PROBLEMS, NoQuery, issueBodies, notFound, pathId, problems } from '../schemas/common.ts'; // prettier-ignore
import { issuesOfZod } from '../schemas/issues.ts';
import type { App, Services } from '../services.ts';
import { artifactRoutes } from './artifacts.ts';
import { eventRoutes } from './backtestEvents.ts';

const read = requireKey({ scope: 'backtests_read' });
const write = requireKey({ scope: 'backtests_write', role: 'member' });
const described = { tags: ['Backtests'], security: API_KEY_SECURITY };
/** A running backtest ends within 100 ms of being told; the answer waits for that, so that it says what has become of it. */
const CANCEL_WAIT_MS = 1_000;

export async function backtestRoutes(app: App, services: Services): Promise<void> {
  const news = await openNews(services.sql);
  app.addHook('onClose', () => news[Symbol.asyncDispose]());
  measureBacktests(app.metrics, services.sql);
  createRoutes(app, services);
  listRoute(app, services);
  detailRoute(app, services, news);
  cancelRoute(app, services, news);
  eventRoutes(app, services, news);
  artifactRoutes(app, services, news);
}

function createRoutes(app: App, services: Services): void {
  app.post(
    BACKTESTS,
    {
      onRequest: write,
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
    (request, reply) =>
      answerOnce(services, request, reply, async (tx) => {
        const { caller, body } = request;
        const [version] = await findVersions(tx, caller.workspaceId, [body.strategyVersionId]);
        const check = new BacktestCheck(services.catalogue, caller.tier);
        const item = await check.accept(requireReady(version, body.strategyVersionId), body.config);
        const room = await roomOf(tx, caller);
        if (room.left < 1) throw queueFull(caller.tier, room.open);
        const [{ id, createdAt }] = await enqueueBacktests(tx, caller.workspaceId, [item]);
        const { strategyId, strategyVersionId } = item;
        const answer = { id, status: 'queued' as const, strategyId, strategyVersionId };
        return {
          status: 201,
          body: { ...answer, createdAt: createdAt.toISOString(), config: { ...body.config }, links: linksOf(id) },
          location: `${BACKTESTS}/${id}`,
        };
      }),
  );

  app.post(
    `${BACKTESTS}/batch`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'run_backtest_batch',
        summary: `Queue up to ${shapes.MAX_BATCH} backtests, each accepted or refused on its own`,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: shapes.BatchBody,
        response: { 200: shapes.BatchAnswer, ...problems(...BODY_PROBLEMS, 409, 422) },
      },
    },
    (request, reply) =>
      answerOnce(services, request, reply, async (tx) => ({
        status: 200,
        body: await acceptBatch(tx, services, request.caller, request.body.items),
      })),
  );
}

/** In order of the items: what does not fit into the queue any more are the last ones. */
async function acceptBatch(tx: Transaction, services: Services, caller: Caller, items: readonly unknown[]) {
  const parsed = items.map((item) => shapes.CreateBacktestBody.safeParse(item));
  const ids = new Set(parsed.flatMap((item) => (item.success ? [item.data.strategyVersionId.toLowerCase()] : [])));
  const versions = new Map((await findVersions(tx, caller.workspaceId, [...ids])).map((each) => [each.id, each]));
  const check = new BacktestCheck(services.catalogue, caller.tier);
  const checked = await Promise.all(
    parsed.map(async (item, index): Promise<NewBacktest | ProblemError> => {
      const root = `/items/${index}`;
      if (!item.success) return problem('VALIDATION_FAILED', { issues: issuesOfZod(item.error.issues, root) });
      const { strategyVersionId, config } = item.data;
      try {
        const version = requireReady(versions.get(strategyVersionId.toLowerCase()), strategyVersionId);
        return await check.accept(version, config, root);
      } catch (error) {
        if (error instanceof ProblemError) return error;
        throw error;
      }
    }),
  );
  const room = await roomOf(tx, caller);
  const fitting = checked.filter((item): item is NewBacktest => !(item instanceof ProblemError)).slice(0, room.left);
  const made = await enqueueBacktests(tx, caller.workspaceId, fitting);
  const idOf = new Map(fitting.map((item, index) => [item, made[index].id]));
  const data = checked.map((item, index) => {
    if (item instanceof ProblemError) return { index, error: itemError(item) };
    const id = idOf.get(item);
    if (id === undefined) return { index, error: itemError(queueFull(caller.tier, room.open + made.length)) };
    return { index, id, status: 'queued' as const };
  });
  return { data, accepted: made.length, refused: items.length - made.length };
}

function itemError({ status, code, message, issues, extras }: ProblemError) {
  const { retryable } = PROBLEMS[code];
  return { status, code, message, retryable, ...(issues && { issues: issueBodies(issues) }), ...extras };
}

function requireReady(version: StrategyVersion | undefined, id: string): StrategyVersion {
  if (version === undefined) throw notFound('strategy version', id);
  if (version.status !== 'ready')
    throw problem('STRATEGY_VERSION_NOT_READY', {
      message: `Version ${version.version} of the strategy is a draft; finalize it first.`,
      extras: { nextSteps: [`POST /public/v1/strategies/${version.strategyId}/versions/finalize`] },
    });
  return version;
}

/** The queue stays as long as it is until the transaction ends. */
async function roomOf(tx: Transaction, caller: Caller): Promise<{ readonly open: number; readonly left: number }> {
  const open = await lockOpenCount(tx, caller.workspaceId);
  return { open, left: Math.max(0, TIER_LIMITS[caller.tier].queuedBacktests - open) };
}

function queueFull(tier: Tier, usage: number): ProblemError {
  const limit = TIER_LIMITS[tier].queuedBacktests;
  return problem('TIER_LIMIT_REACHED', {
    message: `Limit of queued backtests (${limit}) of the ${tier} tier reached. Wait until some are done.`,
    extras: { limitName: 'queuedBacktests', limit, usage },
  });
}

function listRoute(app: App, { sql }: Services): void {
  app.get(
    BACKTESTS,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_backtests',
        summary: 'Backtests of the workspace, with their headline numbers',
        querystring: shapes.BacktestListQuery,
        response: { 200: pageOf(shapes.BacktestRow), ...problems(...KEY_PROBLEMS) },
      },
    },
    ({ caller, query }) =>
      paginate(query, async (page) => {
        const { rows, total } = await listBacktests(sql, caller.workspaceId, query, page);
        return { rows: rows.map((each) => ({ ...each, row: rowBody(each.row) })), total };
      }),
  );
}

function detailRoute(app: App, { sql }: Services, news: News): void {
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
        response: { 200: shapes.BacktestDetail, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const id = pathId(params.id, 'backtest');
      if (query.wait > 0) await waitUntilEnded(app, sql, news, caller, id, query.wait * 1_000, reply);
      const detail = detailBody(await requireBacktest(sql, caller, id));
      const body = query.view === 'agent' ? agentView(detail, query.maxBytes) : detail;
      // Terminal states never change, so neither does their tag; the same tag of another says that nothing has moved.
      sendTagged(request, reply, tagged(JSON.stringify(body)));
      return reply as never;
    },
  );
}

function cancelRoute(app: App, services: Services, news: News): void {
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
      return answerAfter(services, request, reply, () => cancel(app, services.sql, news, caller, id, reply));
    },
  );
}

async function cancel(app: App, sql: Sql, news: News, caller: Caller, id: string, reply: FastifyReply) {
  const outcome = await cancelBacktest(sql, caller.workspaceId, id);
  if (outcome === undefined) throw notFound('backtest', id);
  if (outcome === 'terminal') {
    const status = await findBacktestStatus(sql, caller.workspaceId, id);
    throw problem('BACKTEST_ALREADY_TERMINAL', { message: `The backtest has ended already: it is ${status}.` });
  }
  await tell(sql, 'changed', [id]);
  if (outcome === 'running') {
    await tell(sql, 'cancel', [id]);
    await waitUntilEnded(app, sql, news, caller, id, CANCEL_WAIT_MS, reply);
  }
  return detailBody(await requireBacktest(sql, caller, id));
}

async function requireBacktest(sql: Sql, caller: Caller, id: string): Promise<Backtest> {
  const backtest = await findBacktest(sql, caller.workspaceId, id);
  if (backtest === undefined) throw notFound('backtest', id);
  return backtest;
}

/** Returns when it has ended, is not there, the time is up, the client has gone or the process stops. */
async function waitUntilEnded(
  app: App,
  sql: Sql,
  news: News,
  caller: Caller,
  id: string,
  timeoutMs: number,
  reply: FastifyReply,
): Promise<void> {
  await waitFor({ news, id, timeoutMs, signals: [app.drainSignal, clientGone(reply)] }, async () => {
    const status = await findBacktestStatus(sql, caller.workspaceId, id);
    return status === undefined || isTerminal(status) ? true : undefined;
  });
}
