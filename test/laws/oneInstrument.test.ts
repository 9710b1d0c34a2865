// A portfolio of one instrument is the single run, bit for bit, by the portfolio loop.
import { describe, expect, it } from 'vitest';
import { timeAxisOf } from '../../src/engine/bars/timeAxis.ts';
import { hasBit } from '../../src/engine/kernels/bits.ts';
import { STATE_FIELDS } from '../../src/engine/language/grammar/ast.ts';
import type { ConditionSource, StatefulCondition } from '../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { scaled } from '../support/scale.ts';
import { randomInput } from './simulationInputs.ts';

const portfolioOfOne = (input: SimulationInput): PortfolioInput => ({
  instruments: [input],
  axis: timeAxisOf([input.bars]),
  start: input.start,
  end: input.end,
  config: input.config,
  slots: null,
  linked: [],
  control: null,
  keepOrders: true,
  keepWeights: false,
});

/** Checks one input and returns how many trades it makes. */
function expectSame(input: SimulationInput): number {
  const single = simulate(input);
  const portfolio = simulatePortfolio(portfolioOfOne(input));
  expect(portfolio.trades).toEqual(single.trades);
  expect(portfolio.equity).toEqual(single.equity);
  expect(portfolio.orders).toEqual(single.orders!.map((order) => ({ ...order, instrument: 0 })));
  expect(portfolio.inPosition).toEqual(single.inPosition);
  expect(portfolio.counts).toEqual(single.counts);
  expect(portfolio.totals).toEqual(single.totals);
  expect(portfolio.ambiguity).toEqual(single.ambiguity);
  expect(portfolio.finalBalance).toBe(single.finalBalance);
  expect(portfolio.readings).toEqual(single.readings);
  expect(portfolio.tradeInstruments).toEqual(new Uint16Array(single.trades.length));
  return single.trades.length;
}

function forSeeds(count: number, inputOf: (seed: number) => SimulationInput): number {
  let trades = 0;
  for (let seed = 1; seed <= scaled(count); seed++) {
    try {
      trades += expectSame(inputOf(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  return trades;
}

/** The same signal on the rows on which a state field is on one side of a value that it often has. */
function withState(dice: Dice, source: ConditionSource): ConditionSource {
  if (source.kind !== 'bits') return source;
  const { isTrue } = source;
  const field = dice.whole(0, STATE_FIELDS.length - 1);
  const limit = dice.pick([0, 0, 1, 2, 100, 10_000]);
  const isAbove = dice.chance(0.5);
  const hasHistory = dice.chance(0.3);
  const condition: StatefulCondition = {
    gate: dice.chance(0.5) ? isTrue : null,
    hasAccountHistory: hasHistory,
    hasPositionHistory: hasHistory,
    newMemory: () => [],
    recordAccount: (row, state, memory) => void ((memory as unknown[])[0] = [row, state.read(field)]),
    recordPosition: (row, state, memory) => void ((memory as unknown[])[1] = [row, state.read(field)]),
    test: (row, state) => {
      const value = state.read(field);
      if (Number.isNaN(value)) return 2;
      return hasBit(isTrue, row) && value >= limit === isAbove ? 1 : 0;
    },
  };
  return { kind: 'stateful', condition };
}

describe('a portfolio of one instrument', () => {
  it('is the single run, bit for bit', () => {
    expect(forSeeds(5_000, randomInput)).toBeGreaterThan(scaled(5_000) * 3);
  });

  it('is the single run where rules read the state of position and account', () => {
    const trades = forSeeds(3_000, (seed) => {
      const dice = diceOf(seed + 1_000_000);
      const made = randomInput(seed);
      return {
        ...made,
        entries: made.entries.map((rule) =>
          dice.chance(0.7) ? { ...rule, signal: withState(dice, rule.signal) } : rule,
        ),
        exits: made.exits.map((rule) => (dice.chance(0.7) ? { ...rule, when: withState(dice, rule.when) } : rule)),
      };
    });
    expect(trades).toBeGreaterThan(scaled(3_000));
  });

  it('is the single run under "worst", which keeps the lower of two readings', () => {
    const trades = forSeeds(2_000, (seed) => {
      const made = randomInput(seed);
      return {
        ...made,
        config: { ...made.config, ambiguityResolution: 'multi_resolution', ambiguityFallback: 'worst' },
      };
    });
    expect(trades).toBeGreaterThan(scaled(2_000) * 3);
  });
});
