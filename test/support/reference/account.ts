// The account: balance, free cash, fees by tier, slippage, funding and liquidation, as semantics §4 has them.
import type { Bars, Instrument } from '../../../src/engine/bars/bars.ts';
import type { ResolvedConfig } from '../../../src/engine/config.ts';
import type { Side } from './levels.ts';
import { endOf } from '../timeGrid.ts';

const DAY_MS = 86_400_000;
const EIGHT_HOURS_MS = 28_800_000;

export type Role = 'entry' | 'exit' | 'risk';

/** What the account must know of an open position. */
export interface Holding {
  readonly side: Side;
  quantity: number;
  /** As filled, not mirrored. */
  readonly entryPrice: number;
}

/** When a fill happens: on which bar, and whether at its close. */
export interface Instant {
  readonly row: number;
  readonly isAtClose: boolean;
  /** Where the fill happens later than that bar: at the end of a portfolio run whose last bars others have. */
  readonly time?: number;
}

export interface AccountInput {
  readonly config: ResolvedConfig;
  readonly bars: Bars;
  readonly instrument: Instrument;
  /** ATR of the base bars. */
  readonly atr: (period: number, row: number) => number;
}

/** Money and what was traded with it: of one instrument, or of all instruments of a portfolio. */
export interface Purse {
  balance: number;
  readonly fills: { readonly time: number; readonly notional: number }[];
}

export class Account {
  readonly purse: Purse;
  readonly #input: AccountInput;

  constructor(input: AccountInput, purse: Purse = { balance: input.config.initialBalance, fills: [] }) {
    this.#input = input;
    this.purse = purse;
  }

  get balance(): number {
    return this.purse.balance;
  }

  set balance(balance: number) {
    this.purse.balance = balance;
  }

  equity(holdings: readonly Holding[], price: number): number {
    return holdings.reduce(
      (sum, { side, quantity, entryPrice }) => sum + side * quantity * (price - entryPrice),
      this.balance,
    );
  }

  usedMargin(holdings: readonly Holding[]): number {
    const { leverage } = this.#input.config;
    return holdings.reduce((sum, { quantity, entryPrice }) => sum + (quantity * entryPrice) / leverage, 0);
  }

  /** Unrealized profit is not spendable. */
  freeCash(holdings: readonly Holding[]): number {
    return this.balance - this.usedMargin(holdings);
  }

  /** Semantics §4.4: the last tier that the notional of all fills strictly before this one reaches. */
  rate(role: Role, instant: Instant): number {
    const { execution } = this.#input.config;
    const { tiers, window } = execution.feeModel;
    const since = window === undefined ? -Infinity : this.#timeOf(instant) - window.days * DAY_MS;
    const traded = this.purse.fills.filter(({ time }) => time > since).reduce((sum, { notional }) => sum + notional, 0);
    const tier = tiers.findLast(({ minCumulativeNotional }) => minCumulativeNotional <= traded)!;
    const kind = { entry: execution.entryOrderRole, exit: execution.exitOrderRole, risk: execution.riskOrderRole }[
      role
    ];
    return kind === 'maker' ? tier.makerRate : tier.takerRate;
  }

  /** What an order pays at a rate, with its fees per order (semantics §4.4). */
  feeAt(rate: number, quantity: number, price: number): number {
    const { perUnit = 0, perOrder = 0, ...limits } = this.#input.config.execution.feeModel;
    const { minPerOrder, maxPerOrder, maxRate } = limits;
    let fee = quantity * price * rate + quantity * perUnit + perOrder;
    if (minPerOrder !== undefined && fee < minPerOrder) fee = minPerOrder;
    if (maxPerOrder !== undefined && fee > maxPerOrder) fee = maxPerOrder;
    if (maxRate !== undefined && fee > quantity * price * maxRate) fee = quantity * price * maxRate;
    return fee;
  }

  /** Takes the fee of a fill from the balance. */
  pay(role: Role, quantity: number, price: number, instant: Instant): number {
    const notional = quantity * price;
    const fee = this.feeAt(this.rate(role, instant), quantity, price);
    this.balance -= fee;
    this.purse.fills.push({ time: this.#timeOf(instant), notional });
    return fee;
  }

  #timeOf({ row, isAtClose, time }: Instant): number {
    const { bars } = this.#input;
    if (time !== undefined) return time;
    return isAtClose ? endOf(bars.timeframe, bars.time[row]) : bars.time[row];
  }

  /** Against the trader: a buy (side 1) fills higher. Volatility is that of the last bar closed before the fill. */
  slipped(price: number, side: Side, instant: Instant): number {
    const { slippage } = this.#input.config.execution;
    switch (slippage.kind) {
      case 'none':
        return price;
      case 'fixed':
        return slippage.unit === 'bps'
          ? Math.max(0, price * (1 + (side * slippage.value) / 1e4))
          : Math.max(0, price + side * slippage.value * this.#input.instrument.tickSize!);
      case 'volatility_scaled': {
        const { bars, atr } = this.#input;
        const row = instant.isAtClose ? instant.row : instant.row - 1;
        if (row < 0) return price;
        const range =
          slippage.reference === 'atr_pct' ? atr(slippage.atrPeriod ?? 14, row) : bars.high[row] - bars.low[row];
        const share = (slippage.multiplier * range) / bars.close[row];
        return Number.isFinite(share) ? Math.max(0, price * (1 + side * share)) : price;
      }
    }
  }

  /** What a position pays at this open: for each of 00, 08 and 16 UTC after the open before (semantics §4.6). */
  fundingDue({ side, quantity }: Holding, row: number): number {
    const { bars, config } = this.#input;
    if (row === 0) return 0;
    const instants = Math.floor(bars.time[row] / EIGHT_HOURS_MS) - Math.floor(bars.time[row - 1] / EIGHT_HOURS_MS);
    return instants * side * quantity * bars.open[row] * config.fundingRate;
  }

  /** What borrowing a short costs at this open: for each midnight after the open before (semantics §4.8). */
  borrowDue({ side, quantity }: Holding, row: number): number {
    const { bars, config } = this.#input;
    if (row === 0 || side === 1) return 0;
    const nights = Math.floor(bars.time[row] / DAY_MS) - Math.floor(bars.time[row - 1] / DAY_MS);
    return (nights * quantity * bars.close[row - 1] * (config.borrowRatePerYear ?? 0)) / 365;
  }

  /** The dividends whose ex-date lies after the open before, at most at this one; negative for a short. */
  dividendsDue({ side, quantity }: Holding, row: number): number {
    const { bars, config } = this.#input;
    if (row === 0) return 0;
    const due = (config.dividends ?? []).filter(
      ({ symbol, time }) => symbol === bars.symbol && time > bars.time[row - 1] && time <= bars.time[row],
    );
    return due.reduce((sum, { amount }) => sum + side * quantity * amount, 0);
  }

  /** Semantics §4.5, as a price; null when no price liquidates. */
  liquidationPrice(holdings: readonly Holding[], balance = this.balance): number | null {
    if (holdings.length === 0) return null;
    const { maintenanceMarginRate: m } = this.#input.config;
    const quantity = holdings.reduce((sum, each) => sum + each.quantity, 0);
    const notional = holdings.reduce((sum, each) => sum + each.quantity * each.entryPrice, 0);
    const price =
      holdings[0].side === 1
        ? (notional - balance) / (quantity * (1 - m))
        : (balance + notional) / (quantity * (1 + m));
    return price > 0 ? price : null;
  }
}
