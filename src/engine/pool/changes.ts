// Numbers that often repeat, as bytes: one bit per value that says whether it differs from the one before, then the
// values that do. The equity of an account repeats while it holds no position.

const WORD = 8;
/** More values than this are rare; their memory is not kept. */
const MOST_KEPT = 4_096;

/** Writes lists into the same buffers: what is returned is valid until the next list is written. */
export class Changes {
  #values = new Float64Array(512);
  #bytes = new Uint8Array(this.#values.buffer);
  #bits = new Uint8Array(512 / 8);

  write(values: Float64Array): readonly [bits: Uint8Array, changed: Uint8Array] {
    const { length } = values;
    const size = length <= this.#values.length && this.#values.length <= MOST_KEPT ? this.#values.length : length;
    if (size !== this.#values.length) {
      this.#values = new Float64Array(size);
      this.#bytes = new Uint8Array(this.#values.buffer);
      this.#bits = new Uint8Array(Math.ceil(size / 8));
    }
    this.#values.set(values);
    const count = moveChanges(this.#values, length, this.#bits);
    return [this.#bits.subarray(0, Math.ceil(length / 8)), this.#bytes.subarray(0, count * WORD)];
  }
}

/** Moves the values that differ from the one before to the front; returns how many there are. */
function moveChanges(values: Float64Array, length: number, bits: Uint8Array): number {
  let count = 0;
  // NaN differs from every number, itself included, so the first value always counts.
  let before = NaN;
  for (let index = 0, byte = 0; index < length; byte++) {
    const end = Math.min(length, index + 8);
    let changed = 0;
    for (let bit = 1; index < end; index++, bit <<= 1) {
      const value = values[index];
      values[count] = value;
      if (value !== before) {
        changed |= bit;
        count++;
      }
      before = value;
    }
    bits[byte] = changed;
  }
  return count;
}

/** @returns the values, and how many bytes they took */
export function changesOf(
  bytes: Uint8Array,
  length: number,
): { readonly values: Float64Array; readonly length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = Math.ceil(length / 8);
  if (at > bytes.length) throw new RangeError('The bits of a list end behind the end of the bytes.');
  const values = new Float64Array(length);
  for (let index = 0; index < length; index++) {
    if ((bytes[index >>> 3] >>> (index & 7)) & 1) {
      values[index] = view.getFloat64(at, true);
      at += WORD;
    } else values[index] = values[index - 1];
  }
  return { values, length: at };
}
