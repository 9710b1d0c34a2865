// Sweeps: start, list, read, follow, cancel and delete.
import { z } from 'zod';
import type { Queryable } from '../../db/connect.ts';
import { notify } from '../../db/notifications.ts';
import { findVersions } from '../../db/strategyVersions.ts';
import { cancelSweep, deleteSweep, findSweep, findSweepStatus, listSweeps } from '../../db/sweeps.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { enqueueSweep } from '../../jobs/enqueue.ts';
import { waitForEnd } from '../http/waiting.ts';
import { requireConfigBody } from '../backtests/configFaults.ts';
import { requireSweepRoom } from '../backtests/queueing.ts';
import { requireReady } from '../backtests/readyVersion.ts';
import { deleteRoute, followRoute, type RunKind } from '../backtests/runRoutes.ts';
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
import type { App, Services } from '../services.ts';
import { sweepAgentView, sweepDetail, sweepLinks, sweepProgress, sweepRowBody, SWEEPS } from './sweepBodies.ts';
import { acceptSweep } from './sweepChecks.ts';
import { sweepResultRoutes } from './sweepResultRoutes.ts';
import * as shapes from './sweepSchemas.ts';

const read = requireKey({ scope: 'backtests_read' });
const write = requireKey({ scope: 'backtests_write', role: 'member' });
const KIND: RunKind = { path: SWEEPS, what: 'sweep', tag: 'Sweeps' };
const described = { tags: [KIND.tag], security: API_KEY_SECURITY };

export async function sweepRoutes(app: App, services: Services): Promise<void> {
  createRoute(app, services);
  listRoute(app, services);
  detailRoute(app, services);
  cancelRoute(app, services);
  followRoute(app, KIND, {
    read: (workspaceId, id) => findSweep(services.sql, workspaceId, id),
    stateOf,
    dataOf,
  });
  deleteRoute(app, services.sql, KIND, {
    summary: 'Delete a sweep that has ended, with its rows and its report; its trials stay counted',
    answer: shapes.DeletedSweep,
    notTerminal: 'SWEEP_NOT_TERMINAL',
    remove: (workspaceId, id) => deleteSweep(services.sql, workspaceId, id),
  });
  sweepResultRoutes(app, services);
}

function createRoute(app: App, services: Services): void {
  app.post(
    SWEEPS,
    {
      onRequest: write,
      // Planning looks for a first variant that the constraints allow.
      config: { body: 'configBytes', isHeavy: true },
      attachValidation: true,
      schema: {
        ...described,
        operationId: 'run_sweep',
        summary: 'Start a sweep: many variants of a ready strategy version',
        headers: IdempotencyHeader,
        querystring: NoQuery,
        body: shapes.CreateSweepBody,
        response: { 201: shapes.SweepDetail, ...problems(...BODY_PROBLEMS, 404, 409, 422) },
      },
    },
    async (request, reply) => {
      await requireConfigBody(services, request);
      return answerOnce(services, request, reply, async (tx, requestKey) => {
        const { caller, body } = request;
        const { strategyVersionId, ...spec } = body;
        const [version] = await findVersions(tx, caller.workspaceId, [strategyVersionId]);
        const accepted = await acceptSweep(services.catalog, caller, requireReady(version, strategyVersionId), spec);
        await requireSweepRoom(tx, caller);
        const { id } = await enqueueSweep(tx, caller.workspaceId, accepted, requestKey);
        const made = (await findSweep(tx, caller.workspaceId, id))!;
        return { status: 201, body: sweepDetail(made), location: sweepLinks(id).self };
      });
    },
  );
}

function listRoute(app: App, { sql }: Services): void {
  app.get(
    SWEEPS,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'list_sweeps',
        summary: 'Sweeps of the workspace, with their best row and verdict',
        querystring: shapes.SweepListQuery,
        response: { 200: pageOf(shapes.SweepRow), ...problems(...KEY_PROBLEMS) },
      },
    },
    ({ caller, query }) =>
      paginate(query, async (page) => {
        const { rows, total } = await listSweeps(sql, caller.workspaceId, query, page);
        return { rows: rows.map((each) => ({ ...each, row: sweepRowBody(each.row) })), total };
      }),
  );
}

function detailRoute(app: App, { sql }: Services): void {
  app.get(
    `${SWEEPS}/:id`,
    {
      onRequest: read,
      schema: {
        ...described,
        operationId: 'get_sweep',
        summary: 'Status, progress, best row so far and result; `wait` answers as soon as it is terminal',
        params: IdParams,
        querystring: shapes.SweepQuery,
        response: { 200: z.union([shapes.SweepDetail, shapes.SweepAgentView]), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const id = pathId(params.id, 'sweep');
      if (query.wait > 0) {
        await waitForEnd(app, reply, id, query.wait * 1_000, () => findSweepStatus(sql, caller.workspaceId, id));
      }
      const detail = sweepDetail(await requireSweep(sql, caller, id));
      const body = query.view === 'agent' ? sweepAgentView(detail, boundOf(query)) : detail;
      sendTagged(request, reply, tagged(JSON.stringify(body)));
      return reply as never;
    },
  );
}

function cancelRoute(app: App, services: Services): void {
  app.post(
    `${SWEEPS}/:id/cancel`,
    {
      onRequest: write,
      schema: {
        ...described,
        operationId: 'cancel_sweep',
        summary: 'Cancel a sweep; rows that were made are dropped',
        params: IdParams,
        headers: IdempotencyHeader,
        querystring: NoQuery,
        response: { 200: shapes.SweepDetail, ...problems(...BODY_PROBLEMS, 404, 409) },
      },
    },
    (request, reply) =>
      answerOnce(services, request, reply, async (tx) => {
        const { caller, params } = request;
        const id = pathId(params.id, 'sweep');
        if (!(await cancelSweep(tx, caller.workspaceId, id))) {
          const { status } = await requireSweep(tx, caller, id);
          throw problem('SWEEP_ALREADY_TERMINAL', { message: `The sweep has ended already: it is ${status}.` });
        }
        await notify(tx, 'cancel', [id]);
        await notify(tx, 'changed', [id]);
        return { status: 200, body: sweepDetail(await requireSweep(tx, caller, id)) };
      }),
  );
}

/** What counts as a change of a sweep: not the time left, which changes with every read. */
const stateOf = ({ id, status, indexesDone, best, error }: Sweep): string =>
  JSON.stringify({ id, status, indexesDone, best, error });

const dataOf = (sweep: Sweep): string =>
  JSON.stringify({
    id: sweep.id,
    status: sweep.status,
    progress: sweepProgress(sweep),
    best: sweep.best,
    error: sweep.error,
    finishedAt: sweep.finishedAt,
  });

async function requireSweep(sql: Queryable, caller: Caller, id: string): Promise<Sweep> {
  const sweep = await findSweep(sql, caller.workspaceId, id);
  if (sweep === undefined) throw notFound('sweep', id);
  return sweep;
}
