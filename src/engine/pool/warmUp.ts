// Warming up: synthetic backtests that a new thread runs while it has nothing else to do, so that the first real ones
// find compiled code. A thread interprets a function until it has run it some hundred times.
import { setFlagsFromString } from 'node:v8';
import { encodeSnapshot, type Snapshot, type SnapshotAbout } from '../bars/arrow.ts';
import { TIMEFRAME_MS } from '../bars/bars.ts';
import { allocateShared, bytesOf } from '../kernels/sharedMemory.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { BacktestTask } from '../task.ts';
import type { PoolBatch, PoolRun } from './messages.ts';

/** How many batches warm a thread up: without any, its first 200 backtests take twice as long (docs/performance.md). */
export const WARM_UP_BATCHES = 360;
/** Runs per batch: a task that arrives during one waits for five to fifteen milliseconds. */
const BATCH_RUNS = 10;
/** After this many batches, the owner and the names of the bars change: a thread has kept no columns for them. */
const ROUND_BATCHES = 72;

/**
 * Before this batch, a thread collects garbage. V8 then discards compiled code that refers to objects that are gone:
 * that of some 150 functions the first time, and of far fewer later. The batches from here on compile it again.
 */
const COLLECTED_BATCH = 80;

const SYMBOL = 'WARM-UP';
const OWNER = 'warm-up';
const TIMEFRAMES = ['1d', '1h', '4h', '15m'] as const;
type WarmUpTimeframe = (typeof TIMEFRAMES)[number];
const BARS: Readonly<Record<WarmUpTimeframe, number>> = { '1d': 2_000, '1h': 3_000, '4h': 1_000, '15m': 1_500 };

