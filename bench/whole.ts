// A whole backtest, including its report, at 2,000, 1e4 and 1e6 bars: the first run over its bars, and one that reuses
// the columns of an earlier run.
import { Bench } from 'tinybench';
import { PAYLOADS, runAndGiveBack, taskOf } from './crossing.ts';
import { hotRounds, isShort, measure, needs, onDemand } from './measure.ts';
import { unseen, walkMarket } from './walk.ts';

export function suite(counts: readonly number[] = isShort ? [2_000, 10_000] : [2_000, 10_000, 1_000_000]): Bench {
  const bench = new Bench(hotRounds(8));
  for (const count of counts) {
    const market = onDemand(() => walkMarket(count));
    for (const name of Object.keys(PAYLOADS)) {
      const task = taskOf(name);
      bench.add(`whole/${name}, first run/${count}`, () => runAndGiveBack(task, unseen(market())), needs(market));
      bench.add(`whole/${name}, columns kept/${count}`, () => runAndGiveBack(task, market()), needs(market));
    }
  }
  return bench;
}

if (import.meta.main) await measure(suite());
