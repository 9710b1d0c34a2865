// Run routes: following, labeling and deleting, which work the same way for backtests and for sweeps.
import { z } from 'zod';
import type { Sql, Transaction } from '../../db/connect.ts';
import { isTerminal, type RunStatus } from '../../db/runStatus.ts';
import { notify } from '../../db/notifications.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { changeLabels, LabeledRun, RunLabelsBody } from '../http/labelShapes.ts';
import {
  API_KEY_SECURITY,
  BODY_PROBLEMS,
  IdParams,
  isoOrNull,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  pathId,
  problems,
  Uuid,
} from '../http/routeSchemas.ts';
import { EVENT_STREAM, sendEvents } from '../http/eventStream.ts';
import { problem } from '../http/problems.ts';
import { type ProblemCode } from '../http/problemTable.ts';
import type { App } from '../services.ts';

/** What answers a deletion. */
export const Deleted = z.object({ id: Uuid, deleted: z.literal(true) });

export interface RunKind {
  /** The path of the list, such as /public/v1/sweeps. */
  readonly path: string;
  readonly what: 'backtest' | 'sweep';
  readonly tag: string;
}

interface Following<Row> {
  readonly read: (workspaceId: string, id: string) => Promise<Row | undefined>;
  /** What counts as a change; default: the data. */
  readonly stateOf?: (row: Row) => string;
  /** The data of an event, as JSON. */
  readonly dataOf: (row: Row) => string;
}

/** GET …/:id/events of runs of one kind, as server-sent events. */
export function followRoute<Row extends { readonly status: RunStatus }>(
  app: App,
  { path, what, tag }: RunKind,
  { read, dataOf, stateOf = dataOf }: Following<Row>,
): void {
  app.get(
    `${path}/:id/events`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: [tag],
        security: API_KEY_SECURITY,
        operationId: `follow_${what}`,
        summary: `Server-sent events \`status\` and \`progress\`; the stream ends with the ${what}`,
        params: IdParams,
        querystring: NoQuery,
        response: { 200: EVENT_STREAM, ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params }, reply) => {
      const id = pathId(params.id, what);
      const readNow = () => read(caller.workspaceId, id);
      const first = await readNow();
      if (first === undefined) throw notFound(what, id);
      const hasEnded = ({ status }: Row): boolean => isTerminal(status);
      const followed = { id, first, read: readNow, caller, isTerminal: hasEnded, stateOf, dataOf };
      return sendEvents(app, reply, followed) as never;
    },
  );
}

/**
 * PATCH …/:id of runs of one kind: their labels, whatever their status.
 * @param keep keeps the run from being deleted until the transaction ends; false: there is none
 */
export function labelRoute(
  app: App,
  sql: Sql,
  { path, what, tag }: RunKind,
  keep: (tx: Transaction, workspaceId: string, id: string) => Promise<boolean>,
): void {
  app.patch(
    `${path}/:id`,
    {
      onRequest: requireKey({ scope: 'backtests_write', role: 'member' }),
      schema: {
        tags: [tag],
        security: API_KEY_SECURITY,
        operationId: `label_${what}`,
        summary: `Name, tag, annotate or archive a ${what}; its result stays as it is`,
        params: IdParams,
        querystring: NoQuery,
        body: RunLabelsBody,
        response: { 200: LabeledRun, ...problems(...BODY_PROBLEMS, 404) },
      },
    },
    async ({ caller, params, body }) => {
      const id = pathId(params.id, what);
      const labels = await sql.begin(async (tx) => {
        if (!(await keep(tx, caller.workspaceId, id))) throw notFound(what, id);
        return changeLabels(tx, caller, id, body);
      });
      const { name, tags, note, archivedAt } = labels;
      return { id, name, tags: [...tags], note, archivedAt: isoOrNull(archivedAt) };
    },
  );
}

interface Deletion {
  readonly summary: string;
  readonly answer: typeof Deleted;
  /** The code of the problem that answers when it has not ended. */
  readonly notTerminal: ProblemCode;
  readonly remove: (workspaceId: string, id: string) => Promise<'deleted' | 'open' | undefined>;
}

/** DELETE …/:id of runs of one kind that have ended. */
export function deleteRoute(
  app: App,
  sql: Sql,
  { path, what, tag }: RunKind,
  { summary, answer, notTerminal, remove }: Deletion,
): void {
  app.delete(
    `${path}/:id`,
    {
      onRequest: requireKey({ scope: 'backtests_write', role: 'member' }),
      schema: {
        tags: [tag],
        security: API_KEY_SECURITY,
        operationId: `delete_${what}`,
        summary,
        params: IdParams,
        querystring: NoQuery,
        response: { 200: answer, ...problems(...KEY_PROBLEMS, 404, 409) },
      },
    },
    async ({ caller, params }) => {
      const id = pathId(params.id, what);
      const outcome = await remove(caller.workspaceId, id);
      if (outcome === undefined) throw notFound(what, id);
      if (outcome === 'open') {
        const message = `The ${what} has not ended. Cancel it with POST ${path}/${id}/cancel, then delete it.`;
        throw problem(notTerminal, { message });
      }
      await notify(sql, 'changed', [id]);
      return { id, deleted: true as const };
    },
  );
}
