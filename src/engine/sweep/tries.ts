// Tries: counts the points that are tried for variants, so that the search for them can be stopped, and ends with an
// error when the constraints leave hardly any.
import type { RunError } from '../task.ts';

export interface Tries {
  /** A point of a grid was looked at. A grid ends by itself, however few of its points are allowed. */
  visited(): void;
  /** @param weight how many points could have been drawn in the same time */
  drawn(isAllowed: boolean, weight?: number): void;
}

/** Thrown when hardly any point that is drawn satisfies the constraints. */
export class ConstraintsTooRare extends Error {
  readonly runError: RunError;

  constructor(tried: number, allowed: number) {
    const message = rareMessage(tried, allowed);
    super(message);
    this.runError = { code: 'SWEEP_INVALID', path: '/constraints', message };
  }
}

/** Of so many draws, at least one must be allowed: below that, finding a variant takes longer than running it. */
export const DRAWS_PER_VARIANT = 1_000;
/** Few enough to take a second or two, many enough that a share of a thousandth is no accident. */
const GIVE_UP_AFTER = 100_000;
/** About a millisecond of draws. */
const PAUSE_EVERY = 2_000;

/** What is wrong with constraints that hardly any point satisfies, and what to do. */
export const rareMessage = (tried: number, allowed: number): string =>
  `${allowed === 0 ? 'None' : allowed} of ${tried} points that were tried ${allowed === 1 ? 'satisfies' : 'satisfy'} ` +
  `the constraints, and at least one of ${DRAWS_PER_VARIANT} must. ${LOOSEN}`;

export const rareShareMessage = (share: number): string =>
  `The constraints leave one of ${Math.round(1 / share)} points of the space, and they must leave at least one of ` +
  `${DRAWS_PER_VARIANT}. ${LOOSEN}`;

const LOOSEN = 'Loosen the constraints, narrow the ranges to where they hold, or use a grid, which visits every point.';

/**
 * Counts tries, and gives up when too few of them are allowed.
 * @param onPause called once per few thousand points; throws to stop
 * @throws ConstraintsTooRare
 */
export function watchedTries(onPause: () => void): Tries {
  let tried = 0;
  let allowed = 0;
  let sincePause = 0;
  const pause = (weight: number): void => {
    sincePause += weight;
    if (sincePause < PAUSE_EVERY) return;
    sincePause = 0;
    onPause();
  };
  return {
    visited: () => pause(1),
    drawn: (isAllowed, weight = 1) => {
      tried++;
      if (isAllowed) allowed++;
      if (tried >= GIVE_UP_AFTER && allowed * DRAWS_PER_VARIANT < tried) throw new ConstraintsTooRare(tried, allowed);
      pause(weight);
    },
  };
}

/** For a single variant, whose tries are few. */
export const UNWATCHED: Tries = { visited: () => {}, drawn: () => {} };
