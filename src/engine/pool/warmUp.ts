// Warming up: synthetic backtests that a new thread runs while it has nothing else to do, so that the first real ones
// find compiled code. A thread interprets a function until it has run it some hundred times.
import { encodeSnapshot, type Snapshot } from '../bars/arrow.ts';
import { TIMEFRAME_MS } from '../bars/bars.ts';
import { allocateShared, bytesOf } from '../kernels/simd/sharedMemory.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { BacktestTask } from '../task.ts';
import type { PoolBatch, PoolRun } from './messages.ts';

/** Of twenty runs: without them the first 200 backtests of a thread run at half of its speed (docs/performance.md). */
export const WARM_UP_BATCHES = 30;
/** A task that arrives meanwhile waits for about thirty milliseconds. */
const BATCH_RUNS = 20;

const SYMBOL = 'WARM-UP';
const OWNER = 'warm-up';
const TIMEFRAMES = ['1d', '1h', '4h', '15m'] as const;
type WarmUpTimeframe = (typeof TIMEFRAMES)[number];
const BARS: Readonly<Record<WarmUpTimeframe, number>> = { '1d': 2_000, '1h': 3_000, '4h': 1_000, '15m': 1_500 };

const indicator = (id: string, args: object) => ({ kind: 'indicator', indicator: id, args });
const sma = (param: string) => indicator('sma', { length: { param } });
const cross = (op: string) => ({ kind: 'cross', op, left: sma('fast'), right: sma('slow') });
const compare = (op: string, left: object, value: number) => ({
  kind: 'compare',
  op,
  left,
  right: { kind: 'const', value },
});
const rsi = indicator('rsi', { length: 14 });
const close = { kind: 'market', field: 'close' };
const action = (side: string, sizing: object = { mode: 'percent_equity', value: 100 }) => ({ side, sizing });
const stopAndTarget = {
  stopLoss: { mode: 'percent', value: 4 },
  takeProfits: [{ triggerPercent: 8, closePercent: 100 }],
};
const params = [
  { name: 'fast', type: 'int', default: 5 },
  { name: 'slow', type: 'int', default: 50 },
];
const strategyOf = (strategy: object) =>
  ({ protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', params, ...strategy } }) as StrategyAst;

/**
 * What most runs do, half of them a crossing of averages. What a first real run does that none of these did, it does in
 * code that V8 throws away for it: they differ in their rules, levels, sizes and sides.
 */
const STRATEGIES = [
  strategyOf({
    entry: { kind: 'entry', trigger: cross('cross_up'), action: action('long') },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
  }),
  strategyOf({
    entry: {
      kind: 'entry',
      trigger: cross('cross_up'),
      filters: [compare('lt', rsi, 70)],
      action: action('long', { mode: 'risk_percent', value: 1 }),
    },
    exits: [],
    risk: stopAndTarget,
  }),
  strategyOf({
    entry: { kind: 'entry', trigger: cross('cross_up'), action: action('long') },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
  }),
  strategyOf({
    entry: {
      kind: 'entry',
      trigger: { kind: 'cross', op: 'cross_up', left: close, right: indicator('ema', { length: 20 }) },
      filters: [
        compare('gt', indicator('adx', { length: 14 }), 15),
        { kind: 'not', item: { kind: 'pattern', name: 'engulfing', side: 'bearish', within: 3 } },
      ],
      action: action('long', { mode: 'fixed_cash', value: 5_000 }),
    },
    exits: [{ kind: 'exit', when: compare('gt', rsi, 80) }],
    risk: { ...stopAndTarget, trailingStop: { distancePercent: 2 } },
  }),
  strategyOf({
    entry: { kind: 'entry', trigger: cross('cross_up'), action: action('long') },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
    risk: stopAndTarget,
  }),
  strategyOf({
    entry: { kind: 'entry', trigger: cross('cross_down'), action: action('short') },
    exits: [
      { kind: 'exit', when: cross('cross_up') },
      { kind: 'exit', when: compare('lt', rsi, 30), action: { mode: 'percent_position', value: 50 } },
    ],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 3 }, timeStop: { maxBars: 30 } },
  }),
];

let snapshots: readonly Snapshot[] | undefined;

/** Sent like any other: objects that come in a message have other shapes than those that a thread makes itself. */
export function warmUpBatch(batch: number): PoolBatch {
  const runs = Array.from({ length: BATCH_RUNS }, (_, index) => warmUpRun(batch * BATCH_RUNS + index));
  return { snapshots: (snapshots ??= TIMEFRAMES.map(syntheticSnapshot)), runs };
}

function warmUpRun(run: number): PoolRun {
  const snapshot = (run >> 1) % TIMEFRAMES.length;
  const task: BacktestTask = {
    id: `warm-up ${run}`,
    strategyAst: STRATEGIES[run % STRATEGIES.length],
    settings: {},
    config: {
      timeframe: TIMEFRAMES[snapshot],
      signalInstrument: { symbol: SYMBOL },
      initialBalance: 10_000 + run,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
        },
        slippage: run % 3 === 0 ? { kind: 'fixed', unit: 'bps', value: 1 } : { kind: 'none' },
      },
      params: { fast: 2 + (run % 30), slow: 40 + (run % 7) },
    },
    strategyHash: 'warm-up',
  };
  return { task, snapshots: [snapshot], owner: OWNER, memoryBytes: 0 };
}

/** A walk of a few percent per bar, always the same (a linear congruential generator). */
function syntheticSnapshot(timeframe: WarmUpTimeframe): Snapshot {
  const count = BARS[timeframe];
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(count));
  let state = 1;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  let price = 100;
  for (let row = 0; row < count; row++) {
    time[row] = Date.UTC(2000, 0, 1) + row * TIMEFRAME_MS[timeframe];
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.04;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.01);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.01);
    volume[row] = random() * 1_000;
  }
  const about = {
    symbol: SYMBOL,
    timeframe,
    instrument: {
      symbol: SYMBOL,
      base: 'WARM',
      quote: 'USD',
      tickSize: null,
      qtyStep: 1e-8,
      minNotional: 0,
      tradesAllDay: true,
      synthetic: true,
    },
  } as const;
  const bytes = encodeSnapshot({ time, open, high, low, close, volume, series: new Map() }, about);
  const shared = allocateShared(bytes.length);
  bytesOf(shared).set(bytes);
  return { ...shared, meta: { ...about, sha256: `warm-up ${timeframe}` } };
}
