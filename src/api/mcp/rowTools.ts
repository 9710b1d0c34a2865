// The tools that read tables: the chosen columns of a page of rows, as many rows as fit into the answer.
import Papa from 'papaparse';
import { z } from 'zod';
import { ARTIFACT_NAMES, FORMATS_OF, PORTFOLIO_ARTIFACT_NAMES } from '../../engine/index.ts';
import { jsonBytes } from '../http/jsonBytes.ts';
import type { ApiAnswer } from './apiCall.ts';
import { answering, get, MAX_BYTES, readTool, segment, type ToolContext } from './tool.ts';

/** All artifacts but the report, which is a page for people. */
const TABLES = [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES].filter((name) => FORMATS_OF[name].includes('csv'));

/** Rows of a page: more than fit into the largest answer, unless only a column or two is chosen. */
const MAX_ROWS = 5_000;

/** Pages that are looked through for the rows of some bars. */
const MAX_PAGES = 10;

/** A page of rows. */
interface Page {
  /** How a recomputed artifact differs from the stored result. */
  readonly notice?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly offset: number;
  readonly nextOffset: number | null;
}

const PAGE = z.object({
  columns: z.array(z.string()).min(1).optional().describe('The columns to show, in this order. Default: all.'),
  offset: z.int().min(0).default(0).describe('Rows before the page.'),
  limit: z.int().min(1).max(MAX_ROWS).default(100).describe('The most rows of the page.'),
});
interface PageRequest extends z.infer<typeof PAGE> {
  /** Which rows are shown, by their cells; undefined: all. */
  readonly isShown?: ((cell: (column: string) => number) => boolean) | undefined;
  readonly format?: 'rows' | 'csv';
}

const ARTIFACT = PAGE.extend({
  id: z.string().describe('Id of the backtest.'),
  name: z.enum(TABLES),
  values: z
    .boolean()
    .default(false)
    .describe('For trades: adds what every expression was at each entry and exit, named by its id or its text.'),
  bars: z
    .tuple([z.int().min(0), z.int().min(0)])
    .optional()
    .describe('For trades and orders: the first and the last bar, from 0 at the start of the range.'),
  format: z.enum(['rows', 'csv']).default('rows').describe('csv: the rows as one text, `csv`.'),
});

type CellOf = (column: string) => number;
/** Artifacts whose rows are of some bars, and which of them a span of bars touches. */
const IN_BARS: Readonly<Record<string, (cell: CellOf, first: number, last: number) => boolean>> = {
  trades: (cell, first, last) => cell('entryBar') <= last && cell('exitBar') >= first,
  orders: (cell, first, last) => cell('bar') >= first && cell('bar') <= last,
};

export const getBacktestArtifact = answering(
  {},
  readTool(
    'get_backtest_artifact',
    'Get an artifact',
    'Rows of an artifact, as many as fit into maxBytes; nextOffset begins the next page.',
    ARTIFACT.shape,
    (args, context) => {
      const { id, name, values, bars, ...page } = ARTIFACT.parse(args);
      const isInBars = IN_BARS[name];
      if (bars !== undefined && isInBars === undefined)
        return refused(`The artifact ${name} takes no "bars"; trades and orders do. Page it by offset and limit.`);
      const isShown = bars && ((cell: CellOf): boolean => isInBars(cell, bars[0], bars[1]));
      const query = values ? '&values=true' : '';
      return readRows(`/backtests/${segment(id)}/artifacts/${name}?format=csv${query}`, { ...page, isShown }, context);
    },
  ),
);

const SWEEP_ROWS = PAGE.extend({ id: z.string().describe('Id of the completed sweep.') });

export const getSweepRows = answering(
  {},
  readTool(
    'get_sweep_rows',
    'Get the rows of a sweep',
    'All rows of a completed sweep, paged as artifacts are; get_sweep has the best.',
    SWEEP_ROWS.shape,
    (args, context) => {
      const { id, ...page } = SWEEP_ROWS.parse(args);
      return readRows(`/sweeps/${segment(id)}/results?format=csv`, page, context);
    },
  ),
);

/** As the API refuses an argument. */
const refused = (message: string): Promise<ApiAnswer> =>
  Promise.resolve({ status: 400, body: { status: 400, code: 'VALIDATION_FAILED', message }, header: () => null });

/** @param path of a CSV file that is answered in pages */
async function readRows(path: string, request: PageRequest, { call, shown }: ToolContext): Promise<ApiAnswer> {
  const { columns, limit, isShown, format } = request;
  // Rows are chosen from pages that are as long as they can be.
  const [pageRows, mostPages] = isShown === undefined ? [limit, 1] : [MAX_ROWS, MAX_PAGES];
  const found: { readonly row: readonly unknown[]; readonly place: number }[] = [];
  let offset: number | null = request.offset;
  let names: string[] = [];
  let answer: ApiAnswer;
  let pages = 0;
  do {
    answer = await call(get(`${path}&offset=${offset}&limit=${pageRows}`));
    if (answer.status !== 200) return answer;
    const [head, ...rows] = parseCsv(String(answer.body));
    names = head.map(String);
    const unknown = columns?.find((column) => !names.includes(column));
    if (unknown !== undefined) return refused(`There is no column "${unknown}". The columns are ${names.join(', ')}.`);
    const begin: number = offset;
    for (const [index, row] of rows.entries())
      if (isShown === undefined || isShown((column) => Number(row[names.indexOf(column)])))
        found.push({ row, place: begin + index });
    offset = answer.header('link') === null ? null : begin + rows.length;
    pages++;
  } while (offset !== null && found.length < limit && pages < mostPages);
  const places = columns?.map((column) => names.indexOf(column)) ?? names.keys().toArray();
  const notice = answer.header('artifact-notice');
  const rows = found.slice(0, limit).map(({ row }) => places.map((place) => row[place]));
  const page: Page = {
    ...(notice !== null && { notice }),
    columns: places.map((place) => names[place]),
    rows,
    offset: request.offset,
    nextOffset: found.length > limit ? found[limit].place : offset,
  };
  const most =
    (shown.path === '' ? shown.maxBytes : MAX_BYTES) - jsonBytes({ ...page, rows: [], nextOffset: MAX_ROWS });
  const count = fittingCount(rows, most, format === 'csv');
  const fitted = count === rows.length ? page : { ...page, rows: rows.slice(0, count), nextOffset: found[count].place };
  return { ...answer, body: format === 'csv' ? asCsv(fitted) : fitted };
}

/** How many rows fit into `room` bytes, at least one. */
function fittingCount(rows: Page['rows'], room: number, isCsv: boolean): number {
  let left = room;
  const bytesOf = (row: readonly unknown[]): number => (isCsv ? jsonBytes(csvOf([row])) : jsonBytes(row) + 1);
  const overflow = rows.findIndex((row) => (left -= bytesOf(row)) < 0);
  return overflow === -1 ? rows.length : Math.max(overflow, 1);
}

/** Lines that end in a line feed, the last one, too. */
const csvOf = (rows: readonly (readonly unknown[])[]): string => `${Papa.unparse([...rows], { newline: '\n' })}\n`;

const asCsv = ({ columns, rows, ...page }: Page) => ({
  ...page,
  mediaType: 'text/csv',
  csv: csvOf([columns, ...rows]),
});

/** The header line and the rows of a CSV text. Numbers and flags become values, and an empty cell null. */
const parseCsv = (text: string): unknown[][] =>
  Papa.parse<unknown[]>(text, { delimiter: ',', dynamicTyping: true, skipEmptyLines: true }).data;
