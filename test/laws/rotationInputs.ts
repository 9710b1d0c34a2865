// Generated rotations: an allocation of every form on the instruments of a generated portfolio.
import type {
  AllocationRule,
  LegPlaces,
  LegRule,
  RiskRules,
  ValueSource,
} from '../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { bitsAt, NO_RISK } from '../engine/simulate/input.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { portfolioOf, randomPortfolio } from './portfolioInputs.ts';

interface LegShape {
  readonly places: LegPlaces;
  readonly keepWithin: number | null;
  readonly hasWhere: boolean;
  readonly hasRequire: boolean;
}

export interface RotationOptions {
  /** Ranks and weights are drawn from so many numbers that no two are equal. */
  readonly isUntied?: boolean;
  /** Holdings may have a stop, a trailing stop and a time stop. */
  readonly hasRisk?: boolean;
}

/** One seed, one input. */
export function randomRotation(
  seed: number,
  { isUntied = false, hasRisk = false }: RotationOptions = {},
): PortfolioInput {
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
  const { portfolio: _, ...config } = made.config;
  const risk = hasRisk ? randomRisk(diceOf(seed + 6_000_000)) : NO_RISK;
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
      values: each.bars.close.map(() => {
        if (own.chance(missing)) return NaN;
        return isUntied ? own.number(low, 4) : own.whole(low, 4);
      }),
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
    return {
      ...each,
      config,
      entries: [],
      exits: [],
      risk,
      maxConcurrentPositions: 1,
      allocation,
    };
  });
  return portfolioOf(instruments, { slots: null, linked: [] });
}

function randomRisk(dice: Dice): RiskRules {
  const percent = (): { mode: 'percent'; value: number } => ({ mode: 'percent', value: dice.number(0.5, 6) });
  return {
    ...NO_RISK,
    stopLoss: dice.chance(0.5) ? percent() : null,
    trailingStop: dice.chance(0.4)
      ? { distance: percent(), activateAfterPercent: dice.chance(0.4) ? dice.number(0.2, 3) : null }
      : null,
    timeStop: dice.chance(0.3) ? { maxBars: dice.whole(1, 20) } : null,
  };
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
