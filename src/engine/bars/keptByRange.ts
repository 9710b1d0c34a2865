// What the runs over one range of a series share. Variants with other warm-ups begin on other rows, so a batch has many
// ranges: the ones used last are kept for each series, for as long as the series itself.

/** How many ranges are kept per series. The largest thing kept for one takes 16 kB. */
export const MOST_RANGES = 32;

interface Kept<Value> {
  readonly start: number;
  readonly end: number;
  readonly value: Value;
}

/** Keyed by a column or by bars, which are never written to. */
export class KeptByRange<Series extends object, Value> {
  readonly #kept = new WeakMap<Series, Kept<Value>[]>();

  /** The value for rows `start` … `end`-1, made if it is not kept. */
  get(series: Series, start: number, end: number, make: () => Value): Value {
    let ranges = this.#kept.get(series);
    if (ranges === undefined) this.#kept.set(series, (ranges = []));
    for (let at = 0; at < ranges.length; at++) {
      const kept = ranges[at];
      if (kept.start !== start || kept.end !== end) continue;
      // The range used last comes first; the one to drop is last.
      for (let before = at; before > 0; before--) ranges[before] = ranges[before - 1];
      ranges[0] = kept;
      return kept.value;
    }
    const value = make();
    if (ranges.length === MOST_RANGES) ranges.pop();
    ranges.unshift({ start, end, value });
    return value;
  }
}
