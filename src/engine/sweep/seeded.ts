// Seeded numbers by index: the same seed and index give the same number on every host, in any order.

/** A 32-bit hash of a seed and up to three counters (the finalizer of MurmurHash3 after each). */
export function hash32(seed: number, a: number, b = 0, c = 0): number {
  let hash = mix(seed ^ 0x9e3779b9);
  hash = mix(hash ^ (a >>> 0));
  // Indexes may exceed 32 bits.
  hash = mix(hash ^ Math.floor(a / 0x1_0000_0000));
  hash = mix(hash ^ (b >>> 0));
  return mix(hash ^ (c >>> 0)) >>> 0;
}

function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** A uniform number in [0, 1) with 53 random bits. */
export function uniform(seed: number, a: number, b = 0, c = 0): number {
  const high = hash32(seed, a, b, c) >>> 5;
  const low = hash32(seed ^ 0x5bd1e995, a, b, c) >>> 6;
  return (high * 0x400_0000 + low) / 0x20_0000_0000_0000;
}

/**
 * The image of `index` under a permutation of 0 … size-1 that is never stored: a Feistel network of four rounds on the
 * next power of four, walked until it lands inside (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
 * @param size at most 2^53.
 */
export function permuted(index: number, size: number, seed: number): number {
  let halfBits = 1;
  while (4 ** halfBits < size) halfBits++;
  const half = 2 ** halfBits;
  let value = index;
  do {
    let high = Math.floor(value / half);
    let low = value % half;
    for (let round = 0; round < 4; round++) {
      const next = (high + (hash32(seed, low, round) % half)) % half;
      high = low;
      low = next;
    }
    value = high * half + low;
  } while (value >= size);
  return value;
}
