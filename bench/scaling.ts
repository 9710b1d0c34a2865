// Scaling: whether the cost per bar stays the same from ten thousand bars to ten million, and what a trade adds.
import { Bench } from 'tinybench';
import { crossOf, runAndGiveBack } from './crossing.ts';
import { hotRounds, isShort, measure, needs, onDemand } from './measure.ts';
import { unseen, walkMarket } from './walk.ts';

const BARS = isShort ? [10_000, 30_000] : [10_000, 100_000, 1_000_000, 10_000_000];
/** The shorter the averages, the more often they cross: those of `length` and `3 * length` bars trade every fifth. */
const LENGTHS = [2, 5, 20, 80, 400];
const BARS_PER_TRADE = 5;

/** V8 optimizes what runs once per backtest after some thousand runs. bench/warmUp.ts measures the first ones. */
const RUNS_UNTIL_HOT = isShort ? 0 : 8_000;

const cross = crossOf(10, 30);

const warmUp = onDemand(() => {
  const market = walkMarket(BARS[0]);
  for (let run = 0; run < RUNS_UNTIL_HOT; run++) runAndGiveBack(cross, unseen(market));
});

export function suite(): Bench {
  const bench = new Bench(isShort ? { iterations: 20, warmupIterations: 2, time: 0, warmupTime: 0 } : hotRounds(5));
  for (const count of BARS) {
    const market = onDemand(() => walkMarket(count));
    bench.add(`scaling/bars/${count}`, () => runAndGiveBack(cross, unseen(market())), needs(market, warmUp));
  }
  const count = isShort ? 20_000 : 300_000;
  const market = onDemand(() => walkMarket(count));
  for (const length of LENGTHS) {
    const crossing = crossOf(length, 3 * length);
    const name = `scaling/a trade in ${BARS_PER_TRADE * length} bars/${count}`;
    bench.add(name, () => runAndGiveBack(crossing, market()), needs(market));
  }
  return bench;
}

if (import.meta.main) await measure(suite());
