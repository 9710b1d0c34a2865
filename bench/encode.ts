// Encoding: from the result of a run to what is stored of it, and back, in nanoseconds per run of 2,000 bars.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import { SharedSpan } from '../src/engine/kernels/sharedBuffer.ts';
import { decodeDetail, encodeResult } from '../src/engine/pool/result.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { measure, needs, onDemand, timed, type Unit } from './measure.ts';
import { walkMarket } from './walk.ts';

const UNIT: Unit = 'run';

export function suite(bars = 2_000): Bench {
  const bench = new Bench(timed(300));
  const market = onDemand(() => walkMarket(bars));
  for (const name of Object.keys(PAYLOADS)) {
    const outcome = onDemand(() => {
      const run = runBacktest(taskOf(name), market(), null);
      if (!run.ok) throw new Error(`${name} cannot be run.`);
      const { written, tradeTable, configJson, warnings, reproducibility } = run;
      return { written, tradeTable, configJson, warnings, reproducibility };
    });
    // Encoding gives back the memory of an outcome, and this one is encoded again and again.
    const encode = () => encodeResult({ ...outcome(), memory: new SharedSpan().close() });
    const detail = onDemand(() => encode().detail);
    bench.add(`encode/${name}/1`, encode, needs(outcome));
    bench.add(`encode/${name}, detail read/1`, () => decodeDetail(detail()), needs(detail));
  }
  return bench;
}

if (import.meta.main) await measure(suite(), UNIT);
