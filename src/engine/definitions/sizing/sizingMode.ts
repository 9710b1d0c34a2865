// A sizing mode: everything that the language, the loop and the report need to know about one way to size an entry.
import { z } from 'zod';
import { ParamRef } from '../expressionMembers.ts';
import { feeLines, largestQuantity } from '../fees/affordable.ts';
import type { OrderFees } from '../fees/orderFees.ts';
import { issueCodes } from '../issueCodes.ts';
import type { VariantMembers } from '../taggedSchemas.ts';

/** What a formula reads at the fill. Prices in quote units, rates as fractions (semantics §4.2). */
export interface SizedFill {
  /** P: the fill price, slippage included. */
  price: number;
  /** S: the initial stop's fill price, slippage included; NaN without a stop. */
  stopPrice: number;
  /** The fee of the entry; negative is a rebate. */
  feeRate: number;
  /** What the stop would pay, with the role of risk orders. Given only where `readsStop`. */
  stopFeeRate: number;
  /** What orders pay beside these rates; null: nothing. */
  readonly orderFees: OrderFees | null;
  /** E: marked at the price before slippage. */
  equity: number;
  freeCash: number;
  readonly leverage: number;
  /** The slots of the portfolio; null: it has none. Given to modes that need them. */
  readonly slots: number | null;
  /** ATR / close of the signal bar. Given only to modes with an `atrPeriod`. */
  atrFraction: number;
  /** Given only to modes with an `atrPeriod`. */
  readonly barsPerYear: number;
}

export interface SizingMode<Mode extends string = string, Members extends VariantMembers = VariantMembers> {
  readonly mode: Mode;
  /** The members in the grammar. `atrPeriod` binds the ATR of that many bars, so that it is known at the signal. */
  readonly members: Members;
  /** One line for each member, for authors. */
  readonly texts: Readonly<Record<keyof Members, string>>;
  /** What `value` counts, or else the size: units of the instrument, money in quote units, or percent points. */
  readonly unit: 'units' | 'money' | 'percentPoints';
  /** Percent points below this were probably written as a fraction: 0.95 for 95 %. null: not a percent. */
  readonly leastPercent: number | null;
  /** Whether the formula reads the initial stop: the strategy must have one, known when the order fills. */
  readonly readsStop: boolean;
  /** The config must give `portfolio.slots`. */
  readonly needsSlots?: true;
  /**
   * The quantity before rounding, in units of the instrument; NaN when a value that it reads is missing. `value` is NaN
   * for a mode without that member.
   */
  readonly quantity: (value: number, fill: SizedFill) => number;
  /** What helps when an order of this size cannot be paid. */
  readonly unaffordable: UnaffordableAdvice;
  /** Words for the mode on other platforms and for its `value` there, separated by spaces. */
  readonly otherNames: string;
  readonly otherValueNames: string;
}

/**
 * The largest quantity of which a part of the notional and the fee of the entry are within the budget; where orders pay
 * no more than a rate, budget / (P·(share + f)).
 */
export function quantityWithin(budget: number, share: number, { price, feeRate, orderFees }: SizedFill): number {
  if (orderFees === null) return budget / (price * (share + Math.max(0, feeRate)));
  return largestQuantity(budget, price * share, [feeLines(orderFees, feeRate, price)]);
}

/** Of a strategy that sizes its entries in several ways, the advice of the highest rank is given. */
interface UnaffordableAdvice {
  readonly rank: number;
  readonly text: string;
}

export const sizingMode = <const Mode extends string, Members extends VariantMembers>(
  definition: SizingMode<Mode, Members>,
): SizingMode<Mode, Members> => definition;

const sizingNumber = (schema: z.ZodNumber) =>
  z.union([schema.register(issueCodes, { code: 'SIZING_INVALID' }), ParamRef]);
/** A size in units or money. */
export const positiveSize = () => sizingNumber(z.number().positive());
/** A size in percent points: 100 is everything. */
export const sizePercent = (max: number) => sizingNumber(z.number().positive().max(max));
/** The config's leverage can raise what is affordable up to 1,000 times everything. */
export const MAX_SIZING_PERCENT = 100_000;

/** A size that does not change with the balance. */
export const LOWER_OR_PAY: UnaffordableAdvice = {
  rank: 0,
  text: 'Use a smaller sizing.value, percent_equity sizing, or a larger config.initialBalance.',
};
/** A share of the balance. */
export const LOWER_SHARE: UnaffordableAdvice = {
  rank: 1,
  text:
    'Lower sizing.value (fees are paid on top of the position) or raise config.leverage: the size grows with ' +
    'the balance, so a larger initialBalance does not help.',
};
/** A size that grows with the balance, and more so the nearer the stop or the calmer the market. */
export const LOWER_RISK: UnaffordableAdvice = {
  rank: 2,
  text:
    'Raise config.leverage or lower sizing.value: the size grows with the balance, so a larger initialBalance ' +
    'does not help. A stop farther away makes positions smaller as well.',
};
