// The ledger: the balance, the margin that open positions use, and the price at which they are liquidated.

export interface Ledger {
  /** initial + realized pnl − entry fees + funding (semantics §4.1). */
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

/** A flat account. @param initialBalance quote units */
export const createLedger = (initialBalance: number): Ledger => ({
  balance: initialBalance,
  cashBase: initialBalance,
  netQuantity: 0,
  usedMargin: 0,
  liquidation: -Infinity,
});

/** Balance plus unrealized profit at a price, quote units. */
export const equityAt = (ledger: Ledger, price: number): number => ledger.cashBase + ledger.netQuantity * price;

/** Unrealized profit is not spendable (semantics §4.1). */
export const freeCash = (ledger: Ledger): number => ledger.balance - ledger.usedMargin;
