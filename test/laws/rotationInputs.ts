// Generated rotations: an allocation of every form on the instruments of a generated portfolio.
import type { AllocationRule, LegPlaces, LegRule, ValueSource } from '../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { bitsAt, flatFee, NO_RISK } from '../engine/simulate/input.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { portfolioOf, randomPortfolio } from './portfolioInputs.ts';

interface LegShape {
  readonly places: LegPlaces;
  readonly keepWithin: number | null;
  readonly hasWhere: boolean;
  readonly hasRequire: boolean;
}

/**
 * One seed, one input.
 * @param isPlain orders fill at the next open, and fees have neither rebates nor a rolling window
 */
export function randomRotation(seed: number, isPlain = false): PortfolioInput {
  const made = randomPortfolio(seed);
  const dice = diceOf(seed + 5_000_000);
  const symbols = made.instruments.map(({ bars }) => bars.symbol);
  const sides = dice.pick(['long', 'long', 'both', 'short'] as const);
  const long = sides === 'short' ? null : randomLeg(dice);
  const short = sides === 'long' ? null : randomLeg(dice);
  const mode = dice.pick(['equal', 'equal', 'inverse', 'proportional', 'fixed'] as const);
  const values = Object.fromEntries(symbols.map((symbol) => [symbol, dice.number(5, 60)]));
  const shared = {
    maxPercent: dice.chance(0.3) ? dice.number(10, 60) : null,
    gross: { kind: 'constant', value: dice.pick([100, 100, 50, 100 * made.config.leverage]) } as const,
    fallback: dice.chance(0.3) ? dice.pick(symbols) : null,
    bandPercent: dice.pick([0, 0, 2, 10]),
    chance: dice.pick([0.05, 0.2, 0.6]),
  };
  const { portfolio: _, ...drawn } = made.config;
  const execution = isPlain
    ? { ...drawn.execution, orderTiming: 'next_open' as const, feeModel: flatFee(0.001) }
    : drawn.execution;
  const config = { ...drawn, execution };
  const instruments = made.instruments.map((each, index): SimulationInput => {
    const own = diceOf(seed * 64 + index + 9_000_000);
    const rows = [...each.bars.time.keys()];
    const some = (chance: number): Uint32Array =>
      bitsAt(
        rows.length,
        rows.filter(() => own.chance(chance)),
      );
    const column = (low: number, missing: number): ValueSource => ({
      kind: 'column',
      values: each.bars.close.map(() => (own.chance(missing) ? NaN : own.whole(low, 4))),
    });
    const leg = (shape: LegShape | null): (LegRule & LegShape) | null =>
      shape === null
        ? null
        : {
            ...shape,
            by: column(-4, 0.1),
            where: shape.hasWhere ? some(0.8) : null,
            require: shape.hasRequire ? some(0.8) : null,
          };
    // All instruments agree on the instants.
    const fires = rows.filter((row) => diceOf(seed * 11 + each.bars.time[row] / 900_000).chance(shared.chance));
    const allocation: AllocationRule = {
      id: 'allocation',
      when: bitsAt(rows.length, fires),
      long: leg(long),
      short: leg(short),
      weights: {
        mode,
        by: mode === 'inverse' || mode === 'proportional' ? column(0, 0.1) : null,
        values: mode === 'fixed' ? values : null,
        maxPercent: shared.maxPercent,
      },
      gross: shared.gross,
      fallback: shared.fallback,
      bandPercent: shared.bandPercent,
    };
    // What is left of the cash to a rounding error is not a size.
    const instrument = { ...each.instrument, qtyStep: each.instrument.qtyStep || 0.001 };
    return {
      ...each,
      instrument,
      config,
      entries: [],
      exits: [],
      risk: NO_RISK,
      maxConcurrentPositions: 1,
      allocation,
    };
  });
  return portfolioOf(instruments, { slots: null, linked: [] });
}

function randomLeg(dice: Dice): LegShape {
  const count = dice.whole(1, 4);
  const places = dice.pick<LegPlaces>([
    { kind: 'count', count },
    { kind: 'share', percent: dice.pick([20, 50, 100]) },
    { kind: 'eligible' },
  ]);
  return {
    places,
    keepWithin: places.kind === 'count' && dice.chance(0.3) ? count + dice.whole(0, 2) : null,
    hasWhere: dice.chance(0.4),
    hasRequire: dice.chance(0.4),
  };
}
