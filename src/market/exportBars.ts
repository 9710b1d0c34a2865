// Exports: writes a stored series as a file that an import reads back bar for bar.
import Papa from 'papaparse';
import type { Snapshot } from '../engine/bars/arrow.ts';
import { bytesOf, openSnapshot } from '../engine/bars/arrow.ts';
import type { Bars } from '../engine/bars/bars.ts';

export const EXPORT_FORMATS = ['csv', 'json', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Large enough that a chunk costs little, small enough that a pipe is not flooded. */
const ROWS_PER_CHUNK = 4096;

/** The file in chunks. In Arrow it is the snapshot itself, whose bytes hash to its name. */
export function* exportChunks(snapshot: Snapshot, format: ExportFormat): Generator<string | Uint8Array> {
  if (format === 'arrow') {
    yield Uint8Array.from(bytesOf(snapshot));
    return;
  }
  const bars = openSnapshot(snapshot);
  yield* format === 'csv' ? csvChunks(bars) : jsonChunks(bars);
}

function* csvChunks(bars: Bars): Generator<string> {
  const { names, rowAt } = rowsOf(bars);
  yield `${Papa.unparse([names], { newline: '\n' })}\n`;
  for (const rows of chunked(bars.length, rowAt)) yield `${Papa.unparse(rows, { newline: '\n' })}\n`;
}

function* jsonChunks(bars: Bars): Generator<string> {
  const { names, rowAt } = rowsOf(bars);
  let separator = '[';
  for (const rows of chunked(bars.length, rowAt)) {
    const objects = rows.map((row) => JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]]))));
    yield `${separator}\n${objects.join(',\n')}`;
    separator = ',';
  }
  yield '\n]\n';
}

type Cell = string | number | null;

/** The rows of a text file: times in ISO 8601, missing values of extra columns null. */
function rowsOf(bars: Bars): { names: string[]; rowAt: (row: number) => Cell[] } {
  const columns = [bars.open, bars.high, bars.low, bars.close, bars.volume, ...bars.series.values()];
  return {
    names: ['time', 'open', 'high', 'low', 'close', 'volume', ...bars.series.keys()],
    rowAt: (row) => [
      new Date(bars.time[row]).toISOString(),
      ...columns.map((column) => (Number.isNaN(column[row]) ? null : column[row])),
    ],
  };
}

function* chunked(length: number, rowAt: (row: number) => Cell[]): Generator<Cell[][]> {
  for (let first = 0; first < length; first += ROWS_PER_CHUNK) {
    yield Array.from({ length: Math.min(ROWS_PER_CHUNK, length - first) }, (_, at) => rowAt(first + at));
  }
}
