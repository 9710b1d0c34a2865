// Flaws of bars by kernels that read prices in place; each returns null where none can read them.
import type { Bars } from '../../bars/bars.ts';
import type { TimedPrices } from '../../bars/outliers.ts';
import { kernelsUnder } from './inPlace.ts';

export function countZeroVolume({ volume }: Bars, from: number, to: number): number | null {
  const kernels = kernelsUnder(volume);
  return kernels && kernels.countZeros(volume.byteOffset + 8 * from, to - from);
}

export function countFlat({ open, high, low, close }: Bars, from: number, to: number): number | null {
  const kernels = kernelsUnder(open, high, low, close);
  const at = (column: Float64Array): number => column.byteOffset + 8 * from;
  return kernels && kernels.countEqualPairs(at(high), at(low), at(open), at(close), to - from);
}

/** See `nextCandidate`. */
export function nextOutlying(
  { open, high, low, close }: TimedPrices,
  first: number,
  end: number,
  spike: number,
  jump: number,
): number | null {
  const kernels = end - first < 2 ? null : kernelsUnder(open, high, low, close);
  if (kernels === null) return null;
  const at = (column: Float64Array): number => column.byteOffset + 8 * first;
  return first + kernels.nextOutlying(at(open), at(high), at(low), at(close), end - first, spike, jump);
}
