// The tools that read bars, compute columns on them, and store bars of the workspace.
import { z } from 'zod';
import { IMPORT_OPTIONS } from '../../market/import/optionTable.ts';
import { ColumnsBody } from '../marketData/columnsRoute.ts';
import type { ApiAnswer } from './apiCall.ts';
import { answering, get, idempotencyKey, readTool, remove, segment, upload, writeTool, post } from './tool.ts';
import type { Tool, ToolArguments } from './tool.ts';
import { bodyMembers } from './toolArguments.ts';

/** More rows are asked for by name: an agent looks at the newest ones first. */
const DEFAULT_LAST = 50;
const last = z.int().min(1).max(10_000).default(DEFAULT_LAST).describe('The newest so many rows of the range.');
const limit = z.int().min(1).max(10_000).optional().describe('Rows of a page.');
const cursor = z.string().optional().describe('`nextCursor` of the page before.');
const symbol = z.string();
const timeframe = z.string().describe('Stored or coarser, such as 1h or 1d.');
const time = z.union([z.string(), z.int()]).optional();

const getBars = readTool(
  'get_bars',
  'Get bars',
  'Bars of a series, oldest first: time (open, UTC), open, high, low, close, volume, extra columns.',
  { symbol, timeframe, last, start: time.describe('2024-01-31, or with a time.'), end: time, limit, cursor },
  async ({ symbol: name, timeframe: step, ...query }, { call }) =>
    asRows(await call(get(`/market-data/${segment(name)}/${segment(step)}/bars?${queryOf(query)}`))),
);

const { limit: _limit, cursor: _cursor, last: _last, format: _format, ...COLUMNS } = ColumnsBody.shape;
const computeColumns = readTool(
  'compute_columns',
  'Compute columns',
  'Strategy expressions on bars: what is RSI today, and where was it below 30?',
  { ...bodyMembers(COLUMNS), last, limit, cursor },
  async (args, { call }) => asRows(await call(post('/columns', args))),
);

const OPTIONS = Object.fromEntries(
  IMPORT_OPTIONS.map(({ name, value, choices, text }) => {
    const schema = value === null ? z.boolean() : choices === undefined ? z.string() : z.enum(choices);
    return [name === 'columns' ? 'fileColumns' : name, schema.optional().describe(text)];
  }),
);
const importBars = writeTool(
  'import_bars',
  'Import bars',
  'Stores a small file of bars for this workspace alone. Larger: POST /public/v1/market-data.',
  {
    content: z.string().min(1).describe('The file: CSV or JSON.'),
    encoding: z.enum(['text', 'base64']).default('text').describe('base64: of Parquet, Arrow, gzip or zip.'),
    symbol: symbol.optional(),
    filename: z.string().optional().describe('May show both, as BTCUSDT-1h.csv does.'),
    onExisting: z.enum(['refuse', 'append', 'replace']).optional(),
    ...OPTIONS,
    idempotencyKey,
  },
  ({ content, encoding, idempotencyKey: key, fileColumns, ...options }, { call }) => {
    const bytes = Buffer.from(String(content), encoding === 'base64' ? 'base64' : 'utf8');
    return call(upload(`/market-data?${queryOf({ ...options, columns: fileColumns })}`, bytes, key));
  },
);

const deleteMarketData = writeTool(
  'delete_market_data',
  'Delete market data',
  'Deletes a series of the workspace; results that have read it stay.',
  { symbol, timeframe: z.string() },
  (args, { call }) => call(remove(`/market-data/${segment(args.symbol)}/${segment(args.timeframe)}`)),
);

export const DATA_TOOLS: readonly Tool[] = [
  answering({}, getBars),
  answering({}, computeColumns),
  importBars,
  { ...deleteMarketData, isDestructive: true, isIdempotent: true },
];

const queryOf = (args: ToolArguments): string =>
  Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${segment(value)}`)
    .join('&');

interface RowsBody {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly pagination: { readonly nextCursor: string | null; readonly total: number };
  readonly columns?: readonly { readonly name: string }[];
}

/** The page as lists of cells, with times that can be read: the names of columns once, and not on every row. */
function asRows(answer: ApiAnswer): ApiAnswer {
  if (answer.status !== 200) return answer;
  const { data, pagination, columns: described, ...head } = answer.body as RowsBody;
  const columns = Object.keys(data[0] ?? { time: null });
  const cell = (row: (typeof data)[number], name: string): unknown =>
    name === 'time' ? isoMinute(Number(row.time)) : row[name];
  const { nextCursor, total } = pagination;
  const body = {
    ...head,
    ...(described && { expressions: described }),
    columns,
    rows: data.map((row) => columns.map((name) => cell(row, name))),
    nextCursor,
    total,
  };
  return { ...answer, body };
}

/** 2024-01-31T15:00Z */
const isoMinute = (ms: number): string => new Date(ms).toISOString().replace(/:00\.000Z$/, 'Z');
