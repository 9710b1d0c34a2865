// Scans of rows by a kernel, two rows at a time and without a branch on new extremes, which is mispredicted.
import type { RowScans } from '../../simulate/rowScan.ts';
import { kernelsUnder, type InPlaceKernels } from './inPlace.ts';

/** The scans of these columns; null: no kernel can read them. */
export function kernelScans(high: Float64Array, low: Float64Array): RowScans | null {
  const kernels = kernelsUnder(high, low);
  return kernels && new KernelScans(kernels, high, low);
}

class KernelScans implements RowScans {
  readonly #kernels: InPlaceKernels;
  readonly #high: number;
  readonly #low: number;

  constructor(kernels: InPlaceKernels, high: Float64Array, low: Float64Array) {
    this.#kernels = kernels;
    this.#high = high.byteOffset;
    this.#low = low.byteOffset;
  }

  passRows(side: 1 | -1, from: number, limit: number): number {
    const at = 8 * from;
    const rows = limit - from;
    if (side > 0) return from + this.#kernels.passRows(this.#high + at, this.#low + at, rows, 0);
    return from + this.#kernels.passRows(this.#low + at, this.#high + at, rows, -0);
  }

  trailRows(side: 1 | -1, from: number, limit: number): number {
    const at = 8 * from;
    const rows = limit - from;
    if (side > 0) return from + this.#kernels.trailRows(this.#high + at, this.#low + at, rows, 0);
    return from + this.#kernels.trailRows(this.#low + at, this.#high + at, rows, -0);
  }
}
