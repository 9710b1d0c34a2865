// Generated costs and income of holding: a borrow rate and dividends on the bars of a run.
import type { ResolvedConfig } from '../../src/engine/config.ts';
import type { Dice } from './dice.ts';

/** Every second time nothing; else a rate, or some dividends of each symbol between two times, or both. */
export function randomCarry(
  dice: Dice,
  symbols: readonly string[],
  [from, to]: readonly [number, number],
): Pick<ResolvedConfig, 'borrowRatePerYear' | 'dividends'> {
  if (dice.chance(0.5)) return {};
  const dividends = symbols.flatMap((symbol) =>
    Array.from({ length: dice.whole(0, 3) }, () => ({
      symbol,
      time: Math.floor(dice.number(from, to) / 900_000) * 900_000,
      amount: dice.pick([0.25, 1.5]),
    })),
  );
  return {
    ...(dice.chance(0.6) && { borrowRatePerYear: dice.pick([0.03, 0.8]) }),
    ...(dice.chance(0.6) && dividends.length > 0 && { dividends }),
  };
}
