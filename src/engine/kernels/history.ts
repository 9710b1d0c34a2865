// Values that depend on earlier rows: bars since a condition, the value when it was true, captured values, pivots.
import { type ConditionColumn } from './column.ts';
import { hasBit } from './bits.ts';

/** out[row] = values[row - by]; NaN before. */
export function shiftValues(values: Float64Array, by: number, out: Float64Array): void {
  out.fill(NaN, 0, Math.min(by, out.length));
  if (by < out.length) out.set(values.subarray(0, out.length - by), by);
}

/** The change against `by` rows earlier, in percent of the earlier value; NaN where it has no finite value. */
export function changeValues(values: Float64Array, by: number, out: Float64Array): void {
  out.fill(NaN, 0, Math.min(by, out.length));
  for (let row = by; row < out.length; row++) {
    const earlier = values[row - by];
    // The sum with 0 makes 0 of -0, as all arithmetic on columns does.
    const change = 100 * ((values[row] - earlier) / earlier) + 0;
    out[row] = change - change === 0 ? change : NaN;
  }
}

/** out[row] = values[rows[row]]; NaN where rows[row] is -1. */
export function gather(values: Float64Array, rows: Int32Array, out: Float64Array): void {
  for (let row = 0; row < out.length; row++) out[row] = rows[row] < 0 ? NaN : values[rows[row]];
}

/** `then` where the condition is true, `else` where it is false, missing where it is unknown. */
export function choose(condition: ConditionColumn, yes: Float64Array, no: Float64Array, out: Float64Array): void {
  for (let row = 0; row < out.length; row++) {
    out[row] = hasBit(condition.isTrue, row) ? yes[row] : hasBit(condition.isUnknown, row) ? NaN : no[row];
  }
}

/** Rows since the condition was last true: 0 on the row, missing before the first. */
export function barsSince(when: ConditionColumn, out: Float64Array): void {
  let last = -1;
  for (let row = 0; row < out.length; row++) {
    if (hasBit(when.isTrue, row)) last = row;
    out[row] = last < 0 ? NaN : row - last;
  }
}

/** The value on the row on which the condition was last true (occurrence 0), or at an earlier occurrence. */
export function valueWhen(values: Float64Array, when: ConditionColumn, occurrence: number, out: Float64Array): void {
  const ring = new Float64Array(occurrence + 1).fill(NaN);
  let count = 0;
  for (let row = 0; row < out.length; row++) {
    if (hasBit(when.isTrue, row)) ring[count++ % ring.length] = values[row];
    out[row] = count <= occurrence ? NaN : ring[(count - 1 - occurrence) % ring.length];
  }
}

/** The value at the latest change of the condition from not true to true. */
export function capture(values: Float64Array, when: ConditionColumn, out: Float64Array): void {
  let captured = NaN;
  let wasTrue = false;
  for (let row = 0; row < out.length; row++) {
    const isTrue = hasBit(when.isTrue, row);
    if (isTrue && !wasTrue) captured = values[row];
    wasTrue = isTrue;
    out[row] = captured;
  }
}

/**
 * The price of the latest confirmed pivot, or of the one `occurrence` pivots earlier: a high strictly above the `left`
 * bars before it and at least as high as the `right` bars after it (a low mirrored), so that the first of equal
 * extremes counts once. It is known `right` bars after its bar.
 */
export function pivot(
  prices: Float64Array,
  kind: 'high' | 'low',
  left: number,
  right: number,
  occurrence: number,
  out: Float64Array,
): void {
  const sign = kind === 'high' ? 1 : -1;
  const n = out.length;
  const ring = new Float64Array(occurrence + 1).fill(NaN);
  // `open`: the rows that no later row has passed, their prices descending. `blocker` of a row: the latest row before
  // it that is at least as high, or the row itself once a later one has passed it.
  const open = new Int32Array(n);
  const blocker = new Int32Array(n);
  let openCount = 0;
  let missing = -1;
  let count = 0;
  for (let row = 0; row < n; row++) {
    const price = sign * prices[row];
    // A missing price is compared with nothing: it passes every row before it, and blocks every row after it.
    for (; openCount > 0; openCount--) {
      const last = open[openCount - 1];
      if (sign * prices[last] >= price) break;
      blocker[last] = last;
    }
    blocker[row] = Math.max(missing, openCount > 0 ? open[openCount - 1] : -1);
    if (price !== price) missing = row;
    open[openCount++] = row;
    const candidate = row - right;
    if (candidate >= left && candidate - blocker[candidate] > left) ring[count++ % ring.length] = prices[candidate];
    out[row] = count <= occurrence ? NaN : ring[(count - 1 - occurrence) % ring.length];
  }
}
