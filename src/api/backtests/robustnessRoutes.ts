// Robustness checks of a completed backtest: start, list, read and cancel.
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { findCheckedBacktest, findCheckedStrategy } from '../../db/robustness.ts';
import { listChecks, type CheckRow as StoredCheckRow } from '../../db/sweeps.ts';
import { resolveConfig, robustnessReport, type BacktestConfig, type RobustnessResult } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { viewOf } from '../http/detailQuery.ts';
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
import { sendTaggedJson } from '../http/etag.ts';
import { fileAnswer, setFileHeaders } from '../http/files.ts';
import { answerOnce } from '../http/idempotency.ts';
import { problem } from '../http/problems.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import type { App, Services } from '../services.ts';
import { acceptCheck } from './acceptRobustness.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { checkPath, checkRowBody, robustnessAgentView, robustnessBody } from './robustnessBodies.ts';
import {
  CheckListQuery,
  CheckRow,
  RobustnessAgentView,
  RobustnessBody,
  RobustnessCheck,
  RobustnessQuery,
} from './robustnessSchemas.ts';
import { awaitSweep, cancelOpenSweep, queueSweep, requireSweep, type NamedSweep } from './sweepRows.ts';

const read = requireKey({ scope: 'backtests_read' });
const write = requireKey({ scope: 'backtests_write', role: 'member' });
const described = { tags: ['Backtests'], security: API_KEY_SECURITY };

const DESCRIPTION = `Runs the backtest again under changed conditions, on the data that it was pinned to: trades in
another order, bars resampled in blocks (of a portfolio, in the same blocks of time for all instruments), higher fees
and slippage, a later start, its numbers moved a little, without each risk rule and each cost; and audits whether it
looks ahead and whether its warm-up is long enough. Without a body it runs every analysis. With \`wait\` it answers
when the check has ended, or after that many seconds; then follow \`links.self\`.`;

export function robustnessRoutes(app: App, services: Services): void {
  createRoute(app, services);
  listRoute(app, services);
  readRoute(app, services);
  reportRoute(app, services);
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
        const body = robustnessBody(await queueSweep(tx, key, caller, check), backtestId, services.config);
        return { status: 201, body, location: checkPath(body.id, backtestId) };
      });
      // An answer that was sent already, such as a replayed refusal, has no check to wait for.
      if (reply.sent || reply.statusCode !== 201) return queued;
      if (query.wait === 0 && query.view === 'full') return queued;
      const body = await checkAfter(app, services, reply, { caller, backtestId, id: queued.id }, query);
      // As text, like the answer to GET.
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body) as never);
    },
  );
}

function listRoute(app: App, { sql, config }: Services): void {
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
      return paginate(
        query,
        (row: StoredCheckRow) => checkRowBody(row, backtestId, config),
        (page) => listChecks(sql, caller.workspaceId, backtestId, query, page),
      );
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
      const body = await checkAfter(app, services, reply, { caller, ...idsOf(params) }, query);
      return sendTaggedJson(request, reply, body);
    },
  );
}

function reportRoute(app: App, { sql }: Services): void {
  app.get(
    `${BACKTESTS}/:id/robustness/:checkId/report`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_robustness_report',
        summary: 'The report of a completed robustness check: one HTML page that asks nothing of the network',
        params: CheckParams,
        querystring: NoQuery,
        response: { 200: fileAnswer('html'), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }, reply) => {
      const { backtestId, id } = idsOf(params);
      const check = await requireSweep(sql, { caller, backtestId, id });
      if (check.result === null)
        throw problem('NOT_FOUND', {
          message: `The check is ${check.status}, and only a completed one has a report. Wait for it with ?wait=60.`,
        });
      const { name, version } = await findCheckedStrategy(sql, caller.workspaceId, check.strategyVersionId);
      const { config } = check.spec as { readonly config: BacktestConfig };
      const heading = { title: name, version, backtestId, config: resolveConfig(config) };
      const page = robustnessReport(check.result as unknown as RobustnessResult, heading);
      return setFileHeaders(reply, `robustness-${id}`, 'html').send(page);
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
        const cancelled = await cancelOpenSweep(tx, { caller, backtestId, id });
        return { status: 200, body: robustnessBody(cancelled, backtestId, services.config) };
      }),
  );
}

const CheckParams = z.object({ id: z.string(), checkId: z.string() });

const idsOf = (params: z.infer<typeof CheckParams>): { readonly backtestId: string; readonly id: string } => ({
  backtestId: pathId(params.id, 'backtest'),
  id: pathId(params.checkId, 'robustness check'),
});

/** The check once it is terminal or the time is up, in the requested view. */
async function checkAfter(
  app: App,
  { sql, config }: Services,
  reply: FastifyReply,
  named: NamedSweep & { readonly backtestId: string },
  query: RobustnessQuery,
): Promise<object> {
  const check = await awaitSweep(app, sql, reply, named, query.wait);
  return viewOf(query, robustnessBody(check, named.backtestId, config), robustnessAgentView);
}
