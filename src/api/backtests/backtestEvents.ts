// Backtest events: streams the status and progress of a backtest until it has ended (server-sent events).
import { findBacktestState, isTerminal } from '../../db/backtests.ts';
import type { BacktestState } from '../../db/backtests.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { BACKTESTS, progressOf } from './backtestBodies.ts';
import { EVENT_STREAM, sendEvents } from '../http/eventStream.ts';
import {
  API_KEY_SECURITY,
  IdParams,
  KEY_PROBLEMS,
  NoQuery,
  notFound,
  pathId,
  problems,
} from '../http/commonSchemas.ts';
import type { App, Services } from '../services.ts';

export function eventRoutes(app: App, { sql }: Services): void {
  app.get(
    `${BACKTESTS}/:id/events`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'follow_backtest',
        summary: 'Server-sent events `status` and `progress`; the stream ends with the backtest',
        params: IdParams,
        querystring: NoQuery,
        response: {
          200: EVENT_STREAM,
          ...problems(...KEY_PROBLEMS, 404),
        },
      },
    },
    async ({ caller, params }, reply) => {
      const id = pathId(params.id, 'backtest');
      const read = () => findBacktestState(sql, caller.workspaceId, id);
      const first = await read();
      if (first === undefined) throw notFound('backtest', id);
      const isEnded = ({ status }: BacktestState): boolean => isTerminal(status);
      const followed = { id, first, read, caller, isTerminal: isEnded, stateOf: textOf, dataOf: textOf };
      return sendEvents(app, reply, followed) as never;
    },
  );
}

const textOf = (backtest: BacktestState): string =>
  JSON.stringify({
    id: backtest.id,
    status: backtest.status,
    progress: progressOf(backtest),
    error: backtest.error,
    finishedAt: backtest.finishedAt,
  });