const indicator = (id: string, args: object, output?: string) => ({
  kind: 'indicator',
  indicator: id,
  args,
  ...(output && { output }),
});
const sma = (length: number | object) => indicator('sma', { length });
const cross = (op: string, fast: number | object, slow: number | object) => ({
  kind: 'cross',
  op,
  left: sma(fast),
  right: sma(slow),
});
const compare = (op: string, left: object, value: number) => ({
  kind: 'compare',
  op,
  left,
  right: { kind: 'const', value },
});
const rsi = indicator('rsi', { length: 14 });
const close = { kind: 'market', field: 'close' };
const percentEquity = (value: number) => ({ mode: 'percent_equity', value });
const entry = (trigger: object, sizing: object, side = 'long', filters?: readonly object[]) => ({
  kind: 'entry',
  trigger,
  ...(filters && { filters }),
  action: { side, sizing },
});
const exit = (when: object, action?: object) => ({ kind: 'exit', when, ...(action && { action }) });
const stopAndTarget = (stop: number, target: number) => ({
  stopLoss: { mode: 'percent', value: stop },
  takeProfits: [{ triggerPercent: target, closePercent: 100 }],
});
const strategyOf = (strategy: object) =>
  ({ protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', ...strategy } }) as StrategyAst;

const [fast, slow] = [{ param: 'fast' }, { param: 'slow' }];
const params = [
  { name: 'fast', type: 'int', default: 5, min: 1, max: 100 },
  { name: 'slow', type: 'int', default: 50, min: 1, max: 100 },
];
const [up, down] = [cross('cross_up', fast, slow), cross('cross_down', fast, slow)];

/**
 * Strategies like most real ones: more than half of them cross averages, with params and without. They differ in their
 * members and in whether numbers are whole, because V8 throws compiled code away when a real run does what none of
 * these did.
 */
const STRATEGIES = [
  strategyOf({ params, entry: entry(up, percentEquity(100)), exits: [exit(down)] }),
  strategyOf({
    params,
    entry: entry(up, { mode: 'risk_percent', value: 0.5 }, 'long', [compare('lt', rsi, 70)]),
    exits: [],
    risk: stopAndTarget(4, 8),
  }),
  strategyOf({
    entry: entry(cross('cross_up', 10, 30), percentEquity(100)),
    exits: [exit(cross('cross_down', 10, 30))],
    risk: stopAndTarget(2.5, 4.5),
  }),
  strategyOf({
    entry: entry(
      { kind: 'cross', op: 'cross_up', left: close, right: indicator('ema', { length: 20 }) },
      { mode: 'fixed_cash', value: 5_000 },
      'long',
      [
        compare('gt', indicator('adx', { length: 14 }), 15),
        { kind: 'not', item: { kind: 'pattern', name: 'engulfing', side: 'bearish', within: 3 } },
      ],
    ),
    exits: [exit(compare('gt', rsi, 80.5))],
    risk: { ...stopAndTarget(3, 6), trailingStop: { distancePercent: 1.5 } },
  }),
  strategyOf({ params, entry: entry(up, percentEquity(50)), exits: [exit(down)], risk: stopAndTarget(5, 10) }),
  strategyOf({
    params,
    entry: entry(down, percentEquity(99.5), 'short'),
    exits: [exit(up), exit(compare('lt', rsi, 30), { mode: 'percent_position', value: 50 })],
    risk: { stopLoss: { mode: 'atr', period: 14, multiplier: 2.5 }, timeStop: { maxBars: 30 } },
  }),
  strategyOf({
    entry: entry(
      {
        kind: 'and',
        items: [
          { kind: 'compare', op: 'lt', left: close, right: indicator('bbands', { length: 20, stdDev: 2 }, 'lower') },
          { kind: 'not', item: compare('gt', rsi, 40) },
        ],
      },
      percentEquity(100),
    ),
    exits: [exit(compare('gt', indicator('macd', { fast: 12, slow: 26, signal: 9 }, 'histogram'), 0))],
    risk: { trailingStop: { distancePercent: 2 } },
  }),
];

let series: readonly Snapshot[] | undefined;

/**
 * After how many calls V8 fully optimizes a function: by default, and while a thread warms up. Code that only one of
 * the strategies needs has been called some 500 times by the end. With the default, real backtests of that kind would
 * be slower until 2,500 of them have run.
 */
const USUAL_CALLS = 3_000;
const WARM_UP_CALLS = 400;

/** How many batches need the flag at the moment; it applies to every thread of the process. */
let openBatches = 0;

/**
 * Runs a batch with `run`, which resolves when the batch has ended. V8 optimizes early meanwhile, except during the
 * first batch: a thread loads the engine then, and kept compiled code is valid only for the flags it was made with.
 */
export async function runWarmUpBatch(batch: number, run: (batch: PoolBatch) => Promise<unknown>): Promise<void> {
  if (batch === 0) {
    await run(warmUpBatch(0));
    return;
  }
  if (openBatches++ === 0) optimizeAfter(WARM_UP_CALLS);
  try {
    await run(warmUpBatch(batch));
  } finally {
    if (--openBatches === 0) optimizeAfter(USUAL_CALLS);
  }
}

const optimizeAfter = (calls: number): void => setFlagsFromString(`--invocation-count-for-turbofan=${calls}`);

/** Sent like any other batch: objects that arrive in a message have other shapes than those that a thread makes. */
export function warmUpBatch(batch: number): PoolBatch {
  series ??= TIMEFRAMES.map(syntheticSnapshot);
  // Names that are new to the thread, so that the code that reads new names is compiled as well.
  const round = Math.floor(batch / ROUND_BATCHES);
  const snapshots = series.map((snapshot, index) => {
    const sha256 = hashOf(`${round} ${index}`);
    return { ...snapshot, meta: { ...snapshot.meta, sha256 } };
  });
  const owner = `${OWNER} ${round}`;
  const runs = Array.from({ length: BATCH_RUNS }, (_, index) => warmUpRun(batch * BATCH_RUNS + index, owner));
  return { snapshots, runs, ...(batch === COLLECTED_BATCH && { collectsGarbage: true }) };
}

export const isWarmUp = (owner: string): boolean => owner.startsWith(OWNER);

/** A text of the length of a hash. */
const hashOf = (text: string): string => Buffer.from(text).toString('hex').padStart(64, '0');

function warmUpRun(run: number, owner: string): PoolRun {
  const timeframe = (run >> 1) % TIMEFRAMES.length;
  const strategy = run % STRATEGIES.length;
  const hasParams = STRATEGIES[strategy].strategy.params !== undefined;
  const task: BacktestTask = {
    id: `warm-up ${run}`,
    strategyAst: STRATEGIES[strategy],
    settings: {},
    config: {
      timeframe: TIMEFRAMES[timeframe],
      signalInstrument: { symbol: SYMBOL },
      ...(run % 5 === 0 && { range: { start: null, end: null } }),
      initialBalance: 10_000 + run / 2,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
        },
        slippage: run % 3 === 0 ? { kind: 'fixed', unit: 'bps', value: 0.5 } : { kind: 'none' },
      },
      ...(hasParams && { params: { fast: 2 + (run % 9), slow: 40 + (run % 7) } }),
    },
    strategyHash: hashOf(`strategy ${strategy}`),
  };
  return { task, snapshots: [timeframe], owner, memoryBytes: 0 };
}

/** A walk of a few percent per bar, always the same (a linear congruential generator). Daily bars skip weekends. */
function syntheticSnapshot(timeframe: WarmUpTimeframe): Snapshot {
  const count = BARS[timeframe];
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(count));
  let state = 1;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const isDaily = timeframe === '1d';
  let price = 100;
  for (let row = 0; row < count; row++) {
    const bar = isDaily ? row + 2 * Math.floor(row / 5) : row;
    time[row] = MONDAY + bar * TIMEFRAME_MS[timeframe];
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.04;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.01);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.01);
    volume[row] = random() * 1_000;
  }
  const about: SnapshotAbout = {
    symbol: SYMBOL,
    timeframe,
    instrument: {
      symbol: SYMBOL,
      base: 'WARM',
      quote: 'USD',
      tickSize: isDaily ? null : 0.01,
      qtyStep: 1e-8,
      minNotional: 0,
      tradesAllDay: !isDaily,
      synthetic: true,
      ...(isDaily && { calendarBasis: 'given' }),
    },
  };
  const bytes = encodeSnapshot({ time, open, high, low, close, volume, series: new Map() }, about);
  const shared = allocateShared(bytes.length);
  bytesOf(shared).set(bytes);
  return { ...shared, meta: { ...about, sha256: '' } };
}

const MONDAY = Date.UTC(2000, 0, 3);
