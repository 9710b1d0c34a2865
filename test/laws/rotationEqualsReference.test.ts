// Generated rotations through the engine and through the slow reference: the same trades and equity.
import { describe, expect, it } from 'vitest';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { isClose } from '../support/reference/difference.ts';
import { referencePortfolio } from '../support/reference/portfolio.ts';
import { scaled } from '../support/scale.ts';
import { randomRotation } from './rotationInputs.ts';

const RUNS = 5_000;
const NUMBERS = [
  'entryRow', 'exitRow', 'entryPrice', 'exitPrice', 'quantity', 'entryFee', 'exitFee', 'slippage', 'pnl', 'maePct',
  'mfePct',
] as const; // prettier-ignore

describe('the engine and the reference give the same rotation', { timeout: 600_000 }, () => {
  it('with every kind of allocation, on different calendars', () => {
    const reasons = new Set<string>();
    const counted = new Set<string>();
    let compared = 0;
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const input = randomRotation(seed);
      const reference = referencePortfolio(input);
      const engine = simulatePortfolio(input);
      const { trades, tradeInstruments, equity } = engine;
      expect(trades.length, `seed ${seed}`).toBe(reference.trades.length);
      for (const [at, expected] of reference.trades.entries()) {
        const name = `seed ${seed}, trade ${at}`;
        expect([tradeInstruments[at], trades[at].exitReason], name).toEqual([expected.instrument, expected.exitReason]);
        const wrong = NUMBERS.find((key) => !isClose(trades[at][key], expected[key]));
        expect(wrong, name).toBeUndefined();
        reasons.add(expected.exitReason);
        compared++;
      }
      expect(equity.length, `seed ${seed}`).toBe(reference.equity.length);
      const mark = reference.equity.findIndex((expected, at) => !isClose(equity[at], expected));
      expect(mark, `seed ${seed}: the first mark that differs`).toBe(-1);
      expect(engine.rebalancing, `seed ${seed}`).toEqual(reference.rebalancing);
      for (const [name, count] of Object.entries(engine.rebalancing!)) if (count > 0) counted.add(name);
    }
    expect(compared).toBeGreaterThan(scaled(RUNS) * 10);
    // Every count occurs.
    expect([...counted].sort()).toEqual(Object.keys(simulatePortfolio(randomRotation(1)).rebalancing!).sort());
    for (const reason of ['rebalance', 'dropped', 'end_of_data', 'liquidation']) expect([...reasons]).toContain(reason);
  });
});
