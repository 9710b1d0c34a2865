// Intervals: the numbers that a value can take, and the arithmetic of several of them.

/** Numbers from `lo` to `hi`, without an end that is open. A missing value is in no range. */
export interface Range {
  readonly lo: number;
  readonly hi: number;
  readonly isLoOpen: boolean;
  readonly isHiOpen: boolean;
}

export const range = (lo: number, hi: number, isLoOpen = false, isHiOpen = false): Range => ({
  lo,
  hi,
  isLoOpen,
  isHiOpen,
});
export const EVERYTHING = range(-Infinity, Infinity);
export const NOT_NEGATIVE = range(0, Infinity);

export const isEmpty = ({ lo, hi, isLoOpen, isHiOpen }: Range): boolean =>
  lo > hi || (lo === hi && (isLoOpen || isHiOpen));
/** The only number in a range; undefined when there are more. */
export const pointOf = ({ lo, hi }: Range): number | undefined => (lo === hi && Number.isFinite(lo) ? lo : undefined);

/** The numbers that are in both ranges; empty when `lo` is above `hi`. */
export function intersect(a: Range, b: Range): Range {
  const lo = Math.max(a.lo, b.lo);
  const hi = Math.min(a.hi, b.hi);
  const isLoOpen = (a.lo === lo && a.isLoOpen) || (b.lo === lo && b.isLoOpen);
  const isHiOpen = (a.hi === hi && a.isHiOpen) || (b.hi === hi && b.isHiOpen);
  return { lo, hi, isLoOpen, isHiOpen };
}

/** Everything in `a` is in `b`. */
export function isWithin(a: Range, b: Range): boolean {
  const isAbove = a.lo > b.lo || (a.lo === b.lo && (a.isLoOpen || !b.isLoOpen));
  return isAbove && (a.hi < b.hi || (a.hi === b.hi && (a.isHiOpen || !b.isHiOpen)));
}

/** The smallest range that contains all of these; everything, where there are none. */
export const hull = (ranges: readonly Range[]): Range =>
  ranges.length === 0
    ? EVERYTHING
    : range(Math.min(...ranges.map(({ lo }) => lo)), Math.max(...ranges.map(({ hi }) => hi)));
