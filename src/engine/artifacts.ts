// Artifacts: the files of a result, made on demand by running the pinned inputs again or from the stored trades.
import { simulateTask } from './backtest.ts';
import { encodeTable } from './bars/arrowTable.ts';
import type { Market, Universe } from './bars/bars.ts';
import type { Table } from './bars/table.ts';
import { csvFile, jsonFile, type TableFile } from './bars/tableText.ts';
import { artifactNotice, type ReadResult } from './report/artifactNotice.ts';
import { reportPage, type PageAssets } from './report/page/reportPage.ts';
import { dailyTable } from './report/comparison/dailyEquity.ts';
import { equityTable, ordersTable, signalsTable, storedTradesTable, tradesTable } from './report/tables.ts';
import { instrumentsTable, weightsTable } from './report/portfolio/portfolioTables.ts';
import type { CompletedRun } from './report/simulatedRun.ts';
import { ARTIFACT_NAMES, DAILY_EQUITY, FORMATS_OF, PORTFOLIO_ARTIFACT_NAMES } from './task.ts';
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
const PORTFOLIO_TABLES = { weights: weightsTable, instruments: instrumentsTable } as const;
/** What reads the weights of every instant, which a run keeps only on request. */
const READS_WEIGHTS: ReadonlySet<ArtifactRequest['name']> = new Set(['weights', 'report']);

/** What an artifact may need besides the run; both are read only when they are needed. */
interface ArtifactSources {
  /** What the report is made of besides the run. */
  readonly pageAssets: () => PageAssets;
  /** The stored result, to say what differs; null: nothing is stored. */
  readonly storedResult: (() => ReadResult) | null;
}

/**
 * One artifact of a run, with a notice when that run is not the stored one to the byte.
 * @param write takes the file piece by piece, in order; what it throws ends the artifact. A piece may lie in the memory
 * of the run: copy what you keep.
 */
export function buildArtifact(
  task: BacktestTask,
  market: Market | Universe,
  control: RunControl | null,
  request: ArtifactRequest,
  { pageAssets, storedResult }: ArtifactSources,
  write: (piece: Uint8Array) => void,
): ArtifactOutcome {
  const { name, format, stored, heading } = request;
  const error = name === DAILY_EQUITY ? null : formatError(name, format);
  if (error !== null) return { ok: false, error };
  if (isOfPortfolio(name) && task.config.instruments === undefined) return { ok: false, error: needsPortfolio(name) };
  const run = simulateTask(task, market, control, name === 'orders', READS_WEIGHTS.has(name));
  if (!run.ok) return { ok: false, error: run.error };
  const { portfolio } = run.report;
  if (isOfPortfolio(name) && portfolio?.isNamed !== true) return { ok: false, error: needsPortfolio(name) };
  const isStored = stored === undefined || storedResult === null || stored.resultHash === run.resultHash;
  const notice = isStored ? null : artifactNotice(storedResult(), run);
  if (name === 'report') write(utf8(reportPage(run, pageAssets(), heading ?? null, notice, task)));
  else for (const piece of encodeArtifact(tableOf(name, run), format, notice)) write(piece);
  return { ok: true, resultHash: run.resultHash, notice };
}

function tableOf(name: Exclude<ArtifactRequest['name'], 'report'>, run: CompletedRun): Table {
  if (name === DAILY_EQUITY) return dailyTable(run);
  if (!isOfPortfolio(name)) return TABLES[name](run);
  const { report } = run;
  return PORTFOLIO_TABLES[name](report, report.portfolio!);
}

type PortfolioArtifact = (typeof PORTFOLIO_ARTIFACT_NAMES)[number];

/** Whether only runs of several instruments have the artifact. */
const isOfPortfolio = (name: ArtifactRequest['name']): name is PortfolioArtifact =>
  (PORTFOLIO_ARTIFACT_NAMES as readonly string[]).includes(name);

function needsPortfolio(name: PortfolioArtifact): RunError {
  const message =
    `The artifact "${name}" is of runs over several instruments, and this run has one. Name several in ` +
    `config.instruments, or ask for one of ${ARTIFACT_NAMES.join(', ')}.`;
  return { code: 'ARTIFACT_NEEDS_PORTFOLIO', path: '/name', message };
}

/**
 * The trades artifact from stored trade rows: nothing runs again, so that no change of the engine can change it. It
 * comes piece by piece, part by part of the rows; only an Arrow file needs all of them at once.
 * @param isNamed whether rows name their instruments; absent: it is read from the rows, of which there must be some
 */
export function* encodeStoredTrades(
  parts: Iterable<readonly object[]>,
  format: ArtifactFormat,
  isNamed?: boolean,
): Generator<Uint8Array, void, undefined> {
  const error = formatError('trades', format);
  if (error !== null) throw new Error(error.message);
  if (format !== 'csv' && format !== 'json') {
    yield* encodeArtifact(storedTradesTable([...parts].flat(), isNamed), format, null);
    return;
  }
  const file = TEXT_FILES[format]();
  let isEmpty = true;
  for (const part of parts) {
    yield* file.add(storedTradesTable(part, isNamed));
    isEmpty = false;
  }
  if (isEmpty) yield* file.add(storedTradesTable([], isNamed));
  yield* file.finish();
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

function* encodeArtifact(
  table: Table,
  format: ArtifactFormat,
  notice: ArtifactNotice | null,
): Generator<Uint8Array, void, undefined> {
  switch (format) {
    case 'arrow':
      yield* encodeTable(table, notice === null ? {} : { notice: notice.message });
      return;
    case 'csv':
    case 'json': {
      const isWrapped = notice !== null && format === 'json';
      if (isWrapped) yield utf8(`{"notice":${JSON.stringify(notice)},\n"rows":`);
      const file = TEXT_FILES[format]();
      yield* file.add(table);
      yield* file.finish();
      if (isWrapped) yield utf8('}\n');
      return;
    }
    case 'html':
      throw new Error('A table is not written as HTML.');
  }
}

const TEXT_FILES: Readonly<Record<'csv' | 'json', () => TableFile>> = {
  csv: () => csvFile('\r\n'),
  json: () => jsonFile({ open: '\n', close: '\n' }),
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
