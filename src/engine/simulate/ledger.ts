// The ledger: the balance, what open positions bind of it, and the price at which they can no longer be carried.
import type { Position } from './position.ts';
import type { Run } from './run.ts';

export interface Ledger {
  /** initial + realised pnl − entry fees + funding (semantics §4.1). */
  balance: number;
  /** Equity at a price is cashBase + netQuantity × price. */
  cashBase: number;
  /** Σ side × quantity. */
  netQuantity: number;
  /** Σ entry notional / leverage. */
  usedMargin: number;
  /** Signed (side × price); -Infinity when no price liquidates. */
  liquidation: number;
}

export const createLedger = (initialBalance: number): Ledger => ({
  balance: initialBalance,
  cashBase: initialBalance,
  netQuantity: 0,
  usedMargin: 0,
  liquidation: -Infinity,
});

export const equityAt = (ledger: Ledger, price: number): number => ledger.cashBase + ledger.netQuantity * price;

/** Unrealised profit is not spendable (semantics §4.1). */
export const freeCash = (ledger: Ledger): number => ledger.balance - ledger.usedMargin;

/**
 * Derives margin, marks and the liquidation price from the balance and what is open; after every fill and funding. Summed afresh, so
 * that a flat account is exactly its balance. Cross margin: long (Σq·e − B)/(Σq·(1 − m)), short (B + Σq·e)/(Σq·(1 + m)) (semantics §4.5).
 */
export function remark(run: Run): void {
  const { ledger, positions } = run;
  const { leverage, maintenanceMarginRate } = run.input.config;
  let quantity = 0;
  let notional = 0;
  for (const position of positions) {
    quantity += position.quantity;
    notional += position.quantity * position.entryPrice;
  }
  ledger.usedMargin = notional / leverage;
  if (positions.length === 0) {
    ledger.cashBase = ledger.balance;
    ledger.netQuantity = 0;
    ledger.liquidation = -Infinity;
    return;
  }
  const { side } = positions[0];
  ledger.netQuantity = side * quantity;
  ledger.cashBase = ledger.balance - side * notional;
  const price =
    side > 0
      ? (notional - ledger.balance) / (quantity * (1 - maintenanceMarginRate))
      : (ledger.balance + notional) / (quantity * (1 + maintenanceMarginRate));
  ledger.liquidation = price > 0 ? side * price : -Infinity;
}

/** The level that ends a position if the market turns against it (signed): its stop, or the account's liquidation if that is nearer. */
export const adverseLevel = (run: Run, position: Position): number => Math.max(position.stop, run.ledger.liquidation);

const EIGHT_HOURS_MS = 8 * 3_600_000;
/** How many funding instants (00, 08, 16 UTC) lie at or before this time. */
const fundingInstants = (time: number): number => Math.floor(time / EIGHT_HOURS_MS);

/** The first row from `row` on, at most `limit`, whose open has a funding instant since the open before it. */
export function nextFundingRow(run: Run, row: number, limit: number): number {
  const { time } = run.bars;
  let at = row;
  while (at < limit && fundingInstants(time[at]) === fundingInstants(time[at - 1])) at++;
  return at;
}

/** Positions carried into this bar pay quantity × open × rate for each funding instant passed; a long pays a positive rate (semantics §4.6). */
export function payFunding(run: Run, row: number): void {
  const { bars, ledger, positions } = run;
  if (positions.length === 0 || row === 0) return;
  const instants = fundingInstants(bars.time[row]) - fundingInstants(bars.time[row - 1]);
  if (instants === 0) return;
  const perUnit = bars.open[row] * run.input.config.fundingRate * instants;
  for (const position of positions) {
    const paid = position.side * position.quantity * perUnit;
    position.funding -= paid;
    ledger.balance -= paid;
    run.fundingPaid += paid;
  }
  remark(run);
}
