// Market data: the series that strategies can be run on, their bars, and columns of values on them.
import { z } from 'zod';
import { STORED_TIMEFRAMES } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { fixedListQuery, pageOf, paginateItems } from '../http/pagination.ts';
import { API_KEY_SECURITY, KEY_PROBLEMS, problems, text } from '../http/routeSchemas.ts';
import { describeUniverseEntry } from '../../market/universe/universe.ts';
import type { App, Services } from '../services.ts';
import { barsRoute } from './barsRoute.ts';
import { columnsRoute } from './columnsRoute.ts';

const Series = z
  .object({
    symbol: z.string(),
    timeframe: z.enum(STORED_TIMEFRAMES),
    bars: z.int(),
    start: z.int().meta({ description: 'Open of the first bar, ms UTC.' }),
    end: z.int().meta({ description: 'Close of the last bar, ms UTC: [start, end) is a range that holds all.' }),
    gaps: z.int().meta({ description: 'Places where bars are absent.' }),
    synthetic: z.boolean().meta({ description: 'Made by a generator, not traded anywhere.' }),
    description: z.string().optional().meta({ description: 'What it is; only of the synthetic universe.' }),
  })
  .meta({ id: 'Series' });

export async function marketDataRoutes(app: App, services: Services): Promise<void> {
  listRoute(app, services);
  barsRoute(app, services);
  columnsRoute(app, services);
}

function listRoute(app: App, { catalog }: Services): void {
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
          timeframe: z.enum(STORED_TIMEFRAMES).optional(),
        }),
        response: { 200: pageOf(Series), ...problems(...KEY_PROBLEMS) },
      },
    },
    async ({ query }) => {
      const rows = (await catalog.list())
        .filter((series) => query.symbol === undefined || series.symbol === query.symbol)
        .filter((series) => query.timeframe === undefined || series.timeframe === query.timeframe)
        .map((series) => ({ ...series, description: describeUniverseEntry(series) ?? undefined }));
      // Finest first within a symbol; the key only has to sort this way and be unique.
      const rank = (row: (typeof rows)[number]) => STORED_TIMEFRAMES.indexOf(row.timeframe);
      return paginateItems(query, rows, (row) => `${row.symbol}\n${rank(row)}`);
    },
  );
}
