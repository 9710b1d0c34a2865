// A sweep method: how many variants a sweep has, which points of the space they are, and the requests that it refuses.
import type { Coordinates } from '../draws.ts';
import type { Space } from '../space.ts';
import type { Tries } from '../tries.ts';

export interface SweepMethod {
  /** As requests name it. */
  readonly name: string;
  /** The requests that the method refuses, each with the reason; null: it accepts them. Messages suggest the others. */
  readonly refuses: {
    /** A budget: the method visits every point of the space. The other methods need one. */
    readonly budget: BudgetRefusal | null;
    /** A dimension that is a range without a step. */
    readonly continuous: ((dimension: string) => string) | null;
    /** A walk-forward: the words between "tpe" and ", and walk-forward needs another method". */
    readonly walkForward: string | null;
  };
  /** How many indexes variants are spread over. @param budget of a method that needs one */
  indexCount(space: Space, budget: number): number;
  /** Whether the indexes stand for every point of a grid, each once. */
  takesAll(space: Space, budget: number): boolean;
  /**
   * The coordinates of a variant; null if its index has none. They depend on nothing but the arguments.
   * @param tries is told of every point that is tried, and may throw
   */
  variantAt(draws: Draws, space: Space, index: number, tries: Tries): Coordinates | null;
  /** How it learns from the results of earlier variants; null: it does not, and any part of a sweep may run first. */
  readonly rounds: Rounds | null;
}

interface BudgetRefusal {
  readonly message: string;
  readonly onCommandLine: string;
}

interface Draws {
  /** Of a method that needs one. */
  readonly budget: number;
  readonly seed: number;
}

/** A method that learns runs in rounds, one after the other. */
interface Rounds {
  /** The fewest variants of the first round, which are drawn by `variantAt`. */
  readonly startupVariants: number;
  /**
   * Proposes the coordinates of `count` variants from index `first` on; null for an index for which no point that
   * satisfies the constraints is found. The same history and seed give the same proposals.
   */
  propose(space: Space, history: SweepHistory, asked: Proposal, tries: Tries): (Coordinates | null)[];
}

/** Variants that ran, with their scores: higher is better, NaN ranks last. */
export interface SweepHistory {
  readonly coordinates: readonly Float64Array[];
  readonly scores: Float64Array;
}

export interface Proposal {
  readonly seed: number;
  readonly first: number;
  readonly count: number;
}
