// A process whose thread is warmed up as a worker's are and then runs small backtests of one kind, while V8 prints
// which functions it compiles and which compiled code it throws away. With 0 `batches` there is no warm-up. Garbage is
// collected after the first of the backtests if there is a fourth argument.
import { setFlagsFromString } from 'node:v8';
import { batchOf, runWhole, SMALL_RUNS, warmUp } from '../../bench/smallRuns.ts';
import { createPool } from '../../src/engine/pool/pool.ts';

const BATCH_RUNS = 50;
const [kind, runs, batches, collect] = process.argv.slice(2);
await using pool = createPool({ threads: 1, hasOneOwner: true });
const small = await SMALL_RUNS[kind]();

await warmUp(pool, Number(batches));
setFlagsFromString('--trace-opt');
setFlagsFromString('--trace-deopt');
for (let first = 0; first < Number(runs); first += BATCH_RUNS) {
  const batch = batchOf(small, { series: 1, first, runs: BATCH_RUNS });
  await runWhole(pool, { ...batch, collectsGarbage: collect !== undefined && first === BATCH_RUNS });
}
