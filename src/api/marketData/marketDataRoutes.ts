// Market data: the series that strategies can be run on, their bars, and columns of values on them.
import { z } from 'zod';
import { TIMEFRAMES } from '../../engine/index.ts';
import { removeWorkspaceSeries } from '../../db/workspaceSeries.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { fixedListQuery, pageOf, paginateItems } from '../http/pagination.ts';
import { problem } from '../http/problems.ts';
import { API_KEY_SECURITY, KEY_PROBLEMS, NoQuery, problems, text } from '../http/routeSchemas.ts';
import { describeUniverseEntry } from '../../market/universe/universe.ts';
import type { App, Services } from '../services.ts';
import { barsRoute, SERIES, SeriesParams } from './barsRoute.ts';
import { columnsRoute } from './columnsRoute.ts';
import { importRoute } from './importRoute.ts';

const OWNERS = ['workspace', 'shared'] as const;

const Series = z
  .object({
    symbol: z.string(),
    timeframe: z.enum(TIMEFRAMES),
    bars: z.int(),
    start: z.int().meta({ description: 'Open of the first bar, ms UTC.' }),
    end: z.int().meta({ description: 'Close of the last bar, ms UTC: [start, end) is a range that holds all.' }),
    gaps: z.int().meta({ description: 'Places where bars are absent.' }),
    owner: z.enum(OWNERS).meta({ description: 'The workspace, which alone reads the series, or shared by all.' }),
    synthetic: z.boolean().meta({ description: 'Made by a generator, not traded anywhere.' }),
    calendar: z
      .string()
      .optional()
      .meta({ description: 'The exchange whose trading days and hours it has; absent: those that the bars show.' }),
    description: z.string().optional().meta({ description: 'What it is; only of the synthetic universe.' }),
  })
  .meta({ id: 'Series' });

export async function marketDataRoutes(app: App, services: Services): Promise<void> {
  listRoute(app, services);
  importRoute(app, services);
  deleteRoute(app, services);
  barsRoute(app, services);
  columnsRoute(app, services);
}

function listRoute(app: App, { catalogs }: Services): void {
  app.get(
    '/public/v1/market-data',
    {
      onRequest: requireKey(),
      schema: {
        tags: ['Market data'],
        operationId: 'list_market_data',
        summary: 'Stored series, by symbol and timeframe; coarser timeframes are resampled',
        security: API_KEY_SECURITY,
        querystring: fixedListQuery({
          symbol: text(1, 100).optional(),
          timeframe: z.enum(TIMEFRAMES).optional(),
          owner: z.enum(OWNERS).optional(),
        }),
        response: { 200: pageOf(Series), ...problems(...KEY_PROBLEMS) },
      },
    },
    async ({ query, caller }) => {
      const catalog = catalogs.of(caller.workspaceId);
      const own = await catalog.ownSymbols();
      const ownerOf = (symbol: string): (typeof OWNERS)[number] => (own.has(symbol) ? 'workspace' : 'shared');
      const rows = (await catalog.list())
        .filter((series) => query.symbol === undefined || series.symbol === query.symbol)
        .filter((series) => query.timeframe === undefined || series.timeframe === query.timeframe)
        .map((series) => ({
          ...series,
          owner: ownerOf(series.symbol),
          calendar: series.instrument.calendar,
          description: describeUniverseEntry(series) ?? undefined,
        }))
        .filter((series) => query.owner === undefined || series.owner === query.owner);
      // Finest first within a symbol; the key only has to sort this way and be unique.
      const rank = (row: (typeof rows)[number]) => TIMEFRAMES.indexOf(row.timeframe);
      return paginateItems(query, rows, (row) => `${row.symbol}\n${rank(row)}`);
    },
  );
}

function deleteRoute(app: App, { sql }: Services): void {
  app.delete(
    SERIES,
    {
      onRequest: requireKey({ scope: 'market_data_write', role: 'member' }),
      schema: {
        tags: ['Market data'],
        operationId: 'delete_market_data',
        summary: 'Delete a series of the workspace; results that have read it stay',
        security: API_KEY_SECURITY,
        params: SeriesParams,
        querystring: NoQuery,
        response: {
          200: z.object({ symbol: z.string(), timeframe: z.enum(TIMEFRAMES), deleted: z.literal(true) }),
          ...problems(...KEY_PROBLEMS, 404),
        },
      },
    },
    async ({ caller, params: { symbol, timeframe: given } }) => {
      const timeframe = TIMEFRAMES.find((each) => each === given);
      if (timeframe === undefined || !(await removeWorkspaceSeries(sql, caller.workspaceId, symbol, timeframe)))
        throw problem('NOT_FOUND', {
          message:
            `The workspace has no series ${symbol} ${given} of its own; shared ones cannot be deleted. ` +
            'GET /public/v1/market-data?owner=workspace lists its own.',
        });
      return { symbol, timeframe, deleted: true as const };
    },
  );
}
