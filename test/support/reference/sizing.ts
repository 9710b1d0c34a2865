// How much an entry order trades, by each sizing mode (semantics §4.2, §4.3).
import type { Bars, Instrument } from '../../../src/engine/bars/bars.ts';
import type { RunnableStrategy } from '../../../src/engine/language/grammar/ast.ts';
import { floorToStep } from './levels.ts';

export interface SizingInput {
  readonly sizing: RunnableStrategy['entries'][number]['action']['sizing'];
  /** The fill price, slippage included. */
  readonly price: number;
  /** The initial stop's fill price, slippage included; NaN without a known stop. */
  readonly stopPrice: number;
  readonly entryRate: number;
  readonly riskRate: number;
  readonly equity: number;
  readonly freeCash: number;
  readonly leverage: number;
  /** ATR of the signal's bar over its close; NaN while missing. */
  readonly volatility: number;
  readonly bars: Bars;
  readonly instrument: Instrument;
  /** What an order of so many units at a price pays at a rate. */
  readonly feeAt: (rate: number, quantity: number, price: number) => number;
  /** Of the portfolio; NaN without any. */
  readonly slots: number;
}

/** NaN when a value it needs is missing. */
export function orderQuantity(input: SizingInput): number {
  return input.price > 0 ? floorToStep(unrounded(input), input.instrument.qtyStep) : 0;
}

function unrounded(input: SizingInput): number {
  const { sizing, price, stopPrice, equity, freeCash, leverage } = input;
  const value = 'value' in sizing ? sizing.value : NaN;
  const share = value / 100;
  const entryRate = Math.max(0, input.entryRate);
  const riskRate = Math.max(0, input.riskRate);
  const entryFee = (q: number): number => Math.max(0, input.feeAt(entryRate, q, price));
  /** A part of the notional and the fee of the entry are within a budget. */
  const within = (budget: number, part: number): number => largestWithin(budget, (q) => q * price * part + entryFee(q));
  switch (sizing.mode) {
    case 'fixed':
      return value;
    case 'fixed_cash':
      return value / price;
    case 'percent_equity':
      return within(equity * Math.min(1, share), 1 / Math.max(1, share));
    case 'percent_balance':
      return within(freeCash * Math.min(1, share), 1 / Math.max(1, share));
    case 'risk_percent':
      if (Number.isNaN(stopPrice)) return NaN;
      return largestWithin(
        equity * share,
        (q) => q * Math.abs(price - stopPrice) + entryFee(q) + Math.max(0, input.feeAt(riskRate, q, stopPrice)),
      );
    case 'equal_slots':
      return Math.min(within(equity / input.slots, 1), within(freeCash, 1 / leverage));
    case 'volatility_target': {
      const notional = (equity * share) / (input.volatility * Math.sqrt(barsPerYear(input.bars, input.instrument)));
      return Math.min(notional / price, within(freeCash, 1 / leverage));
    }
  }
}

/** The largest number, at most `most`, whose rising cost is within a budget, found by halving; 0 where none is. */
export function largestWithin(budget: number, costOf: (value: number) => number, most = 1e300): number {
  if (Number.isNaN(budget) || Number.isNaN(costOf(1))) return NaN;
  if (costOf(most) <= budget) return most;
  let low = 0;
  let high = Math.min(1, most);
  while (costOf(high) <= budget) high *= 2;
  for (let step = 0; step < 2_000; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (costOf(middle) <= budget) low = middle;
    else high = middle;
  }
  return low;
}

/** Periods a year × the median number of bars of a UTC day that has bars, or their mean where the days were counted. */
function barsPerYear({ time }: Bars, { tradesAllDay, periodsPerYear }: Instrument): number {
  const days = new Map<number, number>();
  for (const open of time) {
    const day = Math.floor(open / 86_400_000);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  const counts = [...days.values()].toSorted((a, b) => a - b);
  const middle = counts.length >> 1;
  const median = counts.length % 2 === 1 ? counts[middle] : (counts[middle - 1] + counts[middle]) / 2;
  if (periodsPerYear !== undefined) return (periodsPerYear * time.length) / counts.length;
  return (tradesAllDay ? 365 : 252) * median;
}
