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
