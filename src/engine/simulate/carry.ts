// Carry: what holding an instrument costs or earns: its rates, its dividends, and the rows at whose opens they are due.
import { DAY_MS, type Bars } from '../bars/bars.ts';
import { hasDividends, type Dividends, type ResolvedConfig } from '../config.ts';
import { lowerBound } from '../kernels/search.ts';

const EIGHT_HOURS_MS = 8 * 3_600_000;
const DAYS_PER_YEAR = 365;

/** How many funding instants (00, 08, 16 UTC) lie at or before this time. */
export const fundingInstants = (time: number): number => Math.floor(time / EIGHT_HOURS_MS);
/** How many midnights UTC do. */
export const midnights = (time: number): number => Math.floor(time / DAY_MS);

/** The rates and dividends of an instrument. */
export interface Carry {
  readonly fundingRate: number;
  /** A fraction of the value of a short. */
  readonly borrowRatePerDay: number;
  /** Quote units per unit, by the row at whose open they are paid. */
  readonly dividends: ReadonlyMap<number, number>;
}

/** Whether holding may cost or earn anything, in any instrument. */
export const hasCarry = (config: ResolvedConfig): boolean =>
  config.fundingRate !== 0 || (config.borrowRatePerYear ?? 0) > 0 || hasDividends(config);

/** null: holding this instrument costs and earns nothing. */
export function carryOf(config: ResolvedConfig, bars: Bars): Carry | null {
  const { fundingRate, borrowRatePerYear = 0 } = config;
  const dividends = dividendRows(config, bars, bars.time);
  if (fundingRate === 0 && borrowRatePerYear === 0 && dividends.size === 0) return null;
  return { fundingRate, borrowRatePerDay: borrowRatePerYear / DAYS_PER_YEAR, dividends };
}

/** What an instrument pays per unit, by the row of the first of these times that is the ex-date or later. */
export function dividendRows(
  { dividends = [], dividendColumn = '' }: Dividends,
  { symbol, series, time: ownTime }: Pick<Bars, 'symbol' | 'series' | 'time'>,
  time: Float64Array,
): ReadonlyMap<number, number> {
  const perRow = new Map<number, number>();
  const add = (exDate: number, amount: number): void => {
    const row = lowerBound(time, exDate);
    if (row > 0 && row < time.length) perRow.set(row, (perRow.get(row) ?? 0) + amount);
  };
  for (const dividend of dividends) if (dividend.symbol === symbol) add(dividend.time, dividend.amount);
  series.get(dividendColumn)?.forEach((amount, row) => {
    if (amount > 0) add(ownTime[row], amount);
  });
  return perRow;
}

/** The first row from `row` on, at most `limit`, at whose open anything is paid for holding. */
export function nextCarryRow(time: Float64Array, carry: Carry, row: number, limit: number): number {
  const { fundingRate, borrowRatePerDay, dividends } = carry;
  const isDue = (at: number): boolean =>
    (fundingRate !== 0 && fundingInstants(time[at]) !== fundingInstants(time[at - 1])) ||
    (borrowRatePerDay > 0 && midnights(time[at]) !== midnights(time[at - 1])) ||
    dividends.has(at);
  let at = row;
  while (at < limit && !isDue(at)) at++;
  return at;
}
