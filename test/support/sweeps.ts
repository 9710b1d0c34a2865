// Sweeps for tests: a crossing of two averages as a strategy with params, and a sweep run in this thread, whole or in
// shards.
import { createMarket } from '../../src/engine/bars/market.ts';
import type { Market } from '../../src/engine/bars/bars.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { checkStrategy } from '../../src/engine/language/check/checkStrategy.ts';
import { runShard, sweepContext, type SweepContext } from '../../src/engine/sweep/shard.ts';
import { planSweep, type SweepStrategy } from '../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../src/engine/sweep/sweepRequest.ts';
import { joinRankingRows, rankingRows } from '../../src/engine/sweep/rankingRows.ts';
import { historyOf, shardsOf } from '../../src/engine/sweep/rounds.ts';
import { finishSweep, type SweepResult } from '../../src/engine/sweep/sweepResult.ts';
import type { SweepRows } from '../../src/engine/sweep/sweepRows.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { cross, indicator } from './builders.ts';
import { dailyColumns, INSTRUMENT, SYMBOL } from './runs.ts';
import { seededRandom } from './scale.ts';

const average = (param: string) => indicator('sma', { length: { param } });
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };

/** Buys when the fast average crosses above the slow one, and sells when it crosses below. */
export const CROSSING = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    params: [
      { name: 'fast', type: 'int', default: 5, min: 1, max: 200 },
      { name: 'slow', type: 'int', default: 20, min: 1, max: 200 },
      { name: 'stop', type: 'float', default: 5, min: 0.1, max: 50 },
    ],
    entry: { kind: 'entry', trigger: cross(average('fast'), 'cross_up', average('slow')), action },
    exits: [{ kind: 'exit', when: cross(average('fast'), 'cross_down', average('slow')) }],
    risk: { stopLoss: { mode: 'percent', value: { param: 'stop' } }, timeStop: { maxBars: 60 } },
  },
};

export function compiled(strategyAst: object): SweepStrategy {
  const outcome = checkStrategy({ strategyAst, settings: {} });
  if (outcome.compiled === null) throw new Error(JSON.stringify(outcome.issues));
  return { strategyAst: outcome.compiled.strategyAst, settings: {}, strategyHash: outcome.compiled.strategyHash };
}

export const CONFIG: BacktestConfig = {
  timeframe: '1d',
  signalInstrument: { symbol: SYMBOL },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.0005 }],
    },
    slippage: { kind: 'none' },
  },
};

/** Daily bars whose returns are `returnOf(row, noise)`, noise being normal; `series` are columns beside the bars. */
export function marketOf(
  bars: number,
  seed: number,
  returnOf: (row: number, noise: number) => number = (_, noise) => 0.01 * noise,
  series: ReadonlyMap<string, Float64Array> = new Map(),
): Market {
  const random = seededRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const columns = dailyColumns(bars);
  const [open, high, low, close] = Array.from({ length: 4 }, () => new Float64Array(bars));
  let price = 100;
  for (let row = 0; row < bars; row++) {
    open[row] = price;
    price *= 1 + Math.max(-0.5, returnOf(row, normal()));
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + 0.002 * random());
    low[row] = Math.min(open[row], price) * (1 - 0.002 * random());
  }
  const snapshot = makeSnapshot(
    { ...columns, open, high, low, close, series: new Map(series) },
    { symbol: SYMBOL, timeframe: '1d', instrument: INSTRUMENT },
  );
  return createMarket([snapshot], SYMBOL, '1d');
}

type Given = Parameters<typeof SweepSpec.parse>[0];

export function sweepContextFor(strategy: SweepStrategy, given: object, market: Market): SweepContext {
  const planned = planSweep(strategy, SweepSpec.parse({ config: CONFIG, ...given } satisfies Given));
  if (!planned.ok) throw new Error(JSON.stringify(planned.faults));
  const { base } = market;
  const open = (symbol: string, timeframe: string) =>
    symbol === base.symbol && timeframe === base.timeframe ? market : undefined;
  return sweepContext(planned.job, open, new ColumnStore(64 << 20));
}

/** All rows, made in so many shards that are run last first. */
export function rowsOf(context: SweepContext, shards = 1): SweepRows {
  const { indexes } = context.job;
  const ranges = Array.from({ length: shards }, (_, shard) => ({
    first: Math.floor((shard * indexes) / shards),
    last: Math.floor(((shard + 1) * indexes) / shards),
  }));
  return joinRows(ranges.toReversed().map((range) => runShard(context, range, null)!));
}

/** Joins the rows of several shards in the order of their variants, whatever the order of the shards. */
function joinRows(shards: readonly SweepRows[]): SweepRows {
  const ordered = shards.toSorted((a, b) => firstIndex(a) - firstIndex(b));
  const [head] = ordered;
  const join = (column: (rows: SweepRows) => Float64Array): Float64Array => {
    const parts = ordered.map(column);
    const joined = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  };
  return {
    indexes: join((rows) => rows.indexes),
    coordinates: head.coordinates.map((_, at) => join((rows) => rows.coordinates[at])),
    metrics: head.metrics.map(({ key }, at) => ({ key, values: join((rows) => rows.metrics[at].values) })),
    dailySharpe: join((rows) => rows.dailySharpe),
    training: head.training.map((_, at) => join((rows) => rows.training[at])),
    sampled: join((rows) => rows.sampled),
    sums: join((rows) => rows.sums),
    failures: {
      count: ordered.reduce((count, rows) => count + rows.failures.count, 0),
      first: ordered.flatMap((rows) => rows.failures.first).slice(0, 20),
    },
  };
}

const firstIndex = (rows: SweepRows): number => rows.indexes[0] ?? rows.failures.first[0]?.variant ?? Infinity;

/** The result of these rows, joined from so many shards. */
export const finished = (context: SweepContext, ...shards: readonly SweepRows[]): SweepResult =>
  finishSweep(context, joinRankingRows(shards.map((rows) => rankingRows(context, rows))), null);

/** The rounds of tpe in this thread. */
export function tpeRowsOf(context: SweepContext): SweepRows {
  let rows: SweepRows | null = null;
  for (const range of shardsOf(context.job, 0)) {
    const made: SweepRows = runShard(
      context,
      rows === null ? range : { ...range, history: historyOf(context, rows) },
      null,
    )!;
    rows = rows === null ? made : joinRows([rows, made]);
  }
  return rows!;
}
