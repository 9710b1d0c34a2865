// A process whose thread is warmed up as a worker's are and then runs small backtests of one kind, while V8 prints
// which functions it compiles and which compiled code it throws away. With 0 `batches` there is no warm-up.
import { setFlagsFromString } from 'node:v8';
import { batchOf, SMALL_RUNS } from '../../bench/smallRuns.ts';
import type { PoolBatch } from '../../src/engine/pool/messages.ts';
import { createPool } from '../../src/engine/pool/pool.ts';
import { warmUpBatch } from '../../src/engine/pool/warmUp.ts';

const BATCH_RUNS = 50;
const [kind, runs, batches] = process.argv.slice(2);
await using pool = createPool({ threads: 1 });
const small = await SMALL_RUNS[kind]();

async function run(batch: PoolBatch): Promise<void> {
  const outcomes = await pool.run(batch).outcomes;
  const other = outcomes.find((outcome) => outcome.kind !== 'completed');
  if (other !== undefined) throw new Error(JSON.stringify(other));
}

for (let batch = 0; batch < Number(batches); batch++) await run(warmUpBatch(batch));
setFlagsFromString('--trace-opt');
setFlagsFromString('--trace-deopt');
for (let first = 0; first < Number(runs); first += BATCH_RUNS)
  await run(batchOf(small, { series: 1, first, runs: BATCH_RUNS }));
