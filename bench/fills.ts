// The fill loop: ns per bar, given signals as bits, from plain market orders to trailing stops.
import { Bench } from 'tinybench';
import type { Bars } from '../src/engine/bars/bars.ts';
import type { SimulationInput } from '../src/engine/simulate/simulation.ts';
import type { RiskRules } from '../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../src/engine/simulate/simulate.ts';
import { barCount, measure, needs, onDemand, rounds } from './measure.ts';
import { walkMarket } from './walk.ts';
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

function crossInput(bars: Bars, risk: RiskRules): SimulationInput {
  const { up, down } = crosses(bars.close);
  return inputOf(bars, {
    start: 30,
    entries: [entryAt(bars, up, { sizing: { mode: 'percent_equity', value: 100 } })],
    exits: [exitAt(bars, down)],
    risk,
    config: configOf({ execution: { feeModel: flatFee(0.0001), slippage: { kind: 'fixed', unit: 'bps', value: 1 } } }),
  });
}

/** The measured runs by name. */
function fillCases(count: number): Record<string, () => SimulationInput> {
  const bars = onDemand(() => walkMarket(count).base);
  const stop = { mode: 'percent', value: 2 } as const;
  const target = [takeProfit({ mode: 'percent', value: 4 })];
  const trail = { distance: { mode: 'percent', value: 1.5 }, activateAfterPercent: null } as const;
  return {
    'SMA 10/30, fees': () => crossInput(bars(), NO_RISK),
    'SMA 10/30, stop and target': () => crossInput(bars(), { ...NO_RISK, stopLoss: stop, takeProfits: target }),
    'SMA 10/30, stop, target, trailing': () =>
      crossInput(bars(), { ...NO_RISK, stopLoss: stop, takeProfits: target, trailingStop: trail }),
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
