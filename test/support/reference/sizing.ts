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
  switch (sizing.mode) {
    case 'fixed':
      return value;
    case 'fixed_cash':
      return value / price;
    case 'percent_equity':
      return (equity * share) / (price * (1 + entryRate * Math.max(1, share)));
    case 'percent_balance':
      return (freeCash * share) / (price * (1 + entryRate * Math.max(1, share)));
    case 'risk_percent':
      return (equity * share) / (Math.abs(price - stopPrice) + entryRate * price + riskRate * stopPrice);
    case 'equal_slots':
      return Math.min(
        equity / input.slots / (price * (1 + entryRate)),
        freeCash / (price * (1 / leverage + entryRate)),
      );
    case 'volatility_target': {
      const notional = (equity * share) / (input.volatility * Math.sqrt(barsPerYear(input.bars, input.instrument)));
      return Math.min(notional, freeCash / (1 / leverage + entryRate)) / price;
    }
  }
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
