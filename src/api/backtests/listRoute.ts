// The list of backtests: filtered, sorted, with the requested columns, as JSON or CSV.
import { z } from 'zod';
import { HEADLINES, listBacktests, type BacktestRow as StoredRow } from '../../db/backtestLists.ts';
import { csvFile, STATISTIC_POSITIONS } from '../../engine/index.ts';
import { requireKey } from '../http/auth/authentication.ts';
import { nextPage } from '../http/csvPages.ts';
import { fileContents, setFileHeaders } from '../http/files.ts';
import { linkTo } from '../http/links.ts';
import { pageOf, paginate } from '../http/pagination.ts';
import { API_KEY_SECURITY, KEY_PROBLEMS, problems } from '../http/routeSchemas.ts';
import type { App, Services } from '../services.ts';
import { BACKTESTS, keysRead, rowBody, shownColumns } from './backtestBodies.ts';
import { BacktestListQuery, BacktestRow, ChosenBacktestRow } from './backtestSchemas.ts';
import { conditionsOf } from './listColumns.ts';

export function listRoute(app: App, { sql, config }: Services): void {
  app.get(
    BACKTESTS,
    {
      onRequest: requireKey({ scope: 'backtests_read' }),
      schema: {
        tags: ['Backtests'],
        security: API_KEY_SECURITY,
        operationId: 'list_backtests',
        summary: 'Backtests of the workspace, with their headline numbers',
        querystring: BacktestListQuery,
        response: {
          200: { description: 'A page of the list.', content: fileContents(['json', 'csv'], PAGE) },
          ...problems(...KEY_PROBLEMS),
        },
      },
    },
    async ({ caller, query, url }, reply) => {
      // A cursor holds for all columns and formats.
      const { columns = query.format === 'csv' ? CSV_COLUMNS : undefined, format, ...selection } = query;
      const sort = query.sort.replace(/^-/, '');
      const filters = { ...selection, where: conditionsOf(selection) };
      const page = await paginate(
        selection,
        (row: StoredRow) => rowBody(row, columns, sort),
        (asked) => listBacktests(sql, caller.workspaceId, filters, asked, STATISTIC_POSITIONS, keysRead(columns, sort)),
      );
      if (format !== 'csv') return page;
      const { nextCursor } = page.pagination;
      setFileHeaders(reply, 'backtests', 'csv');
      if (nextCursor !== null) reply.header('link', nextPage(linkTo(config, url), { cursor: nextCursor }));
      return reply.send(csvOf(page.data, shownColumns(columns!, sort)));
    },
  );
}

const PAGE = pageOf(z.union([BacktestRow, ChosenBacktestRow]));
/** Of a CSV for which no columns are chosen. */
const CSV_COLUMNS = ['status', 'symbol', 'timeframe', 'name', 'tags', 'createdAt', ...HEADLINES, 'diagnosis'] as const;

function csvOf(rows: readonly Readonly<Record<string, unknown>>[], names: readonly string[]): Buffer {
  const columns = names.map((name) => ({ name, type: 'text' as const, read: (at: number) => cellOf(rows[at][name]) }));
  return Buffer.concat([...csvFile('\r\n').add({ length: rows.length, columns })]);
}

/** A list is written with commas, which no tag and no code has. */
function cellOf(value: unknown): string | number | null {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as string | number | null);
}
