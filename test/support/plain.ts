// `CANDLEPOOL_PLAIN=1 npm test`: every test runs without accelerators (src/engine/fast/).

export const IS_PLAIN = process.env.CANDLEPOOL_PLAIN !== undefined;

if (IS_PLAIN) (await import('../../src/engine/fast/index.ts')).accelerate(false);
