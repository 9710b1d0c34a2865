// Columns over HTTP: what an indicator, a value or a condition of the strategy language is on each bar, without a run.
import { z } from 'zod';
import { computeColumns, ConfigTime, estimateColumns, planColumns } from '../../engine/index.ts';
import type { SeriesName } from '../../engine/index.ts';
import type { Catalog, CatalogEntry } from '../../market/catalog.ts';
import { TIER_LIMITS } from '../../tiers.ts';
import { barsOf, seriesKey } from '../backtests/backtestCost.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { loopShare } from '../http/loopShare.ts';
import { faultsMessage, problem, type ProblemIssue } from '../http/problems.ts';
import { API_KEY_SECURITY, BODY_PROBLEMS, NoQuery, problems, text } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { COLUMNS_EXAMPLES } from './columnsExamples.ts';
import {
  controlOf,
  openMarket,
  rangeOf,
  requireSeries,
  rowMembers,
  Rows,
  rowsAnswer,
  RowsPagination,
  RowTimeframe,
  sendPage,
  unlessGone,
} from './seriesReads.ts';

/** More than a table that is looked at has. */
const MAX_COLUMNS = 32;
/** All work of a request is bounded to a few seconds; the thread of heavy requests is replaced when it is silent. */
const MAX_SECONDS = 2;
const MAX_BYTES = 512 * 1024 * 1024;

const ColumnName = text(1, 100);
/** How a record names a key that it does not like says nothing, so that the names are checked here. */
const Columns = z.record(z.string(), z.unknown()).superRefine((columns, context) => {
  const names = Object.keys(columns);
  const add = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', message, path });
  if (names.length < 1 || names.length > MAX_COLUMNS) add(`must have 1 to ${MAX_COLUMNS} columns`);
  for (const name of names.slice(0, MAX_COLUMNS)) {
    if (name === 'time') add('is a column that every row has; use another name', name);
    if (!ColumnName.safeParse(name).success) add('must be named by 1 to 100 characters', name);
  }
});

export const ColumnsBody = z
  .strictObject({
    symbol: text(1, 100),
    timeframe: RowTimeframe,
    columns: Columns.meta({
      description: 'Value expressions and conditions of the strategy language, by the names of the columns.',
    }),
    where: z.string().max(100).optional().meta({
      description: 'The name of a condition among the columns: only bars on which it is true.',
    }),
    timezone: z.string().max(100).optional().meta({ description: 'Of times that name no zone. Default UTC.' }),
    range: z
      .strictObject({ start: ConfigTime.nullish(), end: ConfigTime.nullish() })
      .nullish()
      .meta({ description: 'As in the config of a backtest. Values do not depend on it.' }),
    ...rowMembers((min, max) => z.int().min(min).max(max).optional()),
  })
  .meta({ id: 'ColumnsRequest', examples: COLUMNS_EXAMPLES });

const ColumnsPage = z
  .object({
    symbol: z.string(),
    timeframe: RowTimeframe,
    lookback: z.int().meta({ description: 'Bars before the first value of every column.' }),
    columns: z.array(z.object({ name: z.string(), type: z.enum(['value', 'condition']), text: z.string() })),
    data: Rows.meta({ description: 'time (ms UTC) and the columns; null: no value yet, or an unknown condition.' }),
    pagination: RowsPagination,
  })
  .meta({ id: 'Columns' });

