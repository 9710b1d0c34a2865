// How much an order trades: the sizing modes, and the rounding to the instrument's step.
import { DAY_MS, type Bars, type Instrument } from '../bars/bars.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import type { SizingRule } from '../evaluate/tradingRules.ts';

/**
 * How far below a whole number of steps still counts as that number (semantics §4.2). The relative part is for
 * quantities of many steps, where one unit in the last place is already more than the absolute part.
 */
const stepTolerance = (steps: number): number => Math.max(1e-9, steps * 1e-12);

/** `quantity` rounded down to whole steps; a step of 0 leaves it as it is. */
function floorToStep(quantity: number, step: number): number {
  if (!(step > 0)) return quantity;
  const steps = quantity / step;
  const whole = Math.floor(steps + stepTolerance(steps));
  // Dividing by the steps in one unit gives 1.15 where multiplying by 1e-8 gives 1.1500000000000001.
  const stepsPerUnit = Math.round(1 / step);
  return stepsPerUnit * step === 1 ? whole / stepsPerUnit : whole * step;
}

/**
 * How much of a position a partial exit closes: `wanted` rounded down to whole steps, which may be 0, or all that is
 * left when less than one step would remain (semantics §2.8: no dust).
 */
export function partialQuantity(left: number, wanted: number, step: number): number {
  if (wanted >= left * (1 - 1e-12)) return left;
  const quantity = floorToStep(wanted, step);
  if (!(quantity > 0)) return 0;
  return left - quantity < step * (1 - stepTolerance(left / step)) ? left : quantity;
}

/** What sizing reads at the fill. Prices in quote units, rates as fractions. */
export interface SizingContext {
  /** The fill price, slippage included. */
  price: number;
  /** The initial stop's fill price, slippage included; NaN without one. */
  stopPrice: number;
  feeRate: number;
  /** What the stop would pay, with the role of risk orders. */
  stopFeeRate: number;
  equity: number;
  freeCash: number;
  readonly leverage: number;
  signalRow: number;
  readonly bars: Bars;
  readonly instrument: Instrument;
}

/**
 * Units of the base asset, rounded down to the step; NaN when a value it needs is missing. Formulas: semantics §4.2 and
 * §4.3.
 */
export function orderQuantity(sizing: SizingRule, context: SizingContext): number {
  if (!(context.price > 0)) return 0;
  return floorToStep(unroundedQuantity(sizing, context), context.instrument.qtyStep);
}

function unroundedQuantity(sizing: SizingRule, context: SizingContext): number {
  const { price, equity } = context;
  const fee = Math.max(0, context.feeRate);
  switch (sizing.mode) {
    case 'fixed':
      return sizing.value;
    case 'fixed_cash':
      return sizing.value / price;
    case 'percent_equity':
    case 'percent_balance': {
      const fraction = sizing.value / 100;
      const funds = sizing.mode === 'percent_equity' ? equity : context.freeCash;
      return (funds * fraction) / (price * (1 + fee * Math.max(1, fraction)));
    }
    case 'risk_percent': {
      const { stopPrice } = context;
      const lossPerUnit = Math.abs(price - stopPrice) + fee * price + Math.max(0, context.stopFeeRate) * stopPrice;
      return (equity * (sizing.value / 100)) / lossPerUnit;
    }
    case 'volatility_target': {
      const { bars, instrument, signalRow } = context;
      const barVolatility = sizing.atr[signalRow] / bars.close[signalRow];
      const wanted = (equity * (sizing.value / 100)) / (barVolatility * Math.sqrt(barsPerYear(bars, instrument)));
      const affordable = context.freeCash / (1 / context.leverage + fee);
      return Math.min(wanted, affordable) / price;
    }
  }
}

interface BarsPerDay {
  readonly median: number;
  readonly mean: number;
}

const barsPerDayOf = new WeakMap<Float64Array, BarsPerDay>();

/** Periods per year × the bars of a UTC day that has bars (semantics §4.3); kept per snapshot. */
function barsPerYear(bars: Bars, instrument: Instrument): number {
  let perDay = barsPerDayOf.get(bars.time);
  if (perDay === undefined) {
    perDay = barsPerDay(bars.time);
    barsPerDayOf.set(bars.time, perDay);
  }
  // Counted days include short ones, such as Sunday evenings of a currency: the median of their bars would be too high.
  return (instrument.periodsPerYear === undefined ? perDay.median : perDay.mean) * periodsPerYear(instrument);
}

function barsPerDay(time: Float64Array): BarsPerDay {
  const counts: number[] = [];
  let day = NaN;
  for (const at of time) {
    const today = Math.floor(at / DAY_MS);
    if (today === day) counts[counts.length - 1]++;
    else counts.push(1);
    day = today;
  }
  counts.sort((a, b) => a - b);
  const middle = counts.length >> 1;
  const median = counts.length % 2 === 1 ? counts[middle] : (counts[middle - 1] + counts[middle]) / 2;
  return { median, mean: time.length / counts.length };
}
