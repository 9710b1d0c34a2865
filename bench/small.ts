// Small runs: a backtest of 2,148 bars as a hot thread runs it, from its task to its stored bytes, in microseconds per
// run. No two runs of a kind are alike.
import { Bench } from 'tinybench';
import type { Market } from '../src/engine/bars/bars.ts';
import { symbolsOf } from '../src/engine/config.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import { runBacktest } from '../src/engine/pool/engineRunner.ts';
import type { BacktestTask, RunControl } from '../src/engine/task.ts';
import { isShort, measure, needs, onDemand, type Unit } from './measure.ts';
import { SMALL_BARS, SMALL_RUNS, type SmallRuns } from './smallRuns.ts';

const UNIT: Unit = 'run';
const CONTROL: RunControl = { isCancelled: () => false, report: () => {} };
/** Nanoseconds of a best round are of one lucky run, so that a round has as many as a batch. */
const RUNS = 50;
/** V8 compiles until run 12,000 of a thread. */
const ROUNDS_UNTIL_HOT = isShort ? 10 : 240;

export function suite(): Bench {
  const bench = new Bench({
    iterations: isShort ? 20 : 200,
    warmupIterations: ROUNDS_UNTIL_HOT,
    time: 0,
    warmupTime: 0,
  });
  for (const [kind, open] of Object.entries(SMALL_RUNS)) {
    let opened: SmallRuns;
    let market: Market;
    const load = async (): Promise<void> => {
      opened = await open();
      const { symbol, timeframe } = marketOf(opened.taskOf(0));
      market = createMarket(opened.snapshots, symbol, timeframe);
    };
    let index = 0;
    const round = (): void => {
      for (const end = index + RUNS; index < end; index++) {
        const outcome = runBacktest(opened.taskOf(index), market, CONTROL);
        if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
      }
    };
    bench.add(`small/${kind}, ${SMALL_BARS} bars/${RUNS}`, round, needs(onDemand(load)));
  }
  return bench;
}

const marketOf = ({ config }: BacktestTask) => ({
  symbol: symbolsOf(config)[0],
  timeframe: config.timeframe,
});

if (import.meta.main) await measure(suite(), UNIT);
