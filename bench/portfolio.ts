// Portfolios: whole runs of many instruments, from bars to result. A rotation of 500 instruments by months, and signals
// of 100 instruments that compete for ten slots; the first run over the bars, and one that reuses their columns.
import { Bench } from 'tinybench';
import { runBacktest } from '../src/engine/backtest.ts';
import type { Universe } from '../src/engine/bars/bars.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { close, cross, strategyOf, taskFrom } from './crossing.ts';
import { isShort, measure, needs, onDemand, rounds } from './measure.ts';
import { unseen, walkSnapshot } from './walk.ts';

export interface Case {
  readonly instruments: number;
  readonly bars: number;
  readonly timeframe: '1d' | '1h';
  readonly strategy: object;
  readonly portfolio?: { readonly slots: number };
}

/** Each month the tenth of the instruments with the largest return of a year, the calmer ones with larger weights. */
const ROTATION = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    allocation: {
      kind: 'allocation',
      when: { kind: 'schedule', every: 'month', on: 'last' },
      long: { by: { kind: 'indicator', indicator: 'roc', args: { length: 252 } }, topPercent: 10 },
      weights: {
        mode: 'inverse',
        by: { kind: 'rolling', op: 'std', period: 63, source: { kind: 'percent_change', bars: 1, source: close } },
      },
    },
  },
};

const SLOTS = strategyOf(
  {
    trigger: cross('cross_up'),
    rank: { kind: 'indicator', indicator: 'roc', args: { length: 24 } },
    action: { side: 'long', sizing: { mode: 'equal_slots' } },
  },
  cross('cross_down'),
);

/** bench:peers runs them beside vectorbt and bt. */
export const CASES: Readonly<Record<string, Case>> = {
  'monthly tenth by return of a year, inverse volatility': {
    instruments: isShort ? 50 : 500,
    bars: isShort ? 500 : 2_500,
    timeframe: '1d',
    strategy: ROTATION,
  },
  'crossing averages, ten slots by rank': {
    instruments: isShort ? 20 : 100,
    bars: isShort ? 1_000 : 10_000,
    timeframe: '1h',
    strategy: SLOTS,
    portfolio: { slots: 10 },
  },
};

const symbolOf = (index: number): string => `SYN-${String(index).padStart(3, '0')}`;

/** Random walks that begin together; no two are alike. */
export function walkUniverse({ instruments, bars, timeframe }: Case): Universe {
  return {
    instruments: Array.from({ length: instruments }, (_, index) => {
      const symbol = symbolOf(index);
      return createMarket([walkSnapshot(bars, timeframe, { symbol, seed: 23 + index })], symbol, timeframe);
    }),
  };
}

export function taskOfCase(name: string, { instruments, timeframe, strategy, portfolio }: Case): BacktestTask {
  const task = taskFrom(name, strategy);
  const { signalInstrument: _one, ...config } = task.config;
  const list = Array.from({ length: instruments }, (_, index) => ({ symbol: symbolOf(index) }));
  return { ...task, config: { ...config, timeframe, instruments: list, ...(portfolio && { portfolio }) } };
}

function run(task: BacktestTask, universe: Universe): void {
  const outcome = runBacktest(task, universe, null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  outcome.memory.giveBack();
}

export function suite(): Bench {
  const bench = new Bench(isShort ? rounds(3) : rounds(20));
  for (const [name, each] of Object.entries(CASES)) {
    const universe = onDemand(() => walkUniverse(each));
    const task = onDemand(() => taskOfCase(name, each));
    const count = each.instruments * each.bars;
    const first = (): void => run(task(), { instruments: universe().instruments.map(unseen) });
    bench.add(`portfolio/${name}, first run/${count}`, first, needs(universe, task));
    bench.add(`portfolio/${name}, columns kept/${count}`, () => run(task(), universe()), needs(universe, task));
  }
  return bench;
}

if (import.meta.main) await measure(suite());
