// Compare: several finished backtests side by side, from their stored results and the daily equity of each.
import { setImmediate } from 'node:timers/promises';
import { readTrades } from '../../db/backtests.ts';
import type { Sql } from '../../db/connect.ts';
import {
  comparisonWarnings,
  correlationsOf,
  decodeTrades,
  marksOn,
  matchPositions,
  PositionList,
  previewIndexes,
  settingDifferences,
  unionOfDays,
  type DailyEquity,
} from '../../engine/index.ts';
import { requireKey, type Caller } from '../http/auth/authentication.ts';
import { loopShare } from '../http/loopShare.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, NoQuery, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { comparedRuns, settingsOf, type ComparedRun } from './comparedRuns.ts';
import * as shapes from './compareSchemas.ts';
import { beginDailyEquities, dailyEquities, type DailyEquities } from './dailyEquities.ts';

/** Trades of all runs together; matching them takes a second at most, pair by pair. */
const MAX_TRADES = 100_000;

type Warning = shapes.Comparison['warnings'][number];

export function compareRoute(app: App, services: Services): void {
  const rerunning = { app, sql: services.sql, config: services.config };
  app.post(
    `${BACKTESTS}/compare`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      // Ten backtests can have 100,000 trades, and the rows of 45 pairs.
      config: { body: 'bodyBytes', isHeavy: true },
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        querystring: NoQuery,
        operationId: 'compare_backtests',
        summary: 'Compare 2 to 10 completed backtests: settings, metrics, trades and correlation of returns',
        description:
          'Stores nothing. Correlations need the daily equity of each backtest, which is made by running it again: ' +
          'while one is missing, the answer is 202 with all the rest, and the same request answers 200 later.',
        body: shapes.CompareBody,
        response: { 200: shapes.Comparison, 202: shapes.Comparison, ...problems(...BODY_PROBLEMS, 404, 409) },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const runs = await comparedRuns(services, caller, body.backtestIds);
      const needsEquity = body.correlations || body.equityPoints > 0;
      const rerunIds = needsEquity ? await beginDailyEquities(services.sql, caller, runs) : [];
      const measured = <Result>(work: () => Result): Result => loopShare.measure(caller.workspaceId, work);
      const settings = measured(() => settingDifferences(runs.map(settingsOf)));
      await setImmediate();
      const matched = body.trades ? await matchTrades(services.sql, caller, runs, body.tradeRows) : null;
      const daily = needsEquity ? await dailyEquities(rerunning, reply, runs, rerunIds, body.wait) : null;
      const comparison = measured(() => ({
        backtests: runs.map(backtestBody),
        settings: settings.settings.map((setting) => ({ ...setting, values: [...setting.values] })),
        settingsOmitted: settings.omitted,
        metrics: body.metrics.map((key) => ({ key, values: runs.map(({ stored }) => stored.summary?.[key] ?? null) })),
        trades: matched,
        correlations: body.correlations ? correlationsBody(daily!) : null,
        equity: daily?.status === 'complete' ? chartOf(daily.equities, body.equityPoints) : null,
        warnings: [
          ...comparisonWarnings(runs),
          ...noticesOf(daily),
          ...(body.trades && matched === null ? [TOO_MANY_TRADES] : []),
        ],
      }));
      const isPending = daily?.status === 'pending';
      return reply.code(isPending ? 202 : 200).send({ status: isPending ? 'pending' : 'complete', ...comparison });
    },
  );
}

function backtestBody({ stored, config, label, symbol, symbols, window, engineVersion }: ComparedRun) {
  const { id, strategyId, strategyVersionId, strategyName, version } = stored;
  return {
    id,
    label,
    strategyId,
    strategyVersionId,
    strategyName,
    version,
    symbol,
    ...(symbols.length > 1 && { instruments: symbols.length }),
    timeframe: config.timeframe,
    start: window?.start ?? null,
    end: window?.end ?? null,
    initialBalance: config.initialBalance,
    engineVersion,
  };
}

const TOO_MANY_TRADES: Warning = {
  code: 'TRADES_NOT_COMPARED',
  message:
    `The backtests have more than ${MAX_TRADES.toLocaleString('en-US')} trades together, so their positions were ` +
    'not matched. Compare fewer backtests, or shorter ranges.',
};

/** @returns null when there are too many */
async function matchTrades(
  sql: Sql,
  { workspaceId }: Caller,
  runs: readonly ComparedRun[],
  maxRows: number,
): Promise<shapes.Comparison['trades']> {
  const lists: PositionList[] = [];
  let trades = 0;
  for (const { stored, symbols } of runs) {
    const list = new PositionList(symbols[0]);
    const parts = decodeTrades((await readTrades(sql, stored.id))!);
    for (;;) {
      const { done, value: rows } = loopShare.measure(workspaceId, () => parts.next());
      if (done === true) break;
      trades += rows.length;
      if (trades > MAX_TRADES) return null;
      loopShare.measure(workspaceId, () => list.add(rows));
      await setImmediate();
    }
    lists.push(list);
  }
  const compared = runs.map(({ window }, at) => ({ positions: lists[at].positions, window }));
  const pairs: NonNullable<shapes.Comparison['trades']> = [];
  for (let a = 0; a < runs.length; a++)
    for (let b = a + 1; b < runs.length; b++) {
      const matched = loopShare.measure(workspaceId, () => matchPositions(compared[a], compared[b], maxRows));
      const side = (name: 'onlyA' | 'onlyB') => ({ ...matched[name], rows: [...matched[name].rows] });
      pairs.push({ a, b, ...matched, onlyA: side('onlyA'), onlyB: side('onlyB') });
      await setImmediate();
    }
  return pairs;
}

function correlationsBody(daily: DailyEquities): shapes.Comparison['correlations'] {
  if (daily.status !== 'complete') return { ...daily };
  return { status: 'complete', ...matrixBody(correlationsOf(daily.equities)) };
}

/** A copy, because the schema's type is not readonly. */
export const matrixBody = ({ returns, days }: ReturnType<typeof correlationsOf>) => ({
  returns: returns.map((row) => [...row]),
  days: days.map((row) => [...row]),
});

export const noticesOf = (daily: DailyEquities | null): Warning[] =>
  daily?.status === 'complete' ? daily.notices.map((message) => ({ code: 'RESULT_DIFFERS', message })) : [];

/** The curves on evenly spaced days of all that any run covers. */
function chartOf(equities: readonly DailyEquity[], points: number): shapes.Comparison['equity'] {
  const known = equities.filter(({ days }) => days.length > 0);
  if (points === 0 || known.length === 0) return null;
  const first = known.reduce((earliest, { days }) => Math.min(earliest, days[0]), Infinity);
  const last = known.reduce((latest, { days }) => Math.max(latest, days.at(-1)!), -Infinity);
  const days = unionOfDays(known, { first, last });
  const shown = previewIndexes(days.length, points);
  const curveOf = (run: DailyEquity): (number | null)[] => {
    const marks = marksOn(run, days);
    const [begin, end] = [run.days[0] ?? Infinity, run.days.at(-1) ?? -Infinity];
    return shown.map((at) => (days[at] < begin || days[at] > end ? null : marks[at] / run.initialBalance));
  };
  return { time: shown.map((at) => days[at]), backtests: equities.map(curveOf) };
}
