// How much an order trades: the formula of its sizing mode, rounded to the instrument's step.
import { DAY_MS, type Bars, type Instrument } from '../bars/bars.ts';
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import type { ResolvedConfig } from '../config.ts';
import { orderFeesOf } from '../definitions/fees/orderFees.ts';
import type { SizedFill, SizingMode } from '../definitions/sizing/sizingMode.ts';
import { sizingModeOf } from '../definitions/sizing/sizingModes.ts';
import type { SizingRule } from '../evaluate/tradingRules.ts';

/**
 * How far below a whole number of steps still counts as that number (semantics §4.2). The relative part is for
 * quantities of many steps, where one unit in the last place is already more than the absolute part.
 */
const stepTolerance = (steps: number): number => Math.max(1e-9, steps * 1e-12);

/** `quantity` rounded down to whole steps; a step of 0 leaves it as it is. */
export function floorToStep(quantity: number, step: number): number {
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

/** What sizing reads at the fill. */
export interface SizingContext extends SizedFill {
  signalRow: number;
  readonly bars: Bars;
  readonly instrument: Instrument;
}

/** How an entry rule is sized, found once per run. */
export interface BoundSize {
  readonly value: number;
  readonly atr: Float64Array | null;
  readonly readsStop: boolean;
  readonly quantity: SizingMode['quantity'];
}

export function bindSize({ mode, value, atr }: SizingRule): BoundSize {
  const { readsStop, quantity } = sizingModeOf(mode);
  return { value, atr: atr ?? null, readsStop, quantity };
}

export const newSizingContext = (
  { leverage, portfolio, execution }: ResolvedConfig,
  bars: Bars,
  instrument: Instrument,
  sizes: readonly BoundSize[],
): SizingContext => ({
  price: NaN,
  stopPrice: NaN,
  feeRate: NaN,
  stopFeeRate: NaN,
  orderFees: orderFeesOf(execution.feeModel),
  equity: NaN,
  freeCash: NaN,
  leverage,
  slots: portfolio?.slots ?? null,
  atrFraction: NaN,
  barsPerYear: sizes.some(({ atr }) => atr !== null) ? barsPerYear(bars, instrument) : NaN,
  signalRow: 0,
  bars,
  instrument,
});

/** Units of the base asset, rounded down to the step; NaN when a value it needs is missing (semantics §4.2). */
export function orderQuantity(size: BoundSize, context: SizingContext): number {
  if (!(context.price > 0)) return 0;
  const { signalRow, bars, instrument } = context;
  if (size.atr !== null) context.atrFraction = size.atr[signalRow] / bars.close[signalRow];
  return floorToStep(size.quantity(size.value, context), instrument.qtyStep);
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
