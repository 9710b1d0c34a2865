// A process of its own that warms up as a worker's thread does and then runs small backtests of one kind, while V8
// prints which functions it compiles, and what compiled code it throws away. `slices` of 0: without the warm-up.
import { setFlagsFromString } from 'node:v8';
import { SMALL_RUN_BARS, SMALL_RUNS } from '../../bench/smallRuns.ts';
import { walkMarket } from '../../bench/walk.ts';
import { runBacktest } from '../../src/engine/backtest.ts';
import { encodeResult } from '../../src/engine/pool/detail.ts';
import { warmUp } from '../../src/engine/pool/warmUp.ts';

const [kind, runs, slices] = process.argv.slice(2);
const taskOf = SMALL_RUNS[kind]();
const market = walkMarket(SMALL_RUN_BARS);
for (let slice = 0; slice < Number(slices); slice++) warmUp(slice);
setFlagsFromString('--trace-opt');
setFlagsFromString('--trace-deopt');
const strategyAst = structuredClone(taskOf(0).strategyAst);
for (let index = 0; index < Number(runs); index++) {
  // As it comes from another thread.
  const outcome = runBacktest({ ...structuredClone(taskOf(index)), strategyAst }, market, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  encodeResult(outcome);
}
