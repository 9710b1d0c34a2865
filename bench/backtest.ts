// Whole backtests, from a checked strategy to a hashed result: ms per run on small series, ns per bar on a million
// bars. `--against DIR` also measures another checkout, alternating between the two in separate processes; the best
// round counts.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bars, Instrument, Market } from '../src/engine/bars/bars.ts';
import type { runBacktest } from '../src/engine/backtest.ts';
import type { StrategyAst } from '../src/engine/language/grammar/ast.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { seededRandom } from '../test/support/scale.ts';

const HERE = resolve(import.meta.dirname, '..');
const ROUNDS = 5;

/** The part of the engine that is measured, from this checkout or another. */
interface Engine {
  readonly runBacktest: typeof runBacktest;
}

interface Case {
  readonly name: string;
  readonly unit: 'ms/run' | 'ns/bar';
  readonly runs: number;
  /** The cost of one run in `unit`, from the CPU microseconds of all runs. */
  readonly scale: (microseconds: number) => number;
  readonly run: (engine: Engine, index: number) => void;
}

const sma = (param: string): object => ({
  kind: 'indicator',
  indicator: 'sma',
  source: { kind: 'market', field: 'close' },
  args: { length: { param } },
});

/** Long with all equity while the fast mean of closes is above the slow one. */
export const SMA_CROSS = {
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
      trigger: { kind: 'cross', op: 'cross_up', left: sma('fast'), right: sma('slow') },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 100 } },
    },
    exits: [{ kind: 'exit', when: { kind: 'cross', op: 'cross_down', left: sma('fast'), right: sma('slow') } }],
  },
} as unknown as StrategyAst;

/** A random walk of about 0.6 % per bar. */
function randomBars(symbol: string, timeframe: '1h' | '1d', count: number): Bars {
  const random = seededRandom(7);
  const columns = Array.from({ length: 6 }, () => new Float64Array(new SharedArrayBuffer(8 * count)));
  const [time, open, high, low, close, volume] = columns;
  let price = 100;
  for (let row = 0; row < count; row++) {
    time[row] = Date.UTC(1980, 0, 1) + row * (timeframe === '1h' ? 3_600_000 : 86_400_000);
    open[row] = price;
    price *= 1 + (random() - 0.5) * 0.012;
    close[row] = price;
    high[row] = Math.max(open[row], price) * (1 + random() * 0.003);
    low[row] = Math.min(open[row], price) * (1 - random() * 0.003);
    volume[row] = random() * 1000;
  }
  const about = { symbol, timeframe, length: count, sha256: symbol, isResampled: false, partialBars: 0 };
  return { ...about, time, open, high, low, close, volume, series: new Map() };
}

function marketOf(bars: Bars): Market {
  const { symbol } = bars;
  const money = { base: 'SYN', quote: 'USD', tickSize: null, qtyStep: 1e-8, minNotional: 0 };
  const instrument: Instrument = { symbol, ...money, tradesAllDay: true, synthetic: true };
  return { base: bars, instrument, fine: undefined, bars: () => undefined };
}

const feeModel = {
  kind: 'tiered_maker_taker',
  tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
};

function taskOf(bars: Bars, params: Record<string, number>): BacktestTask {
  const { symbol, timeframe } = bars;
  const execution = { feeModel, slippage: { kind: 'none' } };
  const config = { timeframe, signalInstrument: { symbol }, initialBalance: 10_000, execution, params };
  return { id: 'bench', strategyAst: SMA_CROSS, settings: {}, config: config as never, strategyHash: 'sma-cross' };
}

function cases(): Case[] {
  const small = marketOf(randomBars('SYN-SMALL', '1d', 2000));
  const large = marketOf(randomBars('SYN-LARGE', '1h', 1_000_000));
  const plain = taskOf(small.base, {});
  const variants = Array.from({ length: 60 }, (_, index) =>
    taskOf(small.base, { fast: 5 + (index % 10), slow: 25 + Math.floor(index / 10) }),
  );
  const hourly = taskOf(large.base, {});
  const perRun = (microseconds: number): number => microseconds / 1e3;
  const perBar = (microseconds: number): number => (microseconds * 1e3) / large.base.length;
  return [
    {
      name: '2,000 daily bars, one strategy',
      unit: 'ms/run',
      runs: 1000,
      scale: perRun,
      run: (engine) => void engine.runBacktest(plain, small, null),
    },
    {
      name: '2,000 daily bars, 60 variants',
      unit: 'ms/run',
      runs: 1000,
      scale: perRun,
      run: (engine, index) => void engine.runBacktest(variants[index % variants.length], small, null),
    },
    {
      name: '1 M bars, SMA 10/30 with fees, nothing cached',
      unit: 'ns/bar',
      runs: 12,
      scale: perBar,
      // A different hash means another snapshot, whose columns, days and quality are all computed again.
      run: (engine, index) => {
        const time = index === 0 ? large.base.time : large.base.time.subarray(0);
        void engine.runBacktest(hourly, { ...large, base: { ...large.base, time, sha256: `run ${index}` } }, null);
      },
    },
    {
      name: '1 M bars, SMA 10/30 with fees, columns computed, snapshot cached',
      unit: 'ns/bar',
      runs: 12,
      scale: perBar,
      run: (engine, index) => {
        // The bars stay the same but the columns do not: no two runs have the same lengths, and all do the same work.
        const params = { fast: 10 + (index % 2), slow: 30 + Math.floor(index / 2) };
        void engine.runBacktest(taskOf(large.base, params), large, null);
      },
    },
    {
      name: '1 M bars, SMA 10/30 with fees, columns cached',
      unit: 'ns/bar',
      runs: 12,
      scale: perBar,
      run: (engine) => void engine.runBacktest(hourly, large, null),
    },
  ];
}

/**
 * The least CPU time of ten equal parts of the runs, in the unit of the case. Includes all threads, such as those of
 * the garbage collector and the compiler.
 */
function measure({ runs, scale, run }: Case, engine: Engine): number {
  const parts = Math.min(10, runs);
  const each = Math.floor(runs / parts);
  let best = Infinity;
  let index = 0;
  for (let part = 0; part < parts; part++) {
    const before = process.cpuUsage();
    for (let count = 0; count < each; count++) run(engine, index++);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / each);
  }
  return scale(best);
}

async function measureAll(root: string, only: string): Promise<Record<string, number>> {
  const engine = (await import(resolve(root, 'src/engine/index.ts'))) as Engine;
  const chosen = cases().filter(({ name }) => name.includes(only));
  return Object.fromEntries(chosen.map((each) => [`${each.name} (${each.unit})`, measure(each, engine)]));
}

function compare(roots: readonly string[], only: string): void {
  const best: Record<string, number>[] = roots.map(() => ({}));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, root] of roots.entries()) {
      const args = [...process.execArgv, import.meta.filename, '--child', root, '--only', only];
      const found = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<string, number>;
      for (const [name, value] of Object.entries(found))
        best[index][name] = Math.min(best[index][name] ?? Infinity, value);
    }
  }
  for (const name of Object.keys(best[0]))
    console.log(`${name}: ${best.map((found) => found[name].toFixed(3)).join(' | ')}`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { against: { type: 'string' }, child: { type: 'string' }, only: { type: 'string', default: '' } },
  });
  if (values.child !== undefined) console.log(JSON.stringify(await measureAll(values.child, values.only)));
  else compare(values.against === undefined ? [HERE] : [resolve(values.against), HERE], values.only);
}
