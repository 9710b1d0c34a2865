// Inside the bar: what bars that touch a stop and a target cost, settled by a rule, by both rules for the band, and by
// drilling into finer bars.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import { taskOf } from './crossing.ts';
import { isShort, measure, rounds } from './measure.ts';
import { SYMBOL, walkSnapshot } from './walk.ts';

/** Hours, each of twelve bars of five minutes. */
export function suite(hours = isShort ? 2_000 : 50_000): Bench {
  const fine = walkSnapshot(hours * 12, '5m');
  const drilled = createMarket([fine], SYMBOL, '1h');
  const plain = { ...drilled, fine: undefined };
  const task = taskOf('Tight stop and target');
  const settledBy = (ambiguityResolution: 'pessimistic' | 'multi_resolution') => ({
    ...task,
    config: { ...task.config, ambiguityResolution },
  });
  const bench = new Bench(rounds(10));
  bench.add(`inside/settled by a rule/${hours}`, () => runBacktest(settledBy('pessimistic'), plain, null));
  bench.add(`inside/no finer bars, with a band/${hours}`, () =>
    runBacktest(settledBy('multi_resolution'), plain, null),
  );
  bench.add(`inside/drilled into 5m/${hours}`, () => runBacktest(settledBy('multi_resolution'), drilled, null));
  return bench;
}

if (import.meta.main) await measure(suite());
