// Flat summaries in the database: an array of numbers, in which NaN stands for null.
import type { FlatKey } from '../engine/index.ts';
import type { Queryable } from './connect.ts';

/**
 * What the numbers are, in their order: as threads encode them, so only the end may change. This repeats the engine's
 * FLAT_KEYS, since only types of the engine may be imported here; a test compares the two.
 */
export const SUMMARY_KEYS = [
  'returnPct', 'netProfit', 'initialBalance', 'finalEquity', 'buyHoldReturnPct', 'excessReturnPct',
  'equityPeak', 'cagr', 'calmarRatio', 'recoveryFactor', 'maxDrawdown', 'avgDrawdown', 'maxDrawdownDurationBars',
  'maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt', 'timeUnderwaterPct',
  'annualVolatility', 'sharpeRatio', 'sortinoRatio', 'omegaRatio', 'ulcerIndex', 'tailRatio', 'var95', 'cvar95', 'skew',
  'kurtosis', 'beta', 'alpha', 'probabilisticSharpe', 'minTrackRecordDays',
  'exposurePct', 'turnover',
  'totalPositions', 'longPositions', 'shortPositions', 'winRate', 'profitFactor', 'expectancy', 'expectancyR',
  'avgTradePct', 'medianTradePct', 'avgWin', 'avgLoss', 'winLossRatio', 'bestTradePct', 'worstTradePct',
  'maxConsecutiveWins',
  'maxConsecutiveLosses', 'avgBarsHeld', 'avgMaePct', 'avgMfePct', 'systemQualityNumber', 'kellyFraction',
  'totalFees', 'makerFees', 'takerFees', 'feesPctOfGross', 'slippageCost', 'fundingPaid', 'totalNotional',
] as const satisfies readonly FlatKey[]; // prettier-ignore

/** What a query reads of `backtest_results r`. */
export interface StoredSummary {
  readonly summaryNumbers: readonly number[] | null;
}

export const SUMMARY_COLUMNS = 'r.summary_numbers as "summaryNumbers"';

/** The flat summary as an object; null: there is no result. */
export const summaryOf = ({ summaryNumbers }: StoredSummary): Readonly<Record<string, number | null>> | null =>
  summaryNumbers === null
    ? null
    : Object.fromEntries(summaryNumbers.map((value, at) => [SUMMARY_KEYS[at], Number.isNaN(value) ? null : value]));

/** SQL of one number of `backtest_results r`. */
export const summaryNumber = (key: FlatKey): string =>
  `nullif(r.summary_numbers[${SUMMARY_KEYS.indexOf(key) + 1}], 'NaN')`;

/** Postgres's type numbers, and the bytes that its binary form has before the items of an array and before each one. */
const FLOAT8 = 701;
const FLOAT8_ARRAY = 1022;
const HEAD_BYTES = 20;
const ITEM_HEAD_BYTES = 4;
const NUMBER_BYTES = 8;

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
