// Inside the bar: what bars that touch a stop and a target cost, settled by a rule, by both rules for the band, and by
// drilling into finer bars.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import type { Market } from '../src/engine/bars/bars.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import { tightTask } from './crossing.ts';
import { isShort, measure, needs, onDemand, rounds } from './measure.ts';
import { SYMBOL, walkSnapshot } from './walk.ts';

/** Hours, each of twelve bars of five minutes. */
export function suite(hours = isShort ? 2_000 : 50_000): Bench {
  const drilled = onDemand(() => createMarket([walkSnapshot(hours * 12, '5m')], SYMBOL, '1h'));
  const plain = onDemand(() => ({ ...drilled(), fine: undefined }));
  const task = tightTask();
  const settledBy = (ambiguityResolution: 'pessimistic' | 'multi_resolution') => ({
    ...task,
    config: { ...task.config, ambiguityResolution },
  });
  const bench = new Bench(rounds(10));
  const add = (name: string, policy: 'pessimistic' | 'multi_resolution', market: () => Market): void =>
    void bench.add(`inside/${name}/${hours}`, () => runBacktest(settledBy(policy), market(), null), needs(market));
  add('settled by a rule', 'pessimistic', plain);
  add('no finer bars, with a band', 'multi_resolution', plain);
  add('drilled into 5m', 'multi_resolution', drilled);
  return bench;
}

if (import.meta.main) await measure(suite());
