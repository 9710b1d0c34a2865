// Candlestick patterns: ns per bar of the lightest, the heaviest, one with a memory, and all 61 together.
import { Bench } from 'tinybench';
import { computePatterns } from '../src/engine/patterns/patternDefinition.ts';
import { findPattern, PATTERNS } from '../src/engine/patterns/patternRegistry.ts';
import { sharedColumns } from './walk.ts';
import { barCount, measure, needs, onDemand, rounds } from './measure.ts';
import { jaggedBars } from '../test/engine/patterns/jagged.ts';

/** engulfing needs no average of candle sizes, doji one, three_white_soldiers eight; modified_hikkake has a memory. */
const ALONE = ['engulfing', 'doji', 'morning_star', 'three_white_soldiers', 'modified_hikkake'];

export function suite(count = barCount(1_000_000)): Bench {
  const bars = onDemand(() => sharedColumns(jaggedBars(count, 1, 0.01)));
  const out = new Float64Array(count);
  const together = PATTERNS.map((definition) => ({ definition, args: {}, out }));
  const bench = new Bench(rounds(10));
  for (const id of ALONE)
    bench.add(`patterns/${id}/${count}`, () => findPattern(id)!.compute(...bars(), {}, out), needs(bars));
  const all = (): void => {
    const [open, high, low, close] = bars();
    computePatterns({ open, high, low, close }, together);
  };
  bench.add(`patterns/all 61/${count}`, all, needs(bars));
  return bench;
}

if (import.meta.main) await measure(suite());
