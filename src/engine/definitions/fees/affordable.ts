// What funds can pay for, fees per order included: found exactly, since a fee is made of straight lines.
import { feeOf, type OrderFees } from './orderFees.ts';

/** A part of a fee: so much per order, and so much per unit. */
interface Line {
  readonly base: number;
  readonly slope: number;
}

/** The fee of one order: the least of its limits, each of which is the largest of its lines. */
type FeeLines = readonly (readonly Line[])[];

/** The lines of the fee of an order at a price; a rebate buys nothing before it is paid (semantics §4.2). */
export function feeLines(fees: OrderFees, rate: number, price: number): FeeLines {
  const { perUnit, perOrder, minPerOrder, maxPerOrder, maxRate } = fees;
  const counted = { base: perOrder, slope: Math.max(0, rate) * price + perUnit };
  return [
    [counted, { base: Math.max(0, minPerOrder), slope: 0 }],
    ...(maxPerOrder < Infinity ? [[{ base: maxPerOrder, slope: 0 }]] : []),
    ...(maxRate < Infinity ? [[{ base: 0, slope: maxRate * price }]] : []),
  ];
}

/**
 * The largest quantity whose cost per unit and whose fees together are within a budget. Costs rise with the quantity:
 * where the least of several limits counts, the largest answer does; where the largest of several lines counts, the
 * least answer does.
 */
export function largestQuantity(budget: number, costPerUnit: number, fees: readonly FeeLines[]): number {
  if (fees.length === 0) return budget < 0 ? 0 : budget === 0 && costPerUnit === 0 ? Infinity : budget / costPerUnit;
  const [first, ...others] = fees;
  let most = 0;
  for (const lines of first) {
    let least = Infinity;
    for (const { base, slope } of lines)
      least = Math.min(least, largestQuantity(budget - base, costPerUnit + slope, others));
    most = Math.max(most, least);
  }
  return most;
}

/** An order of a rebalance. */
interface SizedOrder {
  readonly quantity: number;
  readonly price: number;
}

/**
 * The largest factor, at most 1, by which all orders can be multiplied so that their costs are within the funds
 * (semantics §8.11); 0 where the funds do not even pay what every order costs, however small.
 * @param costShare the part of its notional that an order takes from the funds
 */
export function affordableFactor(
  funds: number,
  orders: readonly SizedOrder[],
  costShare: number,
  fees: OrderFees,
  rate: number,
): number {
  const paid = Math.max(0, rate);
  const costAt = (factor: number): number => {
    let cost = 0;
    for (const { quantity, price } of orders)
      cost += factor * quantity * price * costShare + Math.max(0, feeOf(fees, paid, factor * quantity, price));
    return cost;
  };
  if (costAt(0) > funds) return 0;
  if (costAt(1) <= funds) return 1;
  // Between two of its corners the cost is a straight line.
  const corners = Float64Array.from([0, ...orders.flatMap((order) => cornersOf(order, fees, paid)), 1]).sort();
  let low = 0;
  let high = corners.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (costAt(corners[middle]) <= funds) low = middle;
    else high = middle;
  }
  const [from, to] = [corners[low], corners[high]];
  const cost = costAt(from);
  return from + ((funds - cost) / (costAt(to) - cost)) * (to - from);
}

/** The factors between 0 and 1 at which another line of the fee of an order begins to count. */
function cornersOf({ quantity, price }: SizedOrder, fees: OrderFees, rate: number): number[] {
  const lines = feeLines(fees, rate, price).flat();
  return lines.flatMap((one, index) =>
    lines.slice(index + 1).flatMap((other) => {
      const corner = (other.base - one.base) / ((one.slope - other.slope) * quantity);
      return corner > 0 && corner < 1 ? [corner] : [];
    }),
  );
}
