// Encoding: from the result of a run to what is stored of it, and back, in nanoseconds per run of 2,000 bars.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import { SharedSpan } from '../src/engine/kernels/sharedBuffer.ts';
import { decodeDetail, encodeResult } from '../src/engine/pool/detail.ts';
import { PAYLOADS, taskOf } from './crossing.ts';
import { measure, timed, type Unit } from './measure.ts';
import { walkMarket } from './walk.ts';

const UNIT: Unit = 'run';

export function suite(bars = 2_000): Bench {
  const bench = new Bench(timed(300));
  const market = walkMarket(bars);
  for (const name of Object.keys(PAYLOADS)) {
    const outcome = runBacktest(taskOf(name), market, null);
    if (!outcome.ok) throw new Error(`${name} cannot be run.`);
    const { summaryJson, trades: rows, reproducibility, warnings, resolvedConfig, written } = outcome;
    const kept = { ok: true, summaryJson, trades: rows, reproducibility, warnings, resolvedConfig } as const;
    // Encoding gives back the memory of an outcome, and this one is encoded again and again.
    const encode = () => encodeResult({ ...kept, written: { ...written!, memory: new SharedSpan().close() } });
    const { summary, detail, trades } = encode();
    const bytes = summary.length + detail.length + trades.length;
    bench.add(`encode/${name}, ${bytes} bytes/1`, encode);
    bench.add(`encode/${name}, detail read/1`, () => decodeDetail(detail));
  }
  return bench;
}

if (import.meta.main) await measure(suite(), UNIT);
