// Bands around a mean (bands.wat), of columns in the kernels' memory or in memories of their own.
import { compileModule } from '../../kernels/simdMemory.ts';
import { BANDS_WASM } from '../wasm.ts';

/** Addresses and the size are in bytes; if the size is not a multiple of 16, the kernel writes past it. */
type Bands = (middle: number, variance: number, lower: number, size: number, up: number, down: number) => void;

/** A column of values, from a cell of a memory on. */
interface Cells {
  readonly memory: WebAssembly.Memory;
  readonly cell: number;
}
const NUMBER_BYTES = 8;

const module = compileModule(BANDS_WASM);
/** The instance last made for each memory of an upper band, with the memories of the other two. */
const instances = new WeakMap<WebAssembly.Memory, Readonly<Record<'middle' | 'lower', unknown>> & { bands: Bands }>();

/**
 * Reads the means and variances from the first two columns. Writes the upper band over the variances, and the lower
 * band to the third column.
 */
export function drawBands([middle, upper, lower]: readonly Cells[], rows: number, up: number, down: number): void {
  const [meanAt, varianceAt, lowerAt] = [middle, upper, lower].map(({ cell }) => cell * NUMBER_BYTES);
  bandsOn(upper.memory, middle.memory, lower.memory)(meanAt, varianceAt, lowerAt, rows * NUMBER_BYTES, up, down);
}

function bandsOn(upper: WebAssembly.Memory, middle: WebAssembly.Memory, lower: WebAssembly.Memory): Bands {
  const known = instances.get(upper);
  if (known?.middle === middle && known.lower === lower) return known.bands;
  const { exports } = new WebAssembly.Instance(module, { host: { upper, middle, lower } });
  const bands = exports.bands as Bands;
  instances.set(upper, { middle, lower, bands });
  return bands;
}
