// Artifacts: the files of a result, made on demand by running the pinned inputs again (design §5).
import { simulateTask } from '../backtest.ts';
import { encodeTable, type TableColumn } from '../columns/arrowTable.ts';
import type { Market } from '../columns/bars.ts';
import type { ArtifactOutcome, ArtifactRequest, BacktestTask } from '../pool/messages.ts';
import type { RunControl } from '../simulate/program.ts';
import { reportPage } from './page.ts';
import { equityTable, ordersTable, signalsTable, tradesTable, type CompletedRun } from './tables.ts';

const TABLES = { trades: tradesTable, equity: equityTable, orders: ordersTable, signals: signalsTable } as const;

/**
 * `resultHash` is that of this run; whoever asked compares it with the stored one.
 * @param chartLibrary the text that goes into the report; not read for the tables.
 */
export function buildArtifact(
  task: BacktestTask,
  market: Market,
  control: RunControl | null,
  request: ArtifactRequest,
  chartLibrary: string,
): ArtifactOutcome {
  const run = simulateTask(task, market, control, true);
  if (!run.ok) return { ok: false, error: run.error };
  return { ok: true, bytes: artifactBytes(run, request, chartLibrary), resultHash: run.resultHash };
}

/** One artifact of a run that kept its orders. */
function artifactBytes(run: CompletedRun, { name, format }: ArtifactRequest, chartLibrary: string): Uint8Array {
  if (name === 'report') return new TextEncoder().encode(reportPage(run, chartLibrary));
  const columns = TABLES[name](run);
  switch (format) {
    case 'arrow':
      return encodeTable(columns);
    case 'csv':
      return new TextEncoder().encode(csvOf(columns));
    default:
      return new TextEncoder().encode(jsonOf(columns));
  }
}

const isMissing = (value: unknown): boolean => value === null || value === undefined || Number.isNaN(value);

/** A list of rows, one a line, so that a large file can be read line by line too. */
function jsonOf(columns: readonly TableColumn[]): string {
  const rows = Array.from({ length: columns[0].values.length }, (_, row) =>
    JSON.stringify(
      Object.fromEntries(columns.map(({ name, values }) => [name, isMissing(values[row]) ? null : values[row]])),
    ),
  );
  return `[${rows.length === 0 ? '' : `\n${rows.join(',\n')}\n`}]\n`;
}

/** RFC 4180 with times as ms; missing values are empty cells. */
function csvOf(columns: readonly TableColumn[]): string {
  const lines = [columns.map(({ name }) => csvCell(name)).join(',')];
  for (let row = 0; row < columns[0].values.length; row++) {
    lines.push(columns.map(({ values }) => (isMissing(values[row]) ? '' : csvCell(String(values[row])))).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
