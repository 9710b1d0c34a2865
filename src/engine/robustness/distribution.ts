// A distribution: how many numbers there are and where they lie.
import { percentile } from '../report/moments.ts';

const PERCENTS = [5, 25, 50, 75, 95] as const;

/** Percentiles are linear between neighbors; null without a defined number. */
export type Distribution = Readonly<
  Record<`p${(typeof PERCENTS)[number]}`, number | null> & { readonly count: number }
>;

/** The percentiles of the numbers, linear between neighbors; null and NaN are left out. */
export function distributionOf(values: readonly (number | null)[] | Float64Array): Distribution {
  const ascending = Float64Array.from(
    Array.from(values).filter((value) => value !== null && value === value) as number[],
  );
  ascending.sort();
  const percentiles = Object.fromEntries(PERCENTS.map((percent) => [`p${percent}`, percentile(ascending, percent)]));
  return { count: ascending.length, ...percentiles } as Distribution;
}

/** The share of the numbers that satisfy `holds`; null without a number. */
export function shareOf(
  values: readonly (number | null)[] | Float64Array,
  holds: (value: number) => boolean,
): number | null {
  const defined = Array.from(values).filter((value) => value !== null && value === value) as number[];
  return defined.length === 0 ? null : defined.filter(holds).length / defined.length;
}
