// Comparisons of two values: what the conditions that have a left and a right side share.
import { compareNumbers, type CompareOp } from '../../kernels/compareNumbers.ts';
import { onContext, type LookbackPlace, type Need } from './lookbacks.ts';
import type { ValueChild } from './places.ts';
import type { ReadTruth, ReadValue } from './stateParts.ts';

export interface Pair {
  readonly left: ValueChild;
  readonly right: ValueChild;
}

export const sidesOf = ({ left, right }: Pair): Pair => ({ left, right });

/** Each side with the other, in search of a threshold on another scale. */
export const eachSide = ({ left, right }: Pair): readonly (readonly [ValueChild, ValueChild])[] => [
  [left, right],
  [right, left],
];

export const needOfPair = ({ left, right }: Pair, place: LookbackPlace): Need => onContext(place, [left, right]);

export const comparedInLoop =
  (op: CompareOp, left: ReadValue, right: ReadValue, tolerance: number): ReadTruth =>
  (row, state, memory) =>
    compareNumbers(op, left(row, state, memory), right(row, state, memory), tolerance);
