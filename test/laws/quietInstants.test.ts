// Instants at which only prices change what an account is worth are played in fewer steps than the others. A time stop
// that never comes makes the loop read every close, so that it takes all steps at every instant: with and without it a
// run must be the same, bit for bit.
import { describe, expect, it } from 'vitest';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { configOf, entryAt, flatFee } from '../engine/simulate/input.ts';
import { barsAt, flatBars, instrumentOf, portfolioOf, summaryOf } from '../engine/simulate/portfolioInput.ts';
import { scaled } from '../support/scale.ts';
import { randomPortfolio } from './portfolioInputs.ts';
import { randomRotation } from './rotationInputs.ts';

const RUNS = 1_000;

/** null: the run has a time stop of its own. */
function readAtEveryClose(input: PortfolioInput): PortfolioInput | null {
  if (input.instruments.some(({ risk }) => risk.timeStop !== null)) return null;
  const timeStop = { maxBars: 1e9 };
  const instruments = input.instruments.map((each) => ({ ...each, risk: { ...each.risk, timeStop } }));
  return { ...input, instruments };
}

/** Everything that a run records, as text and bytes. */
function recordsOf(input: PortfolioInput): object {
  const result = simulatePortfolio({ ...input, keepOrders: true, keepWeights: true });
  const { trades, orders, counts, ambiguity, byInstrument, rankedOut, contestedFunds, totals, readings } = result;
  const { equity, inPosition, grossExposure, netExposure, openPositions, weights, tradeInstruments } = result;
  return {
    texts: JSON.stringify([
      trades,
      orders,
      counts,
      ambiguity,
      byInstrument,
      rankedOut,
      contestedFunds,
      totals,
      readings,
    ]),
    bytes: [equity, inPosition, grossExposure, netExposure, openPositions, weights!, tradeInstruments].map((column) =>
      Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString('base64'),
    ),
  };
}

/** Instants at whose end a run held as many positions as before, so that most of them were quiet. */
function heldInstants({ openPositions }: Pick<ReturnType<typeof simulatePortfolio>, 'openPositions'>): number {
  return openPositions.filter((count, at) => at > 0 && count > 0 && count === openPositions[at - 1]).length;
}

describe('a time stop that never comes changes nothing', { timeout: 600_000 }, () => {
  it.each([
    ['signals', randomPortfolio],
    ['rotations', (seed: number) => randomRotation(seed)],
  ])('of %s', (_, make) => {
    let compared = 0;
    let held = 0;
    for (let seed = 1; seed <= scaled(RUNS); seed++) {
      const input = make(seed);
      const everyClose = readAtEveryClose(input);
      if (everyClose === null || input.start === input.end) continue;
      expect(recordsOf(input), `seed ${seed}`).toEqual(recordsOf(everyClose));
      held += heldInstants(simulatePortfolio(input));
      compared++;
    }
    expect(compared).toBeGreaterThan(scaled(RUNS) / 4);
    expect(held).toBeGreaterThan(compared);
  });
});

describe('between instants at which nothing but prices change', () => {
  it('is liquidated at an open whose close is back where it was', () => {
    const flat = [100, 100, 100, 100] as const;
    const a = barsAt('A', { 0: flat, 1: flat, 2: flat, 3: [85, 100, 85, 100], 4: flat, 5: flat });
    const b = flatBars('B', [100, 100, 100, 100, 100, 100]);
    const size = (value: number) => ({ sizing: { mode: 'fixed', value } }) as const;
    const config = configOf({ leverage: 10, maintenanceMarginRate: 0.01, execution: { feeModel: flatFee(0) } });
    const instruments = [
      instrumentOf(a, { entries: [entryAt(a, [0], size(700))] }),
      instrumentOf(b, { entries: [entryAt(b, [0], size(10))] }),
    ];
    expect(summaryOf(simulatePortfolio(portfolioOf(instruments, { config })))).toEqual([
      [0, 1, 100, 3, 85, 'liquidation'],
      [1, 1, 100, 3, 100, 'liquidation'],
    ]);
  });
});
