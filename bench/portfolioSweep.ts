// A sweep of portfolios on one thread: 500 variants of a rotation over 100 daily series, from bars to the result with
// its deflated Sharpe ratio.
import { Bench } from 'tinybench';
import { ColumnStore } from '../src/engine/evaluate/columnStore.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import type { Market } from '../src/engine/bars/bars.ts';
import { checkStrategy } from '../src/engine/language/check/checkStrategy.ts';
import { joinRankingRows, rankingRows } from '../src/engine/sweep/rankingRows.ts';
import { runShard, sweepContext, type SweepContext } from '../src/engine/sweep/shard.ts';
import { planSweep } from '../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../src/engine/sweep/sweepRequest.ts';
import { finishSweep } from '../src/engine/sweep/sweepResult.ts';
import { isShort, measure, needs, onDemand } from './measure.ts';
import { walkSnapshot } from './walk.ts';

const INSTRUMENTS = isShort ? 20 : 100;
const BARS = isShort ? 500 : 2_500;

/** Each month the instruments with the largest return, and those that stay near the top. */
const ROTATION = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'top', type: 'int', default: 10, min: 1, max: 100 },
      { name: 'keep', type: 'int', default: 20, min: 1, max: 200 },
      { name: 'lookback', type: 'int', default: 252, min: 2, max: 1_000 },
    ],
    allocation: {
      kind: 'allocation',
      when: { kind: 'schedule', every: 'month', on: 'last' },
      long: {
        by: { kind: 'indicator', indicator: 'roc', args: { length: { param: 'lookback' } } },
        top: { param: 'top' },
        keepWithin: { param: 'keep' },
      },
    },
  },
};

const VARIANTS = 500;
/** 10 tops, 5 distances and 10 lookbacks. */
const SPACE = {
  top: { min: 1, max: 10 },
  keep: { values: [10, 12, 15, 20, 40] },
  lookback: { values: [20, 40, 60, 80, 100, 120, 150, 180, 200, 252] },
};

function contextOf(): SweepContext {
  const symbols = Array.from({ length: INSTRUMENTS }, (_, at) => `SYN-${String(at).padStart(3, '0')}`);
  const markets = new Map<string, Market>(
    symbols.map((symbol, at) => [
      symbol,
      createMarket([walkSnapshot(BARS, '1d', { symbol, seed: 23 + at })], symbol, '1d'),
    ]),
  );
  const { compiled, issues } = checkStrategy({ strategyAst: ROTATION, settings: {} });
  if (compiled === null) throw new Error(JSON.stringify(issues));
  const strategy = { strategyAst: compiled.strategyAst, settings: {}, strategyHash: compiled.strategyHash };
  const instruments = symbols.map((symbol) => ({ symbol }));
  const config = { timeframe: '1d', instruments, initialBalance: 10_000 };
  const planned = planSweep(strategy, SweepSpec.parse({ config, space: SPACE, method: 'grid' }));
  if (!planned.ok) throw new Error(JSON.stringify(planned.faults));
  return sweepContext(planned.job, (symbol) => markets.get(symbol), new ColumnStore(64 << 20));
}

function sweepOf(context: SweepContext): void {
  const rows = runShard(
    { ...context, store: new ColumnStore(64 << 20) },
    { first: 0, last: context.job.indexes },
    null,
  )!;
  if (rows.failures.count > 0) throw new Error(JSON.stringify(rows.failures));
  const { overfitting } = finishSweep(context, joinRankingRows([rankingRows(context, rows)]), null);
  if (overfitting.deflatedSharpe === null) throw new Error('The sweep has no deflated Sharpe ratio.');
}

export function suite(): Bench {
  const bench = new Bench({ iterations: 3, warmupIterations: 1, time: 0, warmupTime: 0 });
  const context = onDemand(contextOf);
  const bars = VARIANTS * INSTRUMENTS * BARS;
  const name = `${VARIANTS} rotations of ${INSTRUMENTS} with their result`;
  bench.add(`portfolioSweep/${name}/${bars}`, () => sweepOf(context()), needs(context));
  return bench;
}

if (import.meta.main) await measure(suite());
