// Warming up: synthetic backtests that a new thread runs while it has nothing else to do, so that the first real ones
// find compiled code. A thread interprets a function until it has run it some hundred times.
import { encodeSnapshot, type Snapshot } from '../bars/arrow.ts';
import { DAY_MS, type Market } from '../bars/bars.ts';
import { createMarket } from '../bars/market.ts';
import { allocateShared, bytesOf } from '../kernels/simd/sharedMemory.ts';
import { runBacktest } from '../backtest.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { BacktestTask } from '../task.ts';
import { encodeResult } from './detail.ts';

/** Runs of one slice: a task that arrives meanwhile waits for about thirty milliseconds. */
const SLICE_RUNS = 20;

const BARS = 2_000;
const SYMBOL = 'WARM-UP';
const OWNER = 'warm-up';

const sma = (param: string) => ({ kind: 'indicator', indicator: 'sma', args: { length: { param } } });
const cross = (op: string) => ({ kind: 'cross', op, left: sma('fast'), right: sma('slow') });
const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } };
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };
const params = [
  { name: 'fast', type: 'int', default: 5 },
  { name: 'slow', type: 'int', default: 50 },
];
const strategyOf = (strategy: object): StrategyAst =>
  ({ protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', params, ...strategy } }) as StrategyAst;

/** What most runs do: a crossing of averages, and entries with a filter, a stop and a target. */
const STRATEGIES = [
  strategyOf({
    entry: { kind: 'entry', trigger: cross('cross_up'), action },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
  }),
  strategyOf({
    entry: {
      kind: 'entry',
      trigger: cross('cross_up'),
      filters: [{ kind: 'compare', op: 'lt', left: rsi, right: { kind: 'const', value: 70 } }],
      action,
    },
    risk: {
      stopLoss: { mode: 'percent', value: 4 },
      takeProfits: [{ triggerPercent: 8, closePercent: 100 }],
    },
  }),
];

let market: Market | undefined;

/** Runs one slice of WARM_UP_SLICES. */
export function warmUp(slice: number): void {
  market ??= createMarket([syntheticSnapshot()], SYMBOL, '1d');
  const control = { isCancelled: () => false, report: () => {} };
  for (let run = slice * SLICE_RUNS; run < (slice + 1) * SLICE_RUNS; run++) {
    const outcome = runBacktest(taskOf(run), market, control);
    if (!outcome.ok) throw new Error(`A warm-up run failed: ${outcome.error.message}`);
    encodeResult(outcome);
  }
}

function taskOf(run: number): BacktestTask {
  return {
    id: `warm-up ${run}`,
    strategyAst: STRATEGIES[run % 4 === 3 ? 1 : 0],
    settings: {},
    config: {
      timeframe: '1d',
      signalInstrument: { symbol: SYMBOL },
      initialBalance: 10_000,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
        },
        slippage: { kind: 'none' },
      },
      params: { fast: 2 + (run % 30), slow: 40 + (run % 7) },
    },
    strategyHash: 'warm-up',
    owner: OWNER,
  };
}

/** A walk of a few percent per bar, always the same (a linear congruential generator). */
function syntheticSnapshot(): Snapshot {
  const [time, open, high, low, close, volume] = Array.from({ length: 6 }, () => new Float64Array(BARS));
  let state = 1;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  let price = 100;
  for (let row = 0; row < BARS; row++) {
    time[row] = Date.UTC(2000, 0, 1) + row * DAY_MS;
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.04;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.01);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.01);
    volume[row] = random() * 1_000;
  }
  const about = {
    symbol: SYMBOL,
    timeframe: '1d',
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
  return { ...shared, meta: { ...about, sha256: 'warm-up' } };
}
