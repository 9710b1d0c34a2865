// Generated portfolios through the engine and through the slow reference: the same trades, orders, equity, weights and
// counts.
import { describe, expect, it } from 'vitest';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { referencePortfolio } from '../support/reference/portfolio.ts';
import { portfolioDifference } from '../support/reference/portfolioDifference.ts';
import { scaled } from '../support/scale.ts';
import { randomPortfolio } from './portfolioInputs.ts';

const RUNS = 5_000;

describe('the engine and the reference give the same portfolio', { timeout: 600_000 }, () => {
  it('with instruments on different calendars, slots, ranks and links', () => {
    const reasons = new Map<string, number>();
    const seen = { trades: 0, rankedOut: 0, contested: 0, orphans: 0 };
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const input = randomPortfolio(seed);
      const reference = referencePortfolio(input);
      const engine = simulatePortfolio(input);
      expect(portfolioDifference(input, engine, reference), `seed ${seed}`).toBeNull();
      for (const { exitReason } of reference.trades) reasons.set(exitReason, (reasons.get(exitReason) ?? 0) + 1);
      seen.trades += reference.trades.length;
      seen.rankedOut += reference.byInstrument.reduce((sum, { rankedOut }) => sum + rankedOut, 0);
      seen.contested += reference.contestedFunds;
      seen.orphans += engine.orders!.filter(
        ({ type, reason, status }) => type !== 'market' && status === 'cancelled' && reason === 'linked',
      ).length;
    }
    expect(seen.trades).toBeGreaterThan(scaled(RUNS) * 10);
    expect(seen.rankedOut).toBeGreaterThan(scaled(RUNS) * 5);
    expect(seen.contested).toBeGreaterThan(0);
    expect(seen.orphans).toBeGreaterThan(scaled(RUNS) / 5);
    expect(reasons.get('linked')).toBeGreaterThan(scaled(RUNS) / 10);
    expect(reasons.get('liquidation')).toBeGreaterThan(scaled(RUNS) / 100);
  });
});
