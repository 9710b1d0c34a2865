// Set up before each test file. `CANDLEPOOL_PLAIN=1 npm test`: every test runs without accelerators (src/engine/fast/).
import '../../src/cli/ownModules.ts';

export const IS_PLAIN = process.env.CANDLEPOOL_PLAIN !== undefined;

if (IS_PLAIN) (await import('../../src/engine/fast/index.ts')).accelerate(false);
