// Sweeps: start, list, read, follow, cancel and delete.
import { z } from 'zod';
import { deleteSweep, findSweep, keepSweep, listSweeps } from '../../db/sweeps.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { requireConfigBody } from '../backtests/configFaults.ts';
import { findReady } from '../backtests/readyVersion.ts';
import { deleteRoute, followRoute, labelRoute, type RunKind } from '../backtests/runRoutes.ts';
import { awaitSweep, cancelOpenSweep, queueSweep } from '../backtests/sweepRows.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { viewOf } from '../http/detailQuery.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdParams,
  IdempotencyHeader,
  KEY_PROBLEMS,
  NoQuery,
  pathId,
  problems,
} from '../http/routeSchemas.ts';
import { sendTaggedJson } from '../http/etag.ts';
import { requireWaitingClient } from '../http/heavyRequests.ts';
import { answerOnce } from '../http/idempotency.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import type { App, Services } from '../services.ts';
import { sweepAgentView, sweepDetail, sweepProgress, sweepRowBody, SWEEPS } from './sweepBodies.ts';
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
  labelRoute(app, services.sql, KIND, keepSweep);
  sweepResultRoutes(app, services);
}

function createRoute(app: App, services: Services): void {
  app.post(
    SWEEPS,
    {
      onRequest: write,
      // Planning counts the points that the constraints leave.
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
        const { strategyVersionId, name, tags, note, ...spec } = body;
        const ready = await findReady(tx, caller.workspaceId, strategyVersionId);
        const mayGoOn = (): void => requireWaitingClient(request);
        const accepted = await acceptSweep(services.catalogs, caller, ready, spec, mayGoOn);
        const made = await queueSweep(tx, requestKey, caller, { ...accepted, labels: { name, tags, note } });
        return { status: 201, body: sweepDetail(made, services.config), location: `${SWEEPS}/${made.id}` };
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
    ({ caller, query }) => paginate(query, sweepRowBody, (page) => listSweeps(sql, caller.workspaceId, query, page)),
  );
}

function detailRoute(app: App, { sql, config }: Services): void {
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
      const sweep = await awaitSweep(app, sql, reply, { caller, id, backtestId: null }, query.wait);
      const body = viewOf(query, sweepDetail(sweep, config), sweepAgentView);
      return sendTaggedJson(request, reply, body);
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
        const cancelled = await cancelOpenSweep(tx, { caller, id, backtestId: null });
        return { status: 200, body: sweepDetail(cancelled, services.config) };
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
