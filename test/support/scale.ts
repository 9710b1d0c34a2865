// How much a property test does: a tenth by default, all of it with CANDLEPOOL_LONG=1 (`npm run test:long`).

export const isLong = process.env.CANDLEPOOL_LONG === '1';

/** `count` in a long run, a tenth of it (at least 1) otherwise. */
export const scaled = (count: number): number => (isLong ? count : Math.max(1, Math.round(count / 10)));

/** A seeded generator of numbers in [0, 1) (mulberry32): a failure is repeated from the seed its test names. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
