// The slow reference of portfolios: with one instrument it gives the engine's single runs, and with several it keeps to
// its money, its slots and the sides of its instruments.
import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { countsDiffer, isClose, ordersDiffer, tradesDiffer } from '../support/reference/difference.ts';
import { referencePortfolio } from '../support/reference/portfolio.ts';
import { scaled } from '../support/scale.ts';
import { randomPortfolio } from './portfolioInputs.ts';

const RUNS = 5_000;

/** Where the reference of a portfolio of one differs from the engine's single run. */
function differenceOfOne(input: PortfolioInput): string | null {
  const [instrument] = input.instruments;
  const single = simulate(instrument);
  const portfolio = referencePortfolio(input);
  const [own] = portfolio.byInstrument;
  const ids = instrument.entries.map(({ id }) => id);
  const mark = portfolio.equity.findIndex((equity, at) => !isClose(single.equity[at], equity));
  return (
    tradesDiffer(single.trades, portfolio.trades) ??
    ordersDiffer(single.orders!, own.orders, ids) ??
    countsDiffer(single, own) ??
    (mark >= 0 || single.equity.length !== portfolio.equity.length ? `equity at ${mark}` : null)
  );
}

describe('the reference of portfolios', { timeout: 600_000 }, () => {
  it('gives the single run of the engine when there is one instrument', () => {
    let trades = 0;
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const input = randomPortfolio(seed, { count: 1, isPlain: true });
      if (input.start === input.end) continue;
      expect(differenceOfOne(input), `seed ${seed}`).toBeNull();
      trades += referencePortfolio(input).trades.length;
    }
    expect(trades).toBeGreaterThan(scaled(RUNS) * 3);
  });

  it('ends with the initial balance plus every trade, within its slots, with one side per instrument', () => {
    const reasons = new Set<string>();
    let lost = 0;
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const input = randomPortfolio(seed);
      const { trades, finalBalance, openPositions, equity, byInstrument } = referencePortfolio(input);
      const earned = trades.reduce((sum, { pnl }) => sum + pnl, input.config.initialBalance);
      expect(isClose(earned, finalBalance), `seed ${seed}: ${earned} is not ${finalBalance}`).toBe(true);
      if (equity.length > 0) expect(isClose(equity.at(-1)!, finalBalance), `seed ${seed}`).toBe(true);
      expect(Math.max(0, ...openPositions), `seed ${seed}`).toBeLessThanOrEqual(input.slots ?? Infinity);
      // Every row of the earlier position was written by the time the opposite one was entered.
      for (const a of trades)
        for (const b of trades)
          if (a.instrument === b.instrument && a.side !== b.side && a.positionId < b.positionId)
            expect(b.entryRow, `seed ${seed}`).toBeGreaterThanOrEqual(a.exitRow);
      for (const { exitReason } of trades) reasons.add(exitReason);
      for (const { rankedOut } of byInstrument) lost += rankedOut;
    }
    expect([...reasons]).toContain('linked');
    expect([...reasons]).toContain('liquidation');
    expect(lost).toBeGreaterThan(scaled(RUNS));
  });
});
