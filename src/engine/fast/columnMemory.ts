// Columns for kernels: read where they are when they lie in shared memory, as a market's do, and copied into one, a
// block at a time, when they do not.
import { APART_BYTES, memoryUnder, PAGE_BYTES } from '../kernels/sharedMemory.ts';
import { kernelMemory } from '../kernels/simdMemory.ts';

type Memory = WebAssembly.Memory<SharedArrayBuffer>;
const NUMBER_BYTES = 8;

interface Copies {
  readonly memory: Memory;
  /** What lies there from COPIES_AT on. */
  readonly values: Float64Array;
}
/** Where copies begin: results begin at the start of the kernels' memory. */
const COPIES_AT = APART_BYTES;

function newCopies(bytes: number): Copies {
  const pages = Math.ceil((COPIES_AT + bytes) / PAGE_BYTES);
  const memory: Memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  return { memory, values: new Float64Array(memory.buffer, COPIES_AT) };
}
/** One per thread; a block of most kernels fits in it. */
let copies = newCopies(8 * PAGE_BYTES);

/** Where kernels can read a column, and the kernels that read there. */
export interface ReadColumn<Exports> {
  readonly kernels: Exports;
  readonly memory: Memory;
  readonly address: number;
}

/** A module that imports columns and a memory to write to, instantiated once for each pair of memories. */
export class ColumnModule<Exports> {
  readonly #module: WebAssembly.Module;
  readonly #memory: WebAssembly.Memory;
  readonly #instances = new WeakMap<WebAssembly.Memory<ArrayBufferLike>, WeakMap<WebAssembly.Memory, Exports>>();

  /** @param memory where results are written: the memory of the kernels, unless it is given */
  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory = kernelMemory) {
    this.#module = module;
    this.#memory = memory;
  }

  /**
   * @param columns shared, unless the module says otherwise
   * @param memory where results are written
   */
  on(columns: WebAssembly.Memory<ArrayBufferLike>, memory = this.#memory): Exports {
    let instances = this.#instances.get(columns);
    if (instances === undefined) this.#instances.set(columns, (instances = new WeakMap()));
    const known = instances.get(memory);
    if (known !== undefined) return known;
    const { exports } = new WebAssembly.Instance(this.#module, { host: { memory, columns, kernels: kernelMemory } });
    instances.set(memory, exports as Exports);
    return exports as Exports;
  }

  /**
   * Where kernels can read cells [from, end) of a column, and `beyond` more cells, whose values do not matter.
   *
   * @param results where they write
   */
  read(column: Float64Array, from: number, end: number, beyond: number, results = this.#memory): ReadColumn<Exports> {
    const memory = end + beyond <= column.length ? memoryUnder(column) : undefined;
    if (memory !== undefined)
      return { kernels: this.on(memory, results), memory, address: column.byteOffset + from * NUMBER_BYTES };
    const count = end - from;
    if (count + beyond > copies.values.length) copies = newCopies(2 * (count + beyond) * NUMBER_BYTES);
    copies.values.set(column.subarray(from, end));
    // Beyond the end, ordinary numbers: the last ones again.
    copies.values.copyWithin(count, count - Math.min(beyond, count), count);
    return { kernels: this.on(copies.memory, results), memory: copies.memory, address: COPIES_AT };
  }
}
