// What the runs over one range of a series share. Variants with other warm-ups begin on other rows, so that a batch has
// many ranges: the last ones of each series are kept, as long as the series itself.

/** Of one series. The largest thing kept takes 20 kB. */
export const MOST_RANGES = 32;

interface Kept<Value> {
  readonly start: number;
  readonly end: number;
  readonly value: Value;
}

/** Keyed by a column or by bars, which are never written to. */
export class KeptByRange<Series extends object, Value> {
  readonly #kept = new WeakMap<Series, Kept<Value>[]>();

  /** That of rows `start` … `end`-1, made unless it is known. */
  get(series: Series, start: number, end: number, make: () => Value): Value {
    let ranges = this.#kept.get(series);
    if (ranges === undefined) this.#kept.set(series, (ranges = []));
    for (let at = 0; at < ranges.length; at++) {
      const kept = ranges[at];
      if (kept.start !== start || kept.end !== end) continue;
      // The one that was used last comes first, the one to forget stands last.
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
