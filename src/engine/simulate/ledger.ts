// The ledger: the books of one account. In a portfolio all instruments share it, and what it says of positions and
// prices is seen from the instrument whose turn it is.

export interface Ledger {
  /** initial + realized pnl − entry fees + funding (semantics §4.1). */
  balance: number;
  /** Equity at a price is cashBase + netQuantity × price. */
  cashBase: number;
  /** Σ side × quantity. */
  netQuantity: number;
  /** Σ entry notional / leverage, over all instruments. */
  usedMargin: number;
  /** Signed (side × price); -Infinity when no price liquidates. */
  liquidation: number;

  nextOrderId: number;
  nextPositionId: number;
  /** Equity was used up: no further trading. */
  isOver: boolean;

  /** The most open positions of the account, whatever their instruments; Infinity: no bound. */
  readonly slots: number;
  /**
   * What the other instruments hold: unrealized profit, Σ |quantity| × price and margin in quote units, and the number
   * of positions. 0 in a single run.
   */
  othersUnrealized: number;
  othersGross: number;
  othersMargin: number;
  othersOpen: number;
  /** Positions or pending orders in more than one instrument: no price of one instrument liquidates the account. */
  isShared: boolean;
  /** Quote units and slots that other instruments have freed inside the bar, and that are therefore not to be used. */
  withheld: number;
  withheldSlots: number;
  /** Fills that were refused for want of these. */
  contestedFunds: number;
}

/** A flat account. @param initialBalance quote units */
export const createLedger = (initialBalance: number, slots = Infinity): Ledger => ({
  balance: initialBalance,
  cashBase: initialBalance,
  netQuantity: 0,
  usedMargin: 0,
  liquidation: -Infinity,
  nextOrderId: 1,
  nextPositionId: 1,
  isOver: false,
  slots,
  othersUnrealized: 0,
  othersGross: 0,
  othersMargin: 0,
  othersOpen: 0,
  isShared: false,
  withheld: 0,
  withheldSlots: 0,
  contestedFunds: 0,
});

/** Balance plus unrealized profit at a price of the instrument whose turn it is, quote units. */
export const equityAt = (ledger: Ledger, price: number): number => ledger.cashBase + ledger.netQuantity * price;

/** Unrealized profit is not spendable (semantics §4.1). */
export const freeCash = (ledger: Ledger): number => ledger.balance - ledger.usedMargin;
