// WebAssembly for loops that are known only at run time: one function, as the bytes of a module. The function reads
// columns from a shared memory, keeps what it needs in the kernels' memory, and writes results into a third one, which
// may be the kernels' too.

/** A piece of code: bytes, and pieces of code in their place. */
export type Code = readonly (number | Code)[];

type MemoryIndex = typeof COLUMN_MEMORY | typeof KERNEL_MEMORY | typeof RESULT_MEMORY;
/** The first, because V8 keeps its address in a register. */
export const COLUMN_MEMORY = 0;
export const KERNEL_MEMORY = 1;
export const RESULT_MEMORY = 2;

const [I32, F64, V128] = [0x7f, 0x7c, 0x7b];
const EMPTY_BLOCK = 0x40;
const SIMD = 0xfd;

/** An unsigned number, seven bits per byte. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value & 0x7f];
}

const simd = (operation: number, ...rest: Code): Code => [SIMD, unsigned(operation), rest];
/** Memory arguments: no promise of alignment, then the memory unless it is the first, then the offset. */
const at = (memory: MemoryIndex, offset: number): Code =>
  memory === COLUMN_MEMORY ? [0, ...unsigned(offset)] : [0x40, memory, ...unsigned(offset)];

/** Instructions in the notation of WebAssembly's text format; operands come first, as on its stack. */
export const asm = {
  get: (local: number): Code => [0x20, ...unsigned(local)],
  set: (local: number): Code => [0x21, ...unsigned(local)],
  tee: (local: number): Code => [0x22, ...unsigned(local)],
  block: (body: Code): Code => [0x02, EMPTY_BLOCK, body, 0x0b],
  loop: (body: Code): Code => [0x03, EMPTY_BLOCK, body, 0x0b],
  /** Leaves the block, or repeats the loop, that is this many levels out. */
  branchIf: (level: number): Code => [0x0d, level],
  i32: {
    const: (value: number): Code => [0x41, ...signed(value)],
    isZero: [0x45],
    /** Of unsigned numbers. */
    lessThan: [0x49],
    add: [0x6a],
    sub: [0x6b],
    mul: [0x6c],
    storeByte: (memory: MemoryIndex, offset: number): Code => [0x3a, at(memory, offset)],
  },
  f64: {
    const: (value: number): Code => [0x44, ...new Uint8Array(new Float64Array([value]).buffer)],
    load: (offset: number): Code => [0x2b, at(KERNEL_MEMORY, offset)],
    store: (offset: number): Code => [0x39, at(KERNEL_MEMORY, offset)],
    add: [0xa0],
  },
  v128: {
    load: (memory: MemoryIndex, offset: number): Code => simd(0x00, at(memory, offset)),
    store: (memory: MemoryIndex, offset: number): Code => simd(0x0b, at(memory, offset)),
    and: simd(0x4e),
    or: simd(0x50),
    not: simd(0x4d),
    /** Of two vectors, the bits of the first where a third has ones, and else those of the second. */
    bitselect: simd(0x52),
    anyTrue: simd(0x53),
    /** The bytes of two vectors at these positions, those of the second from 16 on. */
    shuffle: (...bytes: readonly number[]): Code => simd(0x0d, ...bytes),
  },
  f64x2: {
    splat: simd(0x14),
    extract: (lane: 0 | 1): Code => simd(0x21, lane),
    replace: (lane: 0 | 1): Code => simd(0x22, lane),
    gt: simd(0x4a),
    ge: simd(0x4c),
    abs: simd(0xec),
    add: simd(0xf0),
    sub: simd(0xf1),
    mul: simd(0xf2),
    div: simd(0xf3),
    /** b < a ? b : a */
    pmin: simd(0xf6),
    /** a < b ? b : a */
    pmax: simd(0xf7),
  },
  i32x4: { splat: simd(0x11) },
  i16x8: { narrow: simd(0x85), bitmask: simd(0x84) },
} as const;

/** The locals of a function, by type. */
export class Locals {
  readonly #types: number[] = [];
  readonly #parameters: number;

  /** @param parameters how many 32-bit integers the function takes: the first locals */
  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  i32(): number {
    return this.#add(I32);
  }

  f64(): number {
    return this.#add(F64);
  }

  v128(): number {
    return this.#add(V128);
  }

  /** A module that exports the function as `run`: 32-bit integers in, nothing out. */
  module(body: Code): Uint8Array {
    const parameters = Array.from({ length: this.#parameters }, () => I32);
    const locals = this.#types.map((type) => [1, type]);
    const code = bytesOf([unsigned(locals.length), locals, body, 0x0b]);
    const columns = [name('host'), name('columns'), MEMORY, SHARED, 1, unsigned(MOST_PAGES)];
    const [kernels, results] = ['kernels', 'memory'].map((host) => [name('host'), name(host), MEMORY, UNSHARED, 1]);
    const sections = [
      section(1, [1, 0x60, unsigned(parameters.length), parameters, 0]),
      section(2, [3, columns, kernels, results]),
      section(3, [1, 0]),
      section(7, [1, name('run'), 0, 0]),
      section(10, [1, unsigned(code.length), code]),
    ];
    return Uint8Array.from(bytesOf([HEAD, sections]));
  }

  #add(type: number): number {
    return this.#parameters + this.#types.push(type) - 1;
  }
}

/** All bytes of a piece of code, in order. */
function bytesOf(code: Code, into: number[] = []): number[] {
  for (const part of code) {
    if (typeof part === 'number') into.push(part);
    else bytesOf(part, into);
  }
  return into;
}

const HEAD = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const MEMORY = 2;
const [UNSHARED, SHARED] = [0, 3];
const MOST_PAGES = 65_536;
const name = (text: string): Code => [text.length, Array.from(text, (character) => character.charCodeAt(0))];
function section(id: number, content: Code): Code {
  const bytes = bytesOf(content);
  return [id, unsigned(bytes.length), bytes];
}
