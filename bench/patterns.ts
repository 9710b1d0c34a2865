// Candlestick patterns: ns per bar of the lightest, the heaviest, one with a memory, and all 61 in turn.
import { Bench } from 'tinybench';
import { findPattern, PATTERNS, type PatternDefinition } from '../src/engine/patterns/patternRegistry.ts';
import { measure, printMeasures } from './measure.ts';
import { jaggedBars } from '../test/engine/patterns/jagged.ts';

const BARS = 1_000_000;
/** engulfing needs no average of candle sizes, doji one, three_white_soldiers eight; modified_hikkake has a memory. */
const ALONE = ['engulfing', 'doji', 'morning_star', 'three_white_soldiers', 'modified_hikkake'];

export function suite(count = BARS): Bench {
  const bars = jaggedBars(count, 1, 0.01);
  const out = new Float64Array(count);
  const run = (pattern: PatternDefinition): void => pattern.compute(...bars, {}, out);
  const bench = new Bench({ iterations: 10, warmupIterations: 3, time: 0, warmupTime: 0 });
  for (const id of ALONE) bench.add(`patterns/${id}/${count}`, () => run(findPattern(id)!));
  bench.add(`patterns/all 61/${count}`, () => PATTERNS.forEach(run), { async: false });
  return bench;
}

if (import.meta.main) printMeasures(await measure(suite()));
