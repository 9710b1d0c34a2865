// The tools that read tables: the chosen columns of a page of rows, as many rows as fit into the answer.
import Papa from 'papaparse';
import { z } from 'zod';
import { ARTIFACT_NAMES, FORMATS_OF, PORTFOLIO_ARTIFACT_NAMES } from '../../engine/index.ts';
import { jsonBytes } from '../http/jsonBytes.ts';
import type { ApiAnswer } from './apiCall.ts';
import { answering, get, MAX_BYTES, readTool, segment, type ShownPart, type ToolContext } from './tool.ts';

/** All artifacts but the report, which is a page for people. */
const TABLES = [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES].filter((name) => FORMATS_OF[name].includes('csv'));

/** Rows of a page: more than fit into the largest answer, unless only a column or two is chosen. */
const MAX_ROWS = 5_000;

/** The answer of the tools. */
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
type PageRequest = z.infer<typeof PAGE>;

const ARTIFACT = PAGE.extend({
  id: z.string().describe('Id of the backtest.'),
  name: z.enum(TABLES),
  values: z
    .boolean()
    .default(false)
    .describe('For trades: adds what every node that has an id was at each entry and exit.'),
});

export const getBacktestArtifact = answering(
  {},
  readTool(
    'get_backtest_artifact',
    'Get an artifact',
    'Rows of an artifact, as many as fit into maxBytes; nextOffset begins the next page.',
    ARTIFACT.shape,
    (args, context) => {
      const { id, name, values, ...page } = ARTIFACT.parse(args);
      const query = values ? '&values=true' : '';
      return readRows(`/backtests/${segment(id)}/artifacts/${name}?format=csv${query}`, page, context);
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

/** @param path of a CSV file that is answered in pages */
async function readRows(path: string, request: PageRequest, { call, shown }: ToolContext): Promise<ApiAnswer> {
  const { columns, offset, limit } = request;
  const answer = await call(get(`${path}&offset=${offset}&limit=${limit}`));
  if (answer.status !== 200) return answer;
  const [names, ...rows] = parseCsv(String(answer.body));
  const unknown = columns?.find((column) => !names.includes(column));
  if (unknown !== undefined) {
    const message = `There is no column "${unknown}". The columns are ${names.join(', ')}.`;
    return { ...answer, status: 400, body: { status: 400, code: 'VALIDATION_FAILED', message } };
  }
  const places = columns?.map((column) => names.indexOf(column)) ?? names.keys().toArray();
  const notice = answer.header('artifact-notice');
  const page: Page = {
    ...(notice !== null && { notice }),
    columns: places.map((place) => String(names[place])),
    rows: rows.map((row) => places.map((place) => row[place])),
    offset,
    nextOffset: answer.header('link') === null ? null : offset + rows.length,
  };
  return { ...answer, body: fitted(page, shown) };
}

/** The header line and the rows of a CSV text. Numbers and flags become values, and an empty cell null. */
const parseCsv = (text: string): unknown[][] =>
  Papa.parse<unknown[]>(text, { delimiter: ',', dynamicTyping: true, skipEmptyLines: true }).data;

/** The page with as many rows as fit, at least one. A `path` into the page is read from the largest page there is. */
function fitted(page: Page, shown: ShownPart): Page {
  const head = { ...page, rows: [], nextOffset: page.offset + MAX_ROWS };
  let room = (shown.path === '' ? shown.maxBytes : MAX_BYTES) - jsonBytes(head);
  const overflow = page.rows.findIndex((row) => (room -= jsonBytes(row) + 1) < 0);
  if (overflow === -1) return page;
  const rows = page.rows.slice(0, Math.max(overflow, 1));
  return { ...page, rows, nextOffset: page.offset + rows.length };
}
