// Combine: several finished backtests as one weighted account, from the daily equity of each.
import {
  combine,
  commonDays,
  comparisonWarnings,
  equityBefore,
  previewIndexes,
  type DailyEquity,
  type DayRange,
} from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { loopShare } from '../http/loopShare.ts';
import { problem } from '../http/problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, NoQuery, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { comparedRuns, type ComparedRun } from './comparedRuns.ts';
import { matrixBody, noticesOf } from './compareRoute.ts';
import * as shapes from './compareSchemas.ts';
import { beginDailyEquities, dailyEquities } from './dailyEquities.ts';

export function combineRoute(app: App, services: Services): void {
  const rerunning = { app, sql: services.sql, config: services.config };
  app.post(
    `${BACKTESTS}/combine`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      config: { body: 'bodyBytes', isHeavy: true },
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        querystring: NoQuery,
        operationId: 'combine_backtests',
        summary: 'Combine up to 10 completed backtests as one account with weights',
        description:
          'Stores nothing. While the daily equity of a backtest is being made, the answer is 202; send it again.',
        body: shapes.CombineBody,
        response: {
          200: shapes.CompleteCombination,
          202: shapes.PendingCombination,
          ...problems(...BODY_PROBLEMS, 404, 409),
        },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const ids = body.backtests.map(({ backtestId }) => backtestId);
      const runs = await comparedRuns(services, caller, ids);
      const rerunIds = await beginDailyEquities(services.sql, caller, runs);
      const daily = await dailyEquities(rerunning, reply, runs, rerunIds, body.wait);
      if (daily.status === 'pending') return reply.code(202).send(daily);
      if (daily.status === 'failed') throw problem('ARTIFACT_NOT_REPRODUCIBLE', { message: daily.message });
      const combined = loopShare.measure(caller.workspaceId, () => combinationOf(runs, daily.equities, body));
      return { ...combined, warnings: [...combined.warnings, ...noticesOf(daily)] };
    },
  );
}

/** @throws VALIDATION_FAILED when the backtests have no day in common, or nothing to combine on it */
function combinationOf(
  runs: readonly ComparedRun[],
  equities: readonly DailyEquity[],
  body: shapes.CombineBody,
): shapes.CompleteCombination {
  const range = requireCommonDays(runs, equities);
  const sum = body.backtests.reduce((total, { weight }) => total + weight, 0);
  const weights = body.backtests.map(({ weight }) => (body.normalize ? weight / sum : weight));
  const meanBalance = runs.reduce((total, { config }, at) => total + weights[at] * config.initialBalance, 0);
  const { initialBalance = meanBalance, rebalance } = body;
  const rates = runs.map(({ config }) => config.riskFreeRatePerYear ?? 0);
  const isOneRate = rates.every((rate) => rate === rates[0]);
  const riskFree = body.riskFreeRatePerYear ?? (isOneRate ? rates[0] : 0);
  const parts = equities.map((equity, at) => ({ equity, weight: weights[at] }));
  const made = combine(parts, { range, rebalance, initialBalance, riskFree });
  const { drawdown } = made;
  const chosen = runs.map((run, at) => {
    const { weight, finalWeight, contribution, summary } = made.parts[at];
    const { days } = equities[at];
    return {
      id: run.stored.id,
      label: run.label,
      symbol: run.symbol,
      timeframe: run.config.timeframe,
      weight,
      finalWeight,
      contribution,
      daysCutBefore: days.filter((day) => day < range.first).length,
      daysCutAfter: days.filter((day) => day > range.last).length,
      summary: { ...summary },
    };
  });
  const shown = previewIndexes(made.days.length, body.equityPoints);
  return {
    status: 'complete',
    period: { start: made.start, end: made.end, days: made.days.length },
    rebalance,
    initialBalance,
    summary: { ...made.summary },
    diversificationRatio: made.diversificationRatio,
    drawdown: drawdown && jointBody(drawdown),
    backtests: chosen,
    correlations: matrixBody(made.correlations),
    equity:
      body.equityPoints === 0
        ? null
        : {
            time: shown.map((at) => made.days[at]),
            combined: shown.map((at) => made.equity[at]),
            backtests: made.parts.map(({ growth }) => shown.map((at) => growth[at])),
          },
    warnings: [...cutWarnings(chosen), ...comparisonWarnings(runs).filter(({ code }) => MISLEADS_SUMS.has(code))],
  };
}

function jointBody({ runs, ...joint }: NonNullable<ReturnType<typeof combine>['drawdown']>) {
  return { ...joint, backtests: runs.map((run) => ({ ...run })) };
}

/** What of a comparison also misleads in a combination, where every run is a part of its own. */
const MISLEADS_SUMS: ReadonlySet<string> = new Set([
  'CURRENCIES_DIFFER',
  'CALENDARS_DIFFER',
  'RISK_FREE_RATES_DIFFER',
  'ENGINES_DIFFER',
]);

function cutWarnings(
  parts: readonly { readonly label: string; readonly daysCutBefore: number; readonly daysCutAfter: number }[],
): shapes.Comparison['warnings'] {
  const cut = parts.filter(({ daysCutBefore, daysCutAfter }) => daysCutBefore + daysCutAfter > 0);
  if (cut.length === 0) return [];
  const list = cut.map((part) => `${part.label}: ${part.daysCutBefore} before, ${part.daysCutAfter} after`).join('; ');
  const message = `Only days that all backtests cover are combined. Days left out of ${list}.`;
  return [{ code: 'PERIOD_CUT', message }];
}

/** @throws VALIDATION_FAILED */
function requireCommonDays(runs: readonly ComparedRun[], equities: readonly DailyEquity[]): DayRange {
  const range = commonDays(equities);
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  if (range === null) {
    const periodOf = ({ label }: ComparedRun, { days }: DailyEquity): string =>
      days.length === 0 ? `${label} has no bar` : `${label} covers ${dayOf(days[0])} to ${dayOf(days.at(-1)!)}`;
    const list = runs.map((run, at) => periodOf(run, equities[at])).join('; ');
    throw refused(`The backtests have no day in common: ${list}.`, 'Combine backtests whose ranges overlap.');
  }
  const lost = runs.find((_, at) => equityBefore(equities[at], range.first) <= 0);
  if (lost === undefined) return range;
  const message =
    `The backtest ${lost.stored.id} (${lost.label}) lost everything before ${dayOf(range.first)}, when the common ` +
    'period begins.';
  throw refused(message, 'Leave this backtest out, or run it again over the common period.');
}

const refused = (message: string, suggestion: string) =>
  problem('VALIDATION_FAILED', {
    message,
    issues: [{ code: 'OUT_OF_RANGE', path: '/backtests', field: 'backtests', severity: 'error', message, suggestion }],
  });
