// The bars of a series over HTTP: page by page, as JSON, CSV or Arrow.
import { z } from 'zod';
import { ConfigTime, numberColumn, rowsInRange } from '../../engine/index.ts';
import type { Bars, Table } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { wholeNumber } from '../http/csvPages.ts';
import { API_KEY_SECURITY, KEY_PROBLEMS, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import {
  openMarket,
  rangeOf,
  requireSeries,
  requireTimeframe,
  rowMembers,
  Rows,
  rowsAnswer,
  RowsPagination,
  RowTimeframe,
  sendPage,
} from './seriesReads.ts';

const BarsPage = z
  .object({
    symbol: z.string(),
    timeframe: RowTimeframe,
    storedTimeframe: RowTimeframe.meta({
      description: 'What the bars are stored at; finer than timeframe: resampled.',
    }),
    data: Rows.meta({
      description: 'time (the open of the bar, ms UTC), open, high, low, close, volume, then extra columns.',
    }),
    pagination: RowsPagination,
  })
  .meta({ id: 'Bars' });

/** A time of a query, where a number is a text. */
const queryTime = (description: string) =>
  z
    .preprocess((sent) => (typeof sent === 'string' && /^-?\d+$/.test(sent) ? Number(sent) : sent), ConfigTime)
    .optional()
    .meta({ type: 'string', description });

const BarsQuery = z.strictObject({
  start: queryTime('Bars that open at or after this time: 2024-01-31, 2024-01-31T09:30Z or milliseconds.'),
  end: queryTime('Bars that close by this time.'),
  ...rowMembers(wholeNumber),
});

/** Routes of one series: `:symbol` and `:timeframe` in the path. */
export const SERIES = '/public/v1/market-data/:symbol/:timeframe';
export const SeriesParams = z.object({ symbol: z.string(), timeframe: z.string() });

export function barsRoute(app: App, { catalogs, config }: Services): void {
  app.get(
    `${SERIES}/bars`,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      // Opens a whole series.
      config: { isHeavy: true },
      schema: {
        tags: ['Market data'],
        operationId: 'get_bars',
        summary: 'The bars of a series, stored or resampled',
        security: API_KEY_SECURITY,
        params: SeriesParams,
        querystring: BarsQuery,
        response: { 200: rowsAnswer(BarsPage), ...problems(...KEY_PROBLEMS, 404) },
      },
    },
    async (request, reply) => {
      const { caller, params, query } = request;
      const catalog = catalogs.of(caller.workspaceId);
      const { symbol } = params;
      const timeframe = requireTimeframe(params.timeframe);
      const entry = await requireSeries(catalog, { symbol, timeframe });
      const { base } = await openMarket(catalog, caller, { symbol, timeframe });
      const { first, end } = rowsInRange(base, rangeOf(query));
      return sendPage(
        request,
        reply,
        { config, asked: query },
        {
          rows: Int32Array.from({ length: end - first }, (_, at) => first + at),
          timeOf: (row) => base.time[row],
          tableOf: (rows) => barsTable(base, rows),
          selection: { symbol, timeframe, range: rangeOf(query), last: query.last },
          head: { symbol, timeframe, storedTimeframe: entry.timeframe },
          name: `${symbol}-${timeframe}`,
        },
      );
    },
  );
}

function barsTable(bars: Bars, rows: Int32Array): Table {
  const { time, open, high, low, close, volume, series } = bars;
  const columns = { open, high, low, close, volume };
  return {
    length: rows.length,
    columns: [
      { name: 'time', type: 'time', read: (at) => time[rows[at]] },
      ...[...Object.entries(columns), ...series].map(([name, values]) =>
        numberColumn(
          name,
          Float64Array.from(rows, (row) => values[row]),
        ),
      ),
    ],
  };
}
