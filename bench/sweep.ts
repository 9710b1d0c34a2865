// A sweep on one thread: pairs of averages over a random walk, with the headline metrics and with every key of the
// summary.
import { Bench } from 'tinybench';
import { ColumnStore } from '../src/engine/evaluate/columnStore.ts';
import { checkStrategy } from '../src/engine/language/check/checkStrategy.ts';
import { runShard, sweepContext, type SweepContext } from '../src/engine/sweep/shard.ts';
import { planSweep } from '../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../src/engine/sweep/sweepRequest.ts';
import type { Market } from '../src/engine/bars/bars.ts';
import { SYMBOL, walkMarket } from './walk.ts';
import { barCount, measure, needs, onDemand } from './measure.ts';

const sma = (param: string) => ({ kind: 'indicator', indicator: 'sma', args: { length: { param } } });
const cross = (op: string) => ({ kind: 'cross', op, left: sma('fast'), right: sma('slow') });

export const PAIRS = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'fast', type: 'int', default: 10, min: 1, max: 1000 },
      { name: 'slow', type: 'int', default: 30, min: 1, max: 1000 },
    ],
    entry: {
      kind: 'entry',
      trigger: cross('cross_up'),
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
  },
};

/** Lengths of both averages: other ones for each of 5,000 indexes. */
export const pairOf = (index: number) => ({ fast: 2 + (index % 50), slow: 60 + (Math.floor(index / 50) % 100) });

export const pairConfig = (takerRate: number) => ({
  timeframe: '1h' as const,
  signalInstrument: { symbol: SYMBOL },
  initialBalance: 10_000,
  execution: {
    feeModel: { kind: 'tiered_maker_taker' as const, tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate }] },
    slippage: { kind: 'none' as const },
  },
});

/** @throws Error when the strategy or the space, and therefore the bench, is invalid. */
export function pairContext(market: () => Market, space: object, metrics: unknown): SweepContext {
  const { compiled, issues } = checkStrategy({ strategyAst: PAIRS, settings: {} });
  if (compiled === null) throw new Error(JSON.stringify(issues));
  const strategy = { strategyAst: compiled.strategyAst, settings: {}, strategyHash: compiled.strategyHash };
  const spec = SweepSpec.parse({ config: pairConfig(0.0005), space, method: 'grid', metrics });
  const planned = planSweep(strategy, spec);
  if (!planned.ok) throw new Error(JSON.stringify(planned.faults));
  return sweepContext(planned.job, market, new ColumnStore(96 << 20));
}

export function suite(bars = barCount(100_000)): Bench {
  const bench = new Bench({ iterations: 3, warmupIterations: 1, time: 0, warmupTime: 0 });
  const market = onDemand(() => walkMarket(bars));
  const space = { fast: { min: 5, max: 14 }, slow: { min: 40, max: 58, step: 2 } };
  for (const metrics of ['headline', 'all']) {
    const context = pairContext(market, space, metrics);
    const { indexes } = context.job;
    const name = `sweep/${indexes} pairs, ${metrics}/${bars * indexes}`;
    bench.add(name, () => void runShard(context, { first: 0, last: indexes }, null), needs(market));
  }
  return bench;
}

if (import.meta.main) await measure(suite());
