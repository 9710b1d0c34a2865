// Variances over a moving window, from sums that restart at fixed rows, and bands around its mean.
import { Accelerator } from './accelerator.ts';
import { rollingMean } from './rollingSums.ts';
import { segmentEnd } from './segments.ts';

/** What writes `rollingVariance` faster. */
export const VARIANCES = new Accelerator<
  (source: Float64Array, first: number, length: number, out: Float64Array, ddof: number) => true | null
>();
/** What writes `rollingBands` faster. */
export const BANDS = new Accelerator<(...input: Parameters<typeof rollingBands>) => true | null>();

/**
 * out[row] = the variance of source[row-length+1 … row] with divisor length - ddof, never negative and exactly 0 for
 * equal values. Deviations are measured from the mean of a nearby window and recomputed in two passes at absolute rows,
 * and wherever their sums have lost digits: a spread below 1e-6 of the deviations (TA-Lib's threshold), or an outlier
 * that has just left.
 */
export function rollingVariance(
  source: Float64Array,
  first: number,
  length: number,
  out: Float64Array,
  ddof = 0,
): void {
  if (VARIANCES.current?.(source, first, length, out, ddof)) return;
  const n = source.length;
  for (let row = first + length - 1; row < n; row = segmentEnd(row, length, n))
    varianceSegment(source, row, segmentEnd(row, length, n), length, ddof, out, 0);
}

/**
 * The means and variances of rollingMean and rollingVariance, and `up` or `down` standard deviations above or below the
 * mean.
 */
export function rollingBands(
  source: Float64Array,
  first: number,
  length: number,
  ddof: number,
  up: number,
  down: number,
  upper: Float64Array,
  middle: Float64Array,
  lower: Float64Array,
): void {
  if (BANDS.current?.(source, first, length, ddof, up, down, upper, middle, lower)) return;
  rollingMean(source, first, length, middle);
  rollingVariance(source, first, length, upper, ddof);
  for (let row = first + length - 1; row < source.length; row++) {
    const deviation = Math.sqrt(upper[row]);
    upper[row] = middle[row] + deviation * up;
    lower[row] = middle[row] - deviation * down;
  }
}

/** out[row + shift] = the variance of the window, for the rows of one segment. */
export function varianceSegment(
  source: Float64Array,
  start: number,
  end: number,
  length: number,
  ddof: number,
  out: Float64Array,
  shift: number,
): void {
  const inverse = 1 / length;
  const correction = length / (length - ddof);
  let row = start;
  while (row < end) {
    let mean = 0;
    for (let i = row - length + 1; i <= row; i++) mean += source[i];
    const center = mean * inverse;
    let sum = 0;
    let squares = 0;
    for (let i = row - length + 1; i <= row; i++) {
      const deviation = source[i] - center;
      sum += deviation;
      squares += deviation * deviation;
    }
    mean = sum * inverse;
    const variance = squares * inverse - mean * mean;
    // Below that share, the spread is only the rounding of the mean.
    out[row + shift] = variance < 1e-12 * squares * inverse ? 0 : variance * correction;
    // When rounding makes the mean of equal values another number, every row would start again and give the same
    // result.
    if (isFlat(source, row - length + 1, row))
      for (; row + 1 < end && source[row + 1] === source[row]; row++) out[row + 1 + shift] = out[row + shift];
    for (row++; row < end; row++) {
      const dropped = source[row - length] - center;
      const added = source[row] - center;
      const removed = dropped * dropped;
      sum += added - dropped;
      squares += added * added - removed;
      const offset = sum * inverse;
      const spread = squares * inverse - offset * offset;
      // Not `<`: a residue below zero, or NaN, is a loss of digits too.
      if (!(spread >= 1e-6 * squares * inverse) || removed > 1e3 * squares) break;
      out[row + shift] = spread * correction;
    }
  }
}

function isFlat(source: Float64Array, first: number, last: number): boolean {
  for (let row = first; row < last; row++) if (source[row] !== source[last]) return false;
  return true;
}
