// The report: statistics, trace and diagnosis of a simulated run, by number of bars.
import { Bench } from 'tinybench';
import { simulateTask } from '../src/engine/backtest.ts';
import { summarize } from '../src/engine/report/summary.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { hotRounds, isShort, measure, needs, onDemand } from './measure.ts';
import { walkMarket } from './walk.ts';

export function suite(counts: readonly number[] = isShort ? [2_000] : [2_000, 100_000, 1_000_000]): Bench {
  const bench = new Bench(hotRounds(10));
  for (const count of counts) {
    const market = onDemand(() => walkMarket(count));
    for (const name of Object.keys(PAYLOADS)) {
      const report = onDemand(() => {
        const run = simulateTask(taskOf(name), market(), null, false);
        if (!run.ok) throw new Error(`${name} cannot be run.`);
        return run.report;
      });
      bench.add(`report/${name}/${count}`, () => summarize(report()), needs(report));
    }
  }
  return bench;
}

if (import.meta.main) await measure(suite());
