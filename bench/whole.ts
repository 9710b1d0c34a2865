// A whole backtest, including its report, at 1e4 and 1e6 bars: the first run over its bars, and one that reuses the
// columns of an earlier run.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { measure, printMeasures } from './measure.ts';
import { walkMarket } from './walk.ts';

export function suite(counts: readonly number[] = [10_000, 1_000_000]): Bench {
  const bench = new Bench({ iterations: 8, warmupIterations: 3, time: 0, warmupTime: 0 });
  let runs = 0;
  for (const count of counts) {
    const market = walkMarket(count);
    for (const name of Object.keys(PAYLOADS)) {
      const task = taskOf(name);
      // Bars with another hash are other bars, for which nothing is cached.
      const anew = () => ({ ...market, base: { ...market.base, sha256: `run ${runs++}` } });
      bench.add(`whole/${name}, first run/${count}`, () => runBacktest(task, anew(), null));
      bench.add(`whole/${name}, columns kept/${count}`, () => runBacktest(task, market, null));
    }
  }
  return bench;
}

if (import.meta.main) printMeasures(await measure(suite()));
