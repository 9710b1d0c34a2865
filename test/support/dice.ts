// Random draws from one seed: a failure names the seed, which makes everything again.
import { seededRandom } from './scale.ts';

export interface Dice {
  /** A number in [low, high). */
  number(low: number, high: number): number;
  /** A whole number in [low, high]. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
}

export function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  // The first draws of neighboring seeds are alike.
  for (let i = 0; i < 8; i++) random();
  const number = (low: number, high: number) => low + random() * (high - low);
  const whole = (low: number, high: number) => Math.floor(number(low, high + 1));
  return {
    number,
    whole,
    chance: (probability) => random() < probability,
    pick: (values) => values[whole(0, values.length - 1)],
  };
}

/**
 * Numbers in whole halves, never 0 where the range is above it: prices and the levels drawn around them are then often
 * equal.
 */
export function coarseDiceOf(seed: number): Dice {
  const dice = diceOf(seed);
  const number = (low: number, high: number) => {
    const halves = Math.round(dice.number(low, high) * 2) / 2;
    return low > 0 ? Math.max(0.5, halves) : halves;
  };
  return { ...dice, number };
}
