// The strategies that the suites compile, evaluate and run: a crossing of averages, and a larger one.
import { runBacktest } from '../src/engine/backtest.ts';
import type { Market } from '../src/engine/bars/bars.ts';
import type { BacktestConfig } from '../src/engine/config.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { checkStrategy } from '../src/engine/language/check/checkStrategy.ts';
import { SYMBOL } from './walk.ts';

const sma = (length: number) => ({ kind: 'indicator', indicator: 'sma', args: { length } });
export const cross = (op: 'cross_up' | 'cross_down', fast = 10, slow = 30) => ({
  kind: 'cross',
  op,
  left: sma(fast),
  right: sma(slow),
});
const rsi = { kind: 'indicator', indicator: 'rsi', args: { length: 14 } };
export const close = { kind: 'market', field: 'close' };
const state = (field: string) => ({ kind: 'state', field });
const number = (value: number) => ({ kind: 'const', value });
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };

export const strategyOf = (entry: object, exit: object, more: object = {}): object => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: { kind: 'entry', action, ...entry },
    exits: [{ kind: 'exit', when: exit }],
    ...more,
  },
});

/** The payloads by name, as an author would send them. */
export const PAYLOADS: Readonly<Record<string, object>> = {
  'SMA 10 30': strategyOf({ trigger: cross('cross_up') }, cross('cross_down')),
  'EMA RSI ADX pattern, stop, target, trailing': strategyOf(
    {
      trigger: {
        kind: 'cross',
        op: 'cross_up',
        left: close,
        right: { kind: 'indicator', indicator: 'ema', args: { length: 20 } },
      },
      filters: [
        { kind: 'compare', op: 'lt', left: rsi, right: number(70) },
        {
          kind: 'compare',
          op: 'gt',
          left: { kind: 'indicator', indicator: 'adx', args: { length: 14 } },
          right: number(15),
        },
        { kind: 'not', item: { kind: 'pattern', name: 'engulfing', side: 'bearish', within: 3 } },
      ],
    },
    { kind: 'compare', op: 'gt', left: rsi, right: number(80) },
    {
      risk: {
        stopLoss: { mode: 'percent', value: 2 },
        takeProfits: [{ triggerPercent: 4, closePercent: 100 }],
        trailingStop: { distancePercent: 1.5 },
      },
    },
  ),
};

const TIGHT = strategyOf({ trigger: cross('cross_up', 3, 9) }, cross('cross_down', 3, 9), {
  risk: { stopLoss: { mode: 'percent', value: 0.4 }, takeProfits: [{ triggerPercent: 0.4, closePercent: 100 }] },
});

/**
 * What bench:peers runs beside vectorbt and backtesting.py; no bar of the walk can touch a stop on which it entered.
 */
export const PEER_PAYLOADS: Readonly<Record<string, object>> = {
  'SMA 10-30': PAYLOADS['SMA 10 30'],
  'SMA 10-30, stop and target': strategyOf({ trigger: cross('cross_up') }, cross('cross_down'), {
    risk: { stopLoss: { mode: 'percent', value: 2 }, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] },
  }),
  'SMA 10-30, trailing stop': strategyOf({ trigger: cross('cross_up') }, cross('cross_down'), {
    risk: { trailingStop: { distancePercent: 1.5 } },
  }),
};

const CONFIG: BacktestConfig = {
  timeframe: '1h',
  signalInstrument: { symbol: SYMBOL },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
    },
    slippage: { kind: 'fixed', unit: 'bps', value: 1 },
  },
};

/** The task of a payload, by its name. */
export const taskOf = (name: string): BacktestTask => taskFrom(name, PAYLOADS[name]);

/** Stops and targets so near that many bars touch both. */
export const tightTask = (): BacktestTask => taskFrom('Tight stop and target', TIGHT);

/** Leaves after five bars or with a loss of one percent, as its state says at each close. */
export const stateTask = (): BacktestTask =>
  taskFrom(
    'Exit by state',
    strategyOf(
      { trigger: cross('cross_up') },
      {
        kind: 'any',
        items: [
          { kind: 'compare', op: 'gte', left: state('position_bars_since_entry'), right: number(5) },
          { kind: 'compare', op: 'lt', left: state('position_unrealized_pnl_pct'), right: number(-1) },
        ],
      },
    ),
  );

/** Long with one unit while the mean of the last `fast` closes is above that of the last `slow`. */
export const crossOf = (fast: number, slow: number): BacktestTask =>
  taskFrom(
    `SMA ${fast} ${slow}, one unit`,
    strategyOf(
      // Of ten million bars, fees would leave nothing of an account to enter with.
      { trigger: cross('cross_up', fast, slow), action: { side: 'long', sizing: { mode: 'fixed', value: 1 } } },
      cross('cross_down', fast, slow),
    ),
  );

/** @throws Error when the payload, and therefore the bench, is invalid. */
export function taskFrom(name: string, payload: object): BacktestTask {
  const { compiled, issues } = checkStrategy({ strategyAst: payload, settings: {} });
  if (compiled === null) throw new Error(`${name}: ${JSON.stringify(issues)}`);
  const { strategyAst, strategyHash } = compiled;
  return { id: name, strategyAst, settings: {}, config: CONFIG, strategyHash };
}

/** Runs a backtest and, as a worker does once a result is encoded, gives its memory back. */
export function runAndGiveBack(task: BacktestTask, market: Market): void {
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  outcome.memory.giveBack();
}
