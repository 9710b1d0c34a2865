// Artifacts: the files of a result, made on demand by running the pinned inputs again or from the stored trades.
import { simulateTask } from './backtest.ts';
import { csvCell } from './bars/csvCell.ts';
import { encodeTable, type TableColumn } from './bars/arrowTable.ts';
import type { Market } from './bars/bars.ts';
import { artifactNotice, type ReadResult } from './report/artifactNotice.ts';
import { reportPage, type PageAssets } from './report/page/reportPage.ts';
import { equityTable, ordersTable, signalsTable, storedTradesTable, tradesTable } from './report/tables.ts';
import { FORMATS_OF } from './task.ts';
import type {
  ArtifactFormat,
  ArtifactName,
  ArtifactNotice,
  ArtifactOutcome,
  ArtifactRequest,
  BacktestTask,
  RunControl,
  RunError,
} from './task.ts';

const TABLES = { trades: tradesTable, equity: equityTable, orders: ordersTable, signals: signalsTable } as const;

/** What an artifact may need besides the run; both are read only when they are needed. */
export interface ArtifactSources {
  /** What the report is made of besides the run. */
  readonly pageAssets: () => PageAssets;
  /** The stored result, to say what differs; null: nothing is stored. */
  readonly storedResult: (() => ReadResult) | null;
}

/** One artifact of a run, with a notice when that run is not the stored one to the byte. */
export function buildArtifact(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  request: ArtifactRequest,
  { pageAssets, storedResult }: ArtifactSources,
): ArtifactOutcome {
  const { name, format, stored, heading } = request;
  const error = formatError(name, format);
  if (error !== null) return { ok: false, error };
  const run = simulateTask(task, market, control, true);
  if (!run.ok) return { ok: false, error: run.error };
  const isStored = stored === undefined || storedResult === null || stored.resultHash === run.resultHash;
  const notice = isStored ? null : artifactNotice(storedResult(), run);
  const bytes =
    name === 'report'
      ? utf8(reportPage(run, pageAssets(), heading ?? null, notice))
      : encodeColumns(TABLES[name](run), format, notice);
  return { ok: true, bytes, resultHash: run.resultHash, notice };
}

/**
 * The trades artifact from stored trade rows: nothing runs again, so that no change of the engine can change it. It comes
 * chunk by chunk, one for each part of the rows; only an Arrow file needs all of them at once.
 */
export function* encodeStoredTrades(
  parts: Iterable<readonly object[]>,
  format: ArtifactFormat,
): Generator<Uint8Array, void, undefined> {
  const error = formatError('trades', format);
  if (error !== null) throw new Error(error.message);
  if (format !== 'csv' && format !== 'json') {
    yield encodeColumns(storedTradesTable([...parts].flat()), format, null);
    return;
  }
  const isJson = format === 'json';
  let isFirst = true;
  for (const part of parts) {
    const columns = storedTradesTable(part);
    const lines = isJson ? jsonRows(columns) : csvRows(columns);
    if (isJson) yield utf8(`${isFirst ? '[\n' : ',\n'}${lines.join(',\n')}`);
    else yield utf8(`${isFirst ? csvHead(columns) : ''}${lines.join('')}`);
    isFirst = false;
  }
  if (isFirst) yield encodeColumns(storedTradesTable([]), format, null);
  else if (isJson) yield utf8('\n]\n');
}

/** Why there is no such file, or null; checked here because what crosses a thread has lost its types. */
function formatError(name: ArtifactName, format: ArtifactFormat): RunError | null {
  const formats = Object.hasOwn(FORMATS_OF, name) ? FORMATS_OF[name] : null;
  if (formats === null) {
    const message = `There is no artifact "${name}". Ask for one of ${Object.keys(FORMATS_OF).join(', ')}.`;
    return { code: 'ARTIFACT_UNKNOWN', path: '/name', message };
  }
  if (formats.includes(format)) return null;
  const message = `The artifact "${name}" has no format "${format}". Ask for one of ${formats.join(', ')}.`;
  return { code: 'ARTIFACT_FORMAT_UNKNOWN', path: '/format', message };
}

function encodeColumns(
  columns: readonly TableColumn[],
  format: ArtifactFormat,
  notice: ArtifactNotice | null,
): Uint8Array {
  switch (format) {
    case 'arrow':
      return encodeTable(columns, notice === null ? {} : { notice: notice.message });
    case 'csv':
      return utf8(csvOf(columns));
    case 'json':
      return utf8(
        notice === null ? jsonOf(columns) : `{"notice":${JSON.stringify(notice)},\n"rows":${jsonOf(columns)}}\n`,
      );
    case 'html':
      throw new Error('A table is not written as HTML.');
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const isMissing = (value: unknown): boolean => value === null || value === undefined || Number.isNaN(value);

/** A list of rows, one per line, so that a large file can be read line by line too. */
function jsonOf(columns: readonly TableColumn[]): string {
  const rows = jsonRows(columns);
  return `[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]\n`;
}

const jsonRows = (columns: readonly TableColumn[]): string[] =>
  Array.from({ length: columns[0].values.length }, (_, row) =>
    JSON.stringify(
      Object.fromEntries(columns.map(({ name, values }) => [name, isMissing(values[row]) ? null : values[row]])),
    ),
  );

/** RFC 4180 with times in ms; a missing value is an empty cell. */
const csvOf = (columns: readonly TableColumn[]): string => csvHead(columns) + csvRows(columns).join('');

const csvHead = (columns: readonly TableColumn[]): string =>
  `${columns.map(({ name }) => csvCell(name)).join(',')}\r\n`;

const csvRows = (columns: readonly TableColumn[]): string[] =>
  Array.from(
    { length: columns[0].values.length },
    (_, row) => `${columns.map(({ values }) => csvCell(values[row])).join(',')}\r\n`,
  );