export function columnsRoute(app: App, { catalogs, config }: Services): void {
  app.post(
    '/public/v1/columns',
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      config: { body: 'configBytes', isHeavy: true },
      schema: {
        tags: ['Market data'],
        operationId: 'compute_columns',
        summary: 'Values and conditions of the strategy language on the bars of a range; stores nothing',
        security: API_KEY_SECURITY,
        querystring: NoQuery,
        body: ColumnsBody,
        response: { 200: rowsAnswer(ColumnsPage), ...problems(...BODY_PROBLEMS, 404, 422) },
      },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const catalog = catalogs.of(caller.workspaceId);
      const { symbol, timeframe, columns, where, timezone } = body;
      const base = await requireSeries(catalog, { symbol, timeframe });
      const knownSymbols = new Set((await catalog.list()).map((entry) => entry.symbol));
      const checked = loopShare.measure(caller.workspaceId, () =>
        planColumns({ symbol, timeframe, columns, timezone }, TIER_LIMITS[caller.tier], knownSymbols),
      );
      if (!checked.ok) throw invalid(checked.issues);
      const { planned } = checked;
      requireFilter(where, planned.columns);
      const rows = await rowsRead(catalog, base, planned.foreign, timeframe);
      requireFewer(estimateColumns(planned, symbol, (series) => rows.get(seriesKey(series)) ?? rows.get(symbol) ?? 0));
      const market = await openMarket(catalog, caller, { symbol, timeframe }, planned.foreign);
      const range = rangeOf(body.range ?? {});
      const computed = unlessGone(() =>
        loopShare.measure(caller.workspaceId, () =>
          computeColumns(planned, market, { range, where, owner: caller.workspaceId, control: controlOf(request) }),
        ),
      );
      return sendPage(
        request,
        reply,
        { config, asked: body },
        {
          rows: computed.rows,
          timeOf: (row) => market.base.time[row],
          tableOf: computed.tableOf,
          selection: { symbol, timeframe, columns, where, timezone, range, last: body.last },
          head: { symbol, timeframe, lookback: planned.lookback, columns: planned.columns },
          name: `${symbol}-${timeframe}-columns`,
        },
      );
    },
  );
}

const invalid = (issues: readonly ProblemIssue[]) =>
  problem('STRATEGY_INVALID', { message: faultsMessage(issues), issues });

/** @throws STRATEGY_INVALID */
function requireFilter(where: string | undefined, columns: readonly { name: string; type: string }[]): void {
  if (where === undefined || columns.some(({ name, type }) => name === where && type === 'condition')) return;
  const conditions = columns.filter(({ type }) => type === 'condition').map(({ name }) => name);
  throw invalid([
    {
      code: 'OUT_OF_RANGE',
      path: '/where',
      field: 'where',
      severity: 'error',
      message: `where names "${where}", which is not a condition among the columns.`,
      suggestion: conditions.length === 0 ? 'Add a condition to columns.' : `Use one of ${conditions.join(', ')}.`,
    },
  ]);
}

/**
 * Bars of the series that columns read, by `seriesKey`; of the own instrument, by its symbol.
 * @throws STRATEGY_INVALID for a series that there is not
 */
async function rowsRead(
  catalog: Catalog,
  base: CatalogEntry,
  foreign: readonly SeriesName[],
  timeframe: SeriesName['timeframe'],
): Promise<ReadonlyMap<string, number>> {
  const rows = new Map([[base.symbol, barsOf(base, timeframe)]]);
  const missing: ProblemIssue[] = [];
  for (const series of foreign) {
    const found = await catalog.find(series.symbol, series.timeframe);
    if (found !== undefined) rows.set(seriesKey(series), barsOf(found, series.timeframe));
    else
      missing.push({
        code: 'SYMBOL_NOT_AVAILABLE',
        path: '/columns',
        field: 'columns',
        severity: 'error',
        message: `The columns read ${series.symbol} ${series.timeframe}, of which there is no market data.`,
        suggestion: 'Use series of GET /public/v1/market-data.',
      });
  }
  if (missing.length > 0) throw invalid(missing);
  return rows;
}

/** @throws TIER_LIMIT_REACHED when computing takes too long, or too much memory */
function requireFewer({ ns, bytes }: { readonly ns: number; readonly bytes: number }): void {
  const seconds = ns / 1e9;
  if (seconds <= MAX_SECONDS && bytes <= MAX_BYTES) return;
  const [what, limitName, limit, usage] =
    seconds > MAX_SECONDS
      ? [`take about ${seconds.toFixed(1)} s, and a request may take ${MAX_SECONDS} s`, 'seconds', MAX_SECONDS, seconds]
      : [`take about ${Math.ceil(bytes / 2 ** 20)} MiB, and a request may take 512 MiB`, 'bytes', MAX_BYTES, bytes];
  throw problem('TIER_LIMIT_REACHED', {
    message: `These columns ${what}. Ask for fewer, or on a coarser timeframe; a backtest has no such limit.`,
    extras: { limitName, limit, usage: Math.ceil(usage) },
  });
}
