// What a fill costs beside its slippage: the fee of its tier and role.
import { DAY_MS } from '../bars/bars.ts';
import type { FeeModel, OrderRole } from '../config.ts';
import { feeOf, orderFeesOf, type OrderFees } from '../definitions/fees/orderFees.ts';

/**
 * The fee tiers and the notional traded so far; a fill is priced by what was traded strictly before it
 * (semantics §4.4).
 */
export interface FeeSchedule {
  readonly tiers: FeeModel['tiers'];
  /** What an order pays beside its tier; null: nothing. */
  readonly perOrder: OrderFees | null;
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
  /** What the fees of all fills consist of; counted with fees per order only. */
  readonly kinds: FeeKinds;
}

/** Fees by kind, quote units. They add up to all fees. */
export interface FeeKinds {
  /** At the rates of the tiers. */
  rates: number;
  perUnit: number;
  perOrder: number;
  /** What the least fee of an order added. */
  toMinimum: number;
  /** What the most that an order pays took off; negative. */
  toMaximum: number;
}

/** A schedule before the first fill. */
export const createFeeSchedule = (model: FeeModel): FeeSchedule => ({
  tiers: model.tiers,
  perOrder: orderFeesOf(model),
  windowMs: model.window === undefined ? null : model.window.days * DAY_MS,
  cumulative: 0,
  fillTimes: [],
  notionalBefore: [],
  oldest: 0,
  usage: model.tiers.map(() => ({ notional: 0, fees: 0, fills: 0 })),
  makerFees: 0,
  takerFees: 0,
  kinds: { rates: 0, perUnit: 0, perOrder: 0, toMinimum: 0, toMaximum: 0 },
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

/** Books a fill, which is an order of its own, and returns its fee in quote units. */
export function chargeFee(
  schedule: FeeSchedule,
  quantity: number,
  price: number,
  role: OrderRole,
  now: number,
): number {
  const tier = tierAt(schedule, now);
  const rate = rateOf(schedule, tier, role);
  const notional = quantity * price;
  const fee = feeOf(schedule.perOrder, rate, quantity, price);
  if (schedule.perOrder !== null) addKinds(schedule.kinds, schedule.perOrder, notional * rate, quantity, fee);
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

function addKinds(kinds: FeeKinds, fees: OrderFees, atRate: number, quantity: number, fee: number): void {
  const counted = atRate + quantity * fees.perUnit + fees.perOrder;
  const least = Math.max(counted, fees.minPerOrder);
  kinds.rates += atRate;
  kinds.perUnit += quantity * fees.perUnit;
  kinds.perOrder += fees.perOrder;
  kinds.toMinimum += least - counted;
  kinds.toMaximum += fee - least;
}
