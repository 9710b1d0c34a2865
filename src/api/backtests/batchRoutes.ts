// Batch routes: many backtests in one request, as a list of bodies or as a matrix.
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Transaction } from '../../db/connect.ts';
import { insertBacktests, type NewBacktest } from '../../db/backtests.ts';
import { findVersions } from '../../db/strategyVersions.ts';
import { requireKey, type Caller } from '../http/auth/authentication.ts';
import { requireWaitingClient } from '../http/heavyRequests.ts';
import { answerOnce } from '../http/idempotency.ts';
import { requireLabelRoom } from '../http/labelShapes.ts';
import { ProblemError } from '../http/problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, IdempotencyHeader, NoQuery, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { BacktestCheck } from './backtestChecks.ts';
import { BatchAnswer, BatchBody, BatchQuery, MAX_BATCH, ShortBatchAnswer } from './backtestSchemas.ts';
import { rowsAnswer, shortAnswer, type ItemOutcome } from './batchAnswers.ts';
import { checkItems, versionIdOf, type CheckedItem } from './batchChecks.ts';
import { inMatrix, MatrixBody, runsOf } from './matrix.ts';
import { backtestQueueFull, roomOf } from './queueing.ts';
import { explainUnknown } from './readyVersion.ts';

const described = {
  onRequest: requireKey({ scope: 'backtests_write', role: 'member' }),
  tags: ['Backtests'],
  security: API_KEY_SECURITY,
  headers: IdempotencyHeader,
};
const refusals = problems(...BODY_PROBLEMS, 409, 422);

export function batchRoutes(app: App, services: Services): void {
  const { onRequest, ...schema } = described;
  app.post(
    `${BACKTESTS}/batch`,
    {
      onRequest,
      config: { body: 'batchBytes', isQueryPartOfBody: true },
      schema: {
        ...schema,
        operationId: 'run_backtest_batch',
        summary: `Queue up to ${MAX_BATCH} backtests, each accepted or refused on its own`,
        querystring: BatchQuery,
        body: BatchBody,
        response: { 200: z.union([BatchAnswer, ShortBatchAnswer]), ...refusals },
      },
    },
    async (request, reply) => {
      const { caller, body, query } = request;
      // Before the transaction, which must not hold its connection for as long as a thousand checks take.
      const checked = await checkBatch(services, request, body.items);
      const batchId = query.view === 'agent' ? randomUUID() : null;
      return answerOnce<z.input<typeof BatchAnswer> | z.input<typeof ShortBatchAnswer>>(
        services,
        request,
        reply,
        async (tx, requestKey) => {
          const outcomes = await queueBatch(tx, { requestKey, caller, batchId }, checked);
          const answer = batchId === null ? rowsAnswer(outcomes) : shortAnswer(outcomes, batchId, services.config);
          return { status: 200, body: answer };
        },
      );
    },
  );

  app.post(
    `${BACKTESTS}/matrix`,
    {
      onRequest,
      // A small body may stand for a thousand backtests.
      config: { body: 'batchBytes', isHeavy: true },
      schema: {
        ...schema,
        operationId: 'run_backtest_matrix',
        summary: `Queue a backtest of every combination of versions, symbols, timeframes, params …, up to ${MAX_BATCH}`,
        querystring: NoQuery,
        body: MatrixBody,
        response: { 200: ShortBatchAnswer, ...refusals },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const { items, placeOf } = runsOf(body);
      const checked = await checkBatch(services, request, items);
      const placed = checked.map((item, run) =>
        item instanceof ProblemError ? inMatrix(item, `/items/${run}`, (path) => placeOf(run, path)) : item,
      );
      const batchId = randomUUID();
      return answerOnce(services, request, reply, async (tx, requestKey) => {
        const outcomes = await queueBatch(tx, { requestKey, caller, batchId }, placed);
        return { status: 200, body: shortAnswer(outcomes, batchId, services.config) };
      });
    },
  );
}

async function checkBatch(
  services: Services,
  request: Pick<FastifyRequest, 'caller' | 'stopFlag'>,
  items: readonly unknown[],
): Promise<CheckedItem[]> {
  const { caller } = request;
  const ids = new Set(items.flatMap((item) => versionIdOf(item) ?? []));
  const found = await findVersions(services.sql, caller.workspaceId, [...ids]);
  const versions = new Map(found.map((each) => [each.id, each]));
  const unknown = [...ids].filter((id) => !versions.has(id));
  const explained = await explainUnknown(services.sql, caller.workspaceId, unknown);
  const mayGoOn = (): void => requireWaitingClient(request);
  return checkItems(items, { versions, explained }, new BacktestCheck(services.catalogs, caller), mayGoOn);
}

interface Queueing {
  readonly requestKey: Buffer | null;
  readonly caller: Caller;
  /** By which a list finds the batch; null: nobody was told. */
  readonly batchId: string | null;
}

/** Queues items in order, so that when the queue becomes full, the last ones are refused. */
async function queueBatch(
  tx: Transaction,
  { requestKey, caller, batchId }: Queueing,
  checked: readonly CheckedItem[],
): Promise<ItemOutcome[]> {
  const accepted = checked.filter((item): item is NewBacktest => !(item instanceof ProblemError));
  // A batch of which nothing is accepted needs no room, and leaves the queue alone.
  const room = accepted.length === 0 ? { open: 0, left: 0 } : await roomOf(tx, caller);
  const fitting = accepted.slice(0, room.left);
  const labels = fitting.map((item) => item.labels);
  await requireLabelRoom(tx, caller, labels);
  const made = await insertBacktests(tx, caller.workspaceId, fitting, requestKey, batchId);
  const idOf = new Map(fitting.map((item, index) => [item, made[index].id]));
  const full = backtestQueueFull(caller.tier, room.open + made.length, true);
  return checked.map((item, index) => {
    if (item instanceof ProblemError) return { index, error: item };
    const id = idOf.get(item);
    return id === undefined ? { index, error: full } : { index, id };
  });
}
