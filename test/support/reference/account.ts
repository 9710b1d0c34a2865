// The account: balance, free cash, fees by tier, slippage and funding, as semantics §4 has them.
import type { Bars } from '../../../src/engine/columns/bars.ts';
import type { ResolvedConfig } from '../../../src/engine/simulate/config.ts';
import type { Position } from './position.ts';

const HOUR_MS = 3_600_000;

export class Account {
  balance: number;
  readonly #config: ResolvedConfig;
  #traded = 0;

  constructor(config: ResolvedConfig) {
    this.#config = config;
    this.balance = config.initialBalance;
  }

  equity(positions: readonly Position[], price: number): number {
    return positions.reduce((sum, p) => sum + p.side * p.quantity * (price - p.entryPrice), this.balance);
  }

  /** Unrealised profit is not spendable. */
  freeCash(positions: readonly Position[]): number {
    return positions.reduce((cash, p) => cash - (p.quantity * p.entryPrice) / this.#config.leverage, this.balance);
  }

  /** The fee rate of the next fill: the last tier reached strictly before it. */
  rate(role: 'entry' | 'exit' | 'risk'): number {
    const { execution } = this.#config;
    const tier = execution.feeModel.tiers.findLast(
      ({ minCumulativeNotional }) => minCumulativeNotional <= this.#traded,
    )!;
    const kind = { entry: execution.entryOrderRole, exit: execution.exitOrderRole, risk: execution.riskOrderRole }[
      role
    ];
    return kind === 'maker' ? tier.makerRate : tier.takerRate;
  }

  /** Takes the fee of a fill from the balance. */
  pay(role: 'entry' | 'exit' | 'risk', notional: number): number {
    const fee = notional * this.rate(role);
    this.balance -= fee;
    this.#traded += notional;
    return fee;
  }

  realise(profit: number): void {
    this.balance += profit;
  }

  /** Against the trader: a buy (side 1) fills higher. */
  slipped(price: number, side: 1 | -1): number {
    const { slippage } = this.#config.execution;
    return slippage.kind === 'fixed' && slippage.unit === 'bps' ? price * (1 + (side * slippage.value) / 1e4) : price;
  }

  /** For each 00, 08 and 16 UTC after the previous open up to this one. */
  payFunding(positions: readonly Position[], { time, open }: Bars, row: number): void {
    const instants = Math.floor(time[row] / (8 * HOUR_MS)) - Math.floor(time[row - 1] / (8 * HOUR_MS));
    for (const position of positions) {
      const paid = instants * position.side * position.quantity * open[row] * this.#config.fundingRate;
      position.funding -= paid;
      this.balance -= paid;
    }
  }
}
