// The tool that reads artifacts: the chosen columns of a page of rows, as many rows as fit into the answer.
import Papa from 'papaparse';
import { z } from 'zod';
import { ARTIFACT_NAMES, FORMATS_OF } from '../../engine/index.ts';
import { jsonBytes } from '../http/jsonBytes.ts';
import { get, MAX_BYTES, reader, segment, type ShownPart } from './tool.ts';

/** All artifacts but the report, which is a page for people. */
const TABLES = ARTIFACT_NAMES.filter((name) => FORMATS_OF[name].includes('csv'));

/** Rows of a page: more than fit into the largest answer, unless only a column or two is chosen. */
const MAX_ROWS = 5_000;

/** The answer of the tool. */
interface Page {
  readonly name: string;
  /** How a recomputed artifact differs from the stored result. */
  readonly notice?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly offset: number;
  readonly nextOffset: number | null;
}

const INPUT = z.object({
  id: z.string().describe('Id of the backtest.'),
  name: z.enum(TABLES),
  columns: z.array(z.string()).min(1).optional().describe('The columns to show, in this order. Default: all.'),
  values: z
    .boolean()
    .default(false)
    .describe('For trades: adds what every node that has an id was at each entry and exit.'),
  offset: z.int().min(0).default(0).describe('Rows before the page.'),
  limit: z.int().min(1).max(MAX_ROWS).default(100).describe('The most rows of the page.'),
});

export const getBacktestArtifact = reader(
  'get_backtest_artifact',
  'Get an artifact',
  `Rows of ${TABLES.join(', ')} of a completed backtest, as many as fit into maxBytes; nextOffset is where the next ` +
    'page begins. Fewer columns make more rows fit.',
  INPUT.shape,
  async (args, { call, shown }) => {
    const { id, name, columns, values, offset, limit } = INPUT.parse(args);
    const query = `format=csv&offset=${offset}&limit=${limit}${values ? '&values=true' : ''}`;
    const answer = await call(get(`/backtests/${segment(id)}/artifacts/${name}?${query}`));
    if (answer.status !== 200) return answer;
    const [names, ...rows] = parseCsv(String(answer.body));
    const unknown = columns?.find((column) => !names.includes(column));
    if (unknown !== undefined) {
      const message = `${name} has no column "${unknown}". It has ${names.join(', ')}.`;
      return { ...answer, status: 400, body: { status: 400, code: 'VALIDATION_FAILED', message } };
    }
    const places = columns?.map((column) => names.indexOf(column)) ?? names.keys().toArray();
    const notice = answer.header('artifact-notice');
    const page: Page = {
      name,
      ...(notice !== null && { notice }),
      columns: places.map((place) => String(names[place])),
      rows: rows.map((row) => places.map((place) => row[place])),
      offset,
      nextOffset: answer.header('link') === null ? null : offset + rows.length,
    };
    return { ...answer, body: fitted(page, shown) };
  },
);

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
