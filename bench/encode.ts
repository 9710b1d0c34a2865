// Encoding: from the result of a run to what is stored of it, and back, in nanoseconds per run of 2,000 bars.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import { decodeDetail, encodeDetail, splitSummary } from '../src/engine/pool/detail.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { isShort, measure, type Unit } from './measure.ts';
import { walkMarket } from './walk.ts';

const UNIT: Unit = 'run';

export function suite(bars = 2_000): Bench {
  const bench = new Bench(isShort ? { time: 80, warmupTime: 60 } : { time: 300, warmupTime: 200 });
  const market = walkMarket(bars);
  for (const name of Object.keys(PAYLOADS)) {
    const outcome = runBacktest(taskOf(name), market, null);
    if (!outcome.ok) throw new Error(`${name} cannot be run.`);
    const { summaryJson, trades } = outcome;
    const encode = () => encodeDetail({ summary: splitSummary(summaryJson).detail, trades });
    const bytes = encode();
    bench.add(`encode/${name}, ${bytes.length} bytes/1`, encode);
    bench.add(`encode/${name}, decoded/1`, () => decodeDetail(bytes));
  }
  return bench;
}

if (import.meta.main) await measure(suite(), UNIT);
