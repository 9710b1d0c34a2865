// Flat summaries in the database: an array of numbers, in which NaN stands for null.
import type { FlatKey } from '../engine/index.ts';
import type { Queryable } from './connect.ts';

/**
 * The place of each number in the array, by key. The engine has the list: callers hand in its STATISTIC_POSITIONS,
 * since only types of the engine may be imported here.
 */
export type SummaryPositions = ReadonlyMap<string, number>;

/** What a query reads of `backtest_results r`. */
export interface StoredSummary {
  readonly summaryNumbers: readonly number[] | null;
}

export const SUMMARY_COLUMNS = 'r.summary_numbers as "summaryNumbers"';

/** The flat summary as an object; null: there is no result. */
export const summaryOf = (
  { summaryNumbers: numbers }: StoredSummary,
  positions: SummaryPositions,
): Readonly<Record<string, number | null>> | null =>
  numbers === null
    ? null
    : Object.fromEntries(
        [...positions].flatMap(([key, at]) =>
          // A result that was stored before a statistic was added is shorter.
          at < numbers.length ? [[key, Number.isNaN(numbers[at]) ? null : numbers[at]]] : [],
        ),
      );

/** SQL of one number of `backtest_results r`. */
export const summaryNumber = (key: FlatKey, positions: SummaryPositions): string =>
  `nullif(r.summary_numbers[${positions.get(key)! + 1}], 'NaN')`;

/** Postgres's type numbers, and the bytes that its binary form has before the items of an array and before each one. */
const FLOAT8 = 701;
const FLOAT8_ARRAY = 1022;
const HEAD_BYTES = 20;
const ITEM_HEAD_BYTES = 4;
const NUMBER_BYTES = 8;

/** How many numbers each summary has. */
export const numbersEach = ([first]: readonly Uint8Array[]): number =>
  first === undefined ? 0 : first.byteLength / NUMBER_BYTES;

/**
 * The numbers of all summaries as one array parameter in binary form.
 * @param summaries doubles, as threads encode them
 */
export function summaryParameter(sql: Queryable, summaries: readonly Uint8Array[]) {
  const count = summaries.reduce((sum, { byteLength }) => sum + byteLength, 0) / NUMBER_BYTES;
  const bytes = new Uint8Array(HEAD_BYTES + count * (ITEM_HEAD_BYTES + NUMBER_BYTES));
  const view = new DataView(bytes.buffer);
  // One dimension, no nulls, items from 1.
  for (const [at, word] of [1, 0, FLOAT8, count, 1].entries()) view.setInt32(4 * at, word);
  let to = HEAD_BYTES;
  for (const { buffer, byteOffset, byteLength } of summaries) {
    const numbers = new DataView(buffer, byteOffset, byteLength);
    for (let from = 0; from < byteLength; from += NUMBER_BYTES) {
      view.setInt32(to, NUMBER_BYTES);
      view.setFloat64(to + ITEM_HEAD_BYTES, numbers.getFloat64(from, true));
      to += ITEM_HEAD_BYTES + NUMBER_BYTES;
    }
  }
  return sql.typed(bytes as never, FLOAT8_ARRAY);
}
