// Robustness checks of a completed backtest: start, list, read and cancel.
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Queryable } from '../../db/connect.ts';
import { notify } from '../../db/notifications.ts';
import { findCheckedBacktest } from '../../db/robustness.ts';
import { cancelSweep, findSweep, findSweepStatus, listChecks } from '../../db/sweeps.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { enqueueSweep } from '../../jobs/enqueue.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { boundOf } from '../http/detailQuery.ts';
import type { Caller } from '../http/auth/authentication.ts';
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
import { sendTagged, tagged } from '../http/etag.ts';
import { answerOnce } from '../http/idempotency.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import { waitForEnd } from '../http/waiting.ts';
import type { App, Services } from '../services.ts';
import { acceptCheck } from './acceptRobustness.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { requireSweepRoom } from './queueing.ts';
import { checkRowBody, robustnessAgentView, robustnessBody } from './robustnessBodies.ts';
import {
  CheckListQuery,
  CheckRow,
  RobustnessAgentView,
  RobustnessBody,
  RobustnessCheck,
  RobustnessQuery,
} from './robustnessSchemas.ts';

const read = requireKey({ scope: 'backtests_read' });
const write = requireKey({ scope: 'backtests_write', role: 'member' });
const described = { tags: ['Backtests'], security: API_KEY_SECURITY };

const DESCRIPTION = `Runs the backtest again under changed conditions, on the data that it was pinned to: trades in
another order, bars resampled in blocks, higher fees and slippage, a later start, its numbers moved a little, without
each risk rule and each cost; and audits whether it looks ahead and whether its warm-up is long enough. Without a body
it runs every analysis. With \`wait\` it answers when the check has ended, or after that many seconds; then follow
\`links.self\`.`;

export function robustnessRoutes(app: App, services: Services): void {
  createRoute(app, services);
  listRoute(app, services);
  readRoute(app, services);
  cancelRoute(app, services);
}

function createRoute(app: App, services: Services): void {
  app.post(
    `${BACKTESTS}/:id/robustness`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'check_robustness',
        summary: 'Check how robust the result of a completed backtest is',
        description: DESCRIPTION,
        params: IdParams,
        headers: IdempotencyHeader,
        querystring: RobustnessQuery,
        body: RobustnessBody.nullish(),
        response: {
          201: z.union([RobustnessCheck, RobustnessAgentView]),
          ...problems(...BODY_PROBLEMS, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const backtestId = pathId(params.id, 'backtest');
      const queued = await answerOnce<ReturnType<typeof robustnessBody>>(services, request, reply, async (tx, key) => {
        const check = await acceptCheck(tx, caller, backtestId, request.body ?? RobustnessBody.parse({}));
        await requireSweepRoom(tx, caller);
        const { id } = await enqueueSweep(tx, caller.workspaceId, check, key);
        const body = robustnessBody((await findSweep(tx, caller.workspaceId, id, backtestId))!, backtestId);
        return { status: 201, body, location: body.links.self };
      });
      // An answer that was sent already, such as a replayed refusal, has no check to wait for.
      if (reply.sent || reply.statusCode !== 201) return queued;
      if (query.wait === 0 && query.view === 'full') return queued;
      const body = await checkAfter(app, services, reply, { caller, backtestId, id: queued.id, query });
      // As text, like the answer to GET.
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body) as never);
    },
  );
}

function listRoute(app: App, { sql }: Services): void {
  app.get(
    `${BACKTESTS}/:id/robustness`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_robustness',
        summary: 'Robustness checks of a backtest, with their verdict',
        params: IdParams,
        querystring: CheckListQuery,
        response: { 200: pageOf(CheckRow), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, query }) => {
      const backtestId = pathId(params.id, 'backtest');
      if ((await findCheckedBacktest(sql, caller.workspaceId, backtestId)) === undefined)
        throw notFound('backtest', backtestId);
      return paginate(query, async (page) => {
        const { rows, total } = await listChecks(sql, caller.workspaceId, backtestId, query, page);
        return { rows: rows.map((each) => ({ ...each, row: checkRowBody(each.row, backtestId) })), total };
      });
    },
  );
}

function readRoute(app: App, services: Services): void {
  app.get(
    `${BACKTESTS}/:id/robustness/:checkId`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_robustness',
        summary: 'Status and result of a robustness check; `wait` answers as soon as it is terminal',
        params: CheckParams,
        querystring: RobustnessQuery,
        response: { 200: z.union([RobustnessCheck, RobustnessAgentView]), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const { backtestId, id } = idsOf(params);
      const body = await checkAfter(app, services, reply, { caller, backtestId, id, query });
      sendTagged(request, reply, tagged(JSON.stringify(body)));
      return reply as never;
    },
  );
}

function cancelRoute(app: App, services: Services): void {
  app.post(
    `${BACKTESTS}/:id/robustness/:checkId/cancel`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'cancel_robustness',
        summary: 'Cancel a robustness check',
        params: CheckParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        response: { 200: RobustnessCheck, ...problems(...BODY_PROBLEMS, 404, 409) },
      },
    },
    (request, reply) =>
      answerOnce(services, request, reply, async (tx) => {
        const { caller, params } = request;
        const { backtestId, id } = idsOf(params);
        if (!(await cancelSweep(tx, caller.workspaceId, id, backtestId))) {
          const { status } = await requireCheck(tx, caller, backtestId, id);
          throw problem('ROBUSTNESS_ALREADY_TERMINAL', { message: `The check has ended already: it is ${status}.` });
        }
        await notify(tx, 'cancel', [id]);
        await notify(tx, 'changed', [id]);
        const cancelled = await requireCheck(tx, caller, backtestId, id);
        return { status: 200, body: robustnessBody(cancelled, backtestId) };
      }),
  );
}

const CheckParams = z.object({ id: z.string(), checkId: z.string() });

const idsOf = (params: z.infer<typeof CheckParams>): { readonly backtestId: string; readonly id: string } => ({
  backtestId: pathId(params.id, 'backtest'),
  id: pathId(params.checkId, 'robustness check'),
});

interface Asked {
  readonly caller: Caller;
  readonly backtestId: string;
  readonly id: string;
  readonly query: RobustnessQuery;
}

/** The check once it is terminal or the time is up, in the requested view. */
async function checkAfter(
  app: App,
  { sql }: Services,
  reply: FastifyReply,
  { caller, backtestId, id, query }: Asked,
): Promise<object> {
  if (query.wait > 0)
    await waitForEnd(app, reply, id, query.wait * 1_000, () => findSweepStatus(sql, caller.workspaceId, id));
  const body = robustnessBody(await requireCheck(sql, caller, backtestId, id), backtestId);
  return query.view === 'agent' ? robustnessAgentView(body, boundOf(query)) : body;
}

async function requireCheck(sql: Queryable, caller: Caller, backtestId: string, id: string): Promise<Sweep> {
  const check = await findSweep(sql, caller.workspaceId, id, backtestId);
  if (check === undefined) throw notFound('robustness check', id);
  return check;
}
