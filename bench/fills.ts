// The fill loop: ns per bar, given signals as bits, for every kind of order, level and exit.
import { Bench } from 'tinybench';
import { prepareRun } from '../src/engine/backtest.ts';
import type { Bars, Market } from '../src/engine/bars/bars.ts';
import { createMarket } from '../src/engine/bars/market.ts';
import { ColumnStore } from '../src/engine/evaluate/columnStore.ts';
import type { EntryRule } from '../src/engine/evaluate/tradingRules.ts';
import type { SimulationInput } from '../src/engine/simulate/simulation.ts';
import { simulate } from '../src/engine/simulate/simulate.ts';
import type { BacktestTask } from '../src/engine/task.ts';
import { stateTask, tightTask } from './crossing.ts';
import { barCount, measure, needs, onDemand, rounds } from './measure.ts';
import { SYMBOL, walkMarket, walkSnapshot } from './walk.ts';
import { configOf, entryAt, exitAt, flatFee, inputOf, NO_RISK, takeProfit } from '../test/engine/simulate/input.ts';

/** Rows on which the mean of 10 closes crosses that of 30. */
function crosses(close: Float64Array): { up: number[]; down: number[] } {
  const up: number[] = [];
  const down: number[] = [];
  let fast = 0;
  let slow = 0;
  let wasAbove = false;
  for (let row = 0; row < close.length; row++) {
    fast += close[row] - (row >= 10 ? close[row - 10] : 0);
    slow += close[row] - (row >= 30 ? close[row - 30] : 0);
    if (row < 30) continue;
    const isAbove = fast * 3 > slow;
    if (isAbove !== wasAbove) (isAbove ? up : down).push(row);
    wasAbove = isAbove;
  }
  return { up, down };
}

const percentEquity = (value: number) => ({ mode: 'percent_equity', value }) as const;
const percent = (value: number) => ({ mode: 'percent', value }) as const;

/** Long while the shorter mean is above the longer one. */
function crossInput(
  bars: Bars,
  { entry, ...more }: Partial<SimulationInput> & { readonly entry?: Partial<EntryRule> } = {},
): SimulationInput {
  const { up, down } = crosses(bars.close);
  return inputOf(bars, {
    start: 30,
    entries: [entryAt(bars, up, { sizing: percentEquity(100), ...entry })],
    exits: [exitAt(bars, down)],
    config: configOf({ execution: { feeModel: flatFee(0.0001), slippage: { kind: 'fixed', unit: 'bps', value: 1 } } }),
    ...more,
  });
}

/** The order of an entry so far from the close that `times` of it is its price. */
const pending = (type: 'limit' | 'stop', { close }: Bars, times: number): Partial<EntryRule> => ({
  order: { type, price: { kind: 'column', values: close.map((price) => price * times) }, expireBars: 10 },
});

/** The measured runs by name: what the loop does for each kind of order, level and exit. */
function fillCases(count: number): Record<string, () => SimulationInput> {
  const market = onDemand(() => walkMarket(count));
  const bars = onDemand(() => market().base);
  const stopAndTarget = { ...NO_RISK, stopLoss: percent(2), takeProfits: [takeProfit(percent(4))] };
  const trail = { distance: percent(1.5), activateAfterPercent: null } as const;
  const ladder = [
    takeProfit(percent(1), 50, { moveStopToBreakeven: true }),
    takeProfit(percent(2), 50, { closeBasis: 'remaining' }),
    takeProfit(percent(4)),
  ];
  const everyRow = Array.from({ length: count }, (_, row) => row);
  // An order waits on ten bars; one per bar would measure how garbage is collected.
  const everyTwelfth = everyRow.filter((row) => row % 12 === 0);
  const ofStrategy = (task: BacktestTask, on: () => Market) => () => {
    const run = prepareRun(task, on(), new ColumnStore(1 << 30), false);
    if (!run.ok) throw new Error(JSON.stringify(run));
    return run.input;
  };
  const drilled = onDemand(() => createMarket([walkSnapshot(count * 4, '15m')], SYMBOL, '1h'));
  return {
    'SMA 10/30, fees': () => crossInput(bars()),
    'SMA 10/30, stop and target': () => crossInput(bars(), { risk: stopAndTarget }),
    'SMA 10/30, stop, target, trailing': () => crossInput(bars(), { risk: { ...stopAndTarget, trailingStop: trail } }),
    'SMA 10/30, trailing alone': () => crossInput(bars(), { risk: { ...NO_RISK, trailingStop: trail } }),
    'SMA 10/30, ladder with break-even': () =>
      crossInput(bars(), { risk: { ...NO_RISK, stopLoss: percent(2), takeProfits: ladder } }),
    'SMA 10/30, time stop': () => crossInput(bars(), { exits: [], risk: { ...NO_RISK, timeStop: { maxBars: 12 } } }),
    'SMA 10/30, limit entries': () => crossInput(bars(), { entry: pending('limit', bars(), 0.995) }),
    'SMA 10/30, stop entries': () => crossInput(bars(), { entry: pending('stop', bars(), 1.005) }),
    'limit entry that never fills': () =>
      inputOf(bars(), { entries: [entryAt(bars(), everyTwelfth, pending('limit', bars(), 0.5))] }),
    'three positions, stop and target': () =>
      inputOf(bars(), {
        entries: [entryAt(bars(), everyRow, { sizing: percentEquity(30) })],
        maxConcurrentPositions: 3,
        risk: stopAndTarget,
      }),
    'reads state at every close': ofStrategy(stateTask(), market),
    'drilled into 15m': ofStrategy(tightTask(), drilled),
    'never a signal': () => inputOf(bars(), { entries: [entryAt(bars(), [])] }),
  };
}

export function suite(count = barCount(1_000_000)): Bench {
  const bench = new Bench(rounds(20));
  for (const [name, make] of Object.entries(fillCases(count))) {
    const input = onDemand(make);
    bench.add(`fills/${name}/${count}`, () => void simulate(input()), needs(input));
  }
  return bench;
}

if (import.meta.main) await measure(suite());
