// Summaries as threads write them: the flat one as it is stored, and all of it as one text.
import type { Result } from '../../src/engine/index.ts';
import { summaryOf } from '../../src/db/summaries.ts';
import { FLAT_KEYS, STATISTIC_POSITIONS, type FlatKey } from '../../src/engine/definitions/statistics/statistics.ts';
import { monthRows } from '../../src/engine/report/months.ts';
import type { WrittenSummary } from '../../src/engine/report/summary.ts';

export const summaryBytes = (flat: Readonly<Partial<Record<FlatKey, number | null>>>): Uint8Array =>
  Buffer.from(Float64Array.from(FLAT_KEYS, (key) => flat[key] ?? NaN).buffer);

export const storedSummary = ({ summary }: Pick<Result, 'summary'>): Readonly<Record<string, unknown>> =>
  summaryOf({ summaryNumbers: [...new Float64Array(Uint8Array.from(summary).buffer)] }, STATISTIC_POSITIONS)!;

/**
 * The whole summary as text, put together from what is hashed and stored of it: its numbers, its lists and the rest as
 * JSON.
 */
export function writtenText({ flatNumbers, thinBlocksJson, series }: WrittenSummary): string {
  const flat = JSON.stringify(storedSummary({ summary: new Uint8Array(Float64Array.from(flatNumbers).buffer) }));
  const initialBalance = flatNumbers[FLAT_KEYS.indexOf('initialBalance')];
  const points = Array.from(series.times, (time, point) => [time, series.marks[point]]);
  const lists = [monthRows(series.months, series.monthEquity, initialBalance), points];
  const blocks = thinBlocksJson.map((piece) => (piece === '[]' ? JSON.stringify(lists.shift()) : Buffer.from(piece)));
  return `${flat.slice(0, -1)},${blocks.join('').slice(1)}`;
}
