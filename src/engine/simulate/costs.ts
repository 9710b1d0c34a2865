// What a fill costs: the fee of its tier and role, and the slippage of its price.
import type { Bars, Instrument } from '../bars/bars.ts';
import { DAY_MS } from '../bars/bars.ts';
import type { FeeModel, OrderRole, Slippage } from '../config.ts';

/**
 * The fee tiers and the notional traded so far; a fill is priced by what was traded strictly before it
 * (semantics §4.4).
 */
export interface FeeSchedule {
  readonly tiers: FeeModel['tiers'];
  /** null: every earlier fill counts, however old. */
  readonly windowMs: number | null;
  /** Quote units of all fills so far. */
  cumulative: number;
  /**
   * With a window: the time of each fill and the cumulative notional before it; `oldest` is the first fill still inside
   * it.
   */
  readonly fillTimes: number[];
  readonly notionalBefore: number[];
  oldest: number;
  /** One per tier. */
  readonly usage: { notional: number; fees: number; fills: number }[];
  makerFees: number;
  takerFees: number;
}

/** A schedule before the first fill. */
export const createFeeSchedule = (model: FeeModel): FeeSchedule => ({
  tiers: model.tiers,
  windowMs: model.window === undefined ? null : model.window.days * DAY_MS,
  cumulative: 0,
  fillTimes: [],
  notionalBefore: [],
  oldest: 0,
  usage: model.tiers.map(() => ({ notional: 0, fees: 0, fills: 0 })),
  makerFees: 0,
  takerFees: 0,
});

/**
 * The index of the tier that prices a fill at `now` (ms; read only with a window): the last one whose minimum is
 * reached by the notional of the fills so far, with a window only of those in (now − window, now].
 */
function tierAt(schedule: FeeSchedule, now: number): number {
  let tier = schedule.tiers.length - 1;
  if (tier === 0) return 0;
  let traded = schedule.cumulative;
  if (schedule.windowMs !== null) {
    const { fillTimes } = schedule;
    while (schedule.oldest < fillTimes.length && fillTimes[schedule.oldest] <= now - schedule.windowMs)
      schedule.oldest++;
    traded = schedule.oldest < fillTimes.length ? traded - schedule.notionalBefore[schedule.oldest] : 0;
  }
  while (tier > 0 && schedule.tiers[tier].minCumulativeNotional > traded) tier--;
  return tier;
}

const rateOf = (schedule: FeeSchedule, tier: number, role: OrderRole): number =>
  role === 'maker' ? schedule.tiers[tier].makerRate : schedule.tiers[tier].takerRate;

/** The fraction of its notional that an order filling now would pay; negative is a rebate. */
export const feeRate = (schedule: FeeSchedule, role: OrderRole, now: number): number =>
  rateOf(schedule, tierAt(schedule, now), role);

/** Books a fill and returns its fee in quote units. */
export function chargeFee(schedule: FeeSchedule, notional: number, role: OrderRole, now: number): number {
  const tier = tierAt(schedule, now);
  const fee = notional * rateOf(schedule, tier, role);
  if (schedule.windowMs !== null) {
    schedule.fillTimes.push(now);
    schedule.notionalBefore.push(schedule.cumulative);
  }
  schedule.cumulative += notional;
  const usage = schedule.usage[tier];
  usage.notional += notional;
  usage.fees += fee;
  usage.fills++;
  if (role === 'maker') schedule.makerFees += fee;
  else schedule.takerFees += fee;
  return fee;
}

/** How far fills of market and stop orders are moved against the trader. */
export type SlippageModel =
  | { readonly kind: 'none' }
  | { readonly kind: 'fraction'; readonly fraction: number }
  | { readonly kind: 'distance'; readonly distance: number }
  | {
      readonly kind: 'atr' | 'range';
      readonly multiplier: number;
      readonly bars: Bars;
      readonly atr: Float64Array | null;
    };

/** @throws Error when a tick size or the ATR column is missing, which the checks of configs and plans rule out */
export function createSlippage(
  slippage: Slippage,
  bars: Bars,
  instrument: Instrument,
  atr: Float64Array | null,
): SlippageModel {
  switch (slippage.kind) {
    case 'none':
      return { kind: 'none' };
    case 'fixed': {
      if (slippage.unit === 'bps') return { kind: 'fraction', fraction: slippage.value / 1e4 };
      if (instrument.tickSize === null) {
        throw new Error(
          `Slippage in ticks needs a tickSize, and ${instrument.symbol} has none; refuse the config before.`,
        );
      }
      return { kind: 'distance', distance: slippage.value * instrument.tickSize };
    }
    case 'volatility_scaled': {
      const { multiplier, reference } = slippage;
      if (reference === 'atr_pct' && atr === null) {
        throw new Error('Slippage by atr_pct needs the ATR column of the base bars.');
      }
      return { kind: reference === 'atr_pct' ? 'atr' : 'range', multiplier, bars, atr };
    }
  }
}

/**
 * The price that a market or stop order gets, moved against the trader; direction 1 buys, -1 sells. `closedRow` is the
 * last bar closed before the fill, read by volatility_scaled. When that bar or its ATR is missing, nothing is added.
 */
export function slippedPrice(model: SlippageModel, price: number, direction: 1 | -1, closedRow: number): number {
  switch (model.kind) {
    case 'none':
      return price;
    case 'fraction':
      return Math.max(0, price * (1 + direction * model.fraction));
    case 'distance':
      return Math.max(0, price + direction * model.distance);
    case 'atr':
    case 'range': {
      if (closedRow < 0) return price;
      const { high, low, close } = model.bars;
      const range = model.kind === 'atr' ? model.atr![closedRow] : high[closedRow] - low[closedRow];
      const fraction = (model.multiplier * range) / close[closedRow];
      return Number.isFinite(fraction) ? Math.max(0, price * (1 + direction * fraction)) : price;
    }
  }
}
