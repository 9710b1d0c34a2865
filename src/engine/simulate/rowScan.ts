// Scans of rows: which bar is the first to touch a level, and the extremes of the bars before it.
import { Accelerator } from '../kernels/accelerator.ts';

/** A WebAssembly memory, so that kernels can read and write it too. */
export const scanMemory = new WebAssembly.Memory({ initial: 1 });
/** Arguments and results of the scans. V8 would box each if they were passed as numbers. */
export const scanState = new Float64Array(scanMemory.buffer, 0, 7);
export const ABOVE = 0;
export const BELOW = 1;
export const BEST = 2;
export const WORST = 3;
export const PEAK = 4;
export const FACTOR = 5;
export const OFFSET = 6;

/** The scans of the bars of a run. */
export interface RowScans {
  /**
   * The first row of [from, limit) that reaches ABOVE or BELOW of `scanState`, or `limit`. BEST and WORST become the
   * extremes of the rows before it, where these exceed what they were.
   */
  passRows(side: 1 | -1, from: number, limit: number): number;
  /**
   * Like `passRows`, with a stop that follows BEST: a row is also the first whose lowest price reaches BEST × FACTOR -
   * OFFSET, the row's own highest price included in BEST. PEAK becomes the highest price seen; no level depends on it.
   */
  trailRows(side: 1 | -1, from: number, limit: number): number;
}

/** What scans some bars faster. */
export const SCANS = new Accelerator<(high: Float64Array, low: Float64Array) => RowScans | null>();

/** The scans of bars with these prices. */
export const rowScans = (high: Float64Array, low: Float64Array): RowScans =>
  SCANS.current?.(high, low) ?? new PlainScans(high, low);

class PlainScans implements RowScans {
  readonly #high: Float64Array;
  readonly #low: Float64Array;

  constructor(high: Float64Array, low: Float64Array) {
    this.#high = high;
    this.#low = low;
  }

  passRows(side: 1 | -1, from: number, limit: number): number {
    const [favorable, contrary] = side > 0 ? [this.#high, this.#low] : [this.#low, this.#high];
    const above = scanState[ABOVE];
    const below = scanState[BELOW];
    let best = scanState[BEST];
    let worst = scanState[WORST];
    let row = from;
    for (; row < limit; row++) {
      const highest = side * favorable[row];
      const lowest = side * contrary[row];
      if (highest >= above || lowest <= below) break;
      if (highest > best) best = highest;
      if (lowest < worst) worst = lowest;
    }
    scanState[BEST] = best;
    scanState[WORST] = worst;
    return row;
  }

  trailRows(side: 1 | -1, from: number, limit: number): number {
    const [favorable, contrary] = side > 0 ? [this.#high, this.#low] : [this.#low, this.#high];
    const above = scanState[ABOVE];
    const below = scanState[BELOW];
    const factor = scanState[FACTOR];
    const offset = scanState[OFFSET];
    let best = scanState[BEST];
    let peak = scanState[PEAK];
    let worst = scanState[WORST];
    let row = from;
    for (; row < limit; row++) {
      const highest = side * favorable[row];
      const lowest = side * contrary[row];
      const reached = highest > best ? highest : best;
      if (highest >= above || lowest <= below || lowest <= reached * factor - offset) break;
      best = reached;
      if (highest > peak) peak = highest;
      if (lowest < worst) worst = lowest;
    }
    scanState[BEST] = best;
    scanState[PEAK] = peak;
    scanState[WORST] = worst;
    return row;
  }
}
