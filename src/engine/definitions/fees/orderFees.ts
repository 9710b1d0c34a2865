// Fees per order: what an order pays beside the rate of its tier, and the limits of the whole (semantics §4.4).
import { z } from 'zod';

/** More than any instrument, order or fee costs; quote units. */
const MAX_MONEY = 1e12;
const money = (description: string) => z.number().min(0).max(MAX_MONEY).optional().meta({ description });

/** The members of a fee model that count per order, beside its tiers. */
export const ORDER_FEE_MEMBERS = {
  perUnit: money('Quote currency for each unit traded, such as 0.005 for each share.'),
  perOrder: money('Quote currency for each order that fills.'),
  minPerOrder: money('The least that an order pays, all its fees together.'),
  maxPerOrder: money('The most that an order pays, even if minPerOrder is more.'),
  maxRate: z.number().min(0).max(1).optional().meta({
    description: 'The same as a fraction of its notional: 0.01 is 1 %.',
  }),
} as const;

/** All members; a limit that there is not is infinite. */
export interface OrderFees {
  readonly perUnit: number;
  readonly perOrder: number;
  readonly minPerOrder: number;
  readonly maxPerOrder: number;
  readonly maxRate: number;
}

type WrittenFees = { readonly [Name in keyof OrderFees]?: number | undefined };

/** Whether an order may pay anything but the rate of its tier: an amount of its own, or a limit. */
export const hasOrderFees = (written: WrittenFees): boolean =>
  (written.perUnit ?? 0) > 0 ||
  (written.perOrder ?? 0) > 0 ||
  written.minPerOrder !== undefined ||
  written.maxPerOrder !== undefined ||
  written.maxRate !== undefined;

/** Whether an order pays any amount beside the rate of its tier. */
export const chargesPerOrder = ({ perUnit, perOrder, minPerOrder, maxPerOrder, maxRate }: WrittenFees): boolean =>
  [perUnit, perOrder, minPerOrder].some((amount = 0) => amount > 0) && maxPerOrder !== 0 && maxRate !== 0;

/** null: orders pay the rate of their tier and nothing else. */
export function orderFeesOf(written: WrittenFees): OrderFees | null {
  if (!hasOrderFees(written)) return null;
  return {
    perUnit: written.perUnit ?? 0,
    perOrder: written.perOrder ?? 0,
    minPerOrder: written.minPerOrder ?? -Infinity,
    maxPerOrder: written.maxPerOrder ?? Infinity,
    maxRate: written.maxRate ?? Infinity,
  };
}

/** The same fees, each amount and each limit multiplied: every order then pays that multiple. */
export function multipliedOrderFees(written: WrittenFees, factor: number): WrittenFees {
  const multiplied: { -readonly [Name in keyof OrderFees]?: number } = {};
  for (const name of Object.keys(ORDER_FEE_MEMBERS) as (keyof OrderFees)[]) {
    const value = written[name];
    if (value !== undefined) multiplied[name] = value * factor;
  }
  return multiplied;
}

/** What an order pays at the rate of its tier and per order, quote units; negative is a rebate. */
export function feeOf(fees: OrderFees | null, rate: number, quantity: number, price: number): number {
  const notional = quantity * price;
  if (fees === null) return notional * rate;
  const counted = notional * rate + quantity * fees.perUnit + fees.perOrder;
  const fee = Math.min(Math.max(counted, fees.minPerOrder), fees.maxPerOrder);
  // A price may be 0, which an infinite rate does not limit.
  return fees.maxRate === Infinity ? fee : Math.min(fee, notional * fees.maxRate);
}
