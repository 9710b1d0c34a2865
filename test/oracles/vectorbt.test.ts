// vectorbt's next_open scenarios without stops, and its plain close ones: trades and equity, the last open trade apart.
import { describe, expect, it } from 'vitest';
import type { Bars, Timeframe } from '../../src/engine/bars/bars.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import type { EntryRule, SizingRule } from '../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import { barsFrom, configOf, entryAt, exitAt, flatFee, INSTRUMENT, inputOf } from '../engine/simulate/input.ts';
import { readSeries } from './series.ts';
import { readOracle } from './shared.ts';

interface Scenario {
  readonly scenario: string;
  readonly exec: 'close' | 'next_open';
  readonly direction: 'longonly' | 'shortonly' | 'both';
  readonly params: {
    readonly fees?: number;
    readonly slippage?: number;
    readonly size?: number;
    readonly size_type?: 'value' | 'percent';
    readonly size_granularity?: number;
  };
  readonly init_cash: number;
  readonly trades: readonly {
    readonly direction: string;
    readonly status: 'open' | 'closed';
    readonly size: number;
    readonly entryBar: number;
    readonly exitBar: number;
    readonly entryPrice: number;
    readonly exitPrice: number;
    readonly entryFees: number;
    readonly exitFees: number;
    readonly pnl: number;
  }[];
  readonly equityStep: number;
  readonly equity: readonly number[];
}
interface Oracle {
  readonly signals: { readonly crossUp: readonly number[]; readonly crossDown: readonly number[] };
  readonly scenarios: readonly Scenario[];
}

/** Without stops, fixed fees and accumulation, whose rules are not ours. */
const COMPARED = [
  'close_long_full_nocost',
  'close_long_full_fees',
  'nextopen_long_full_fees',
  'nextopen_long_fees_slippage',
  'nextopen_short',
  'nextopen_both_reverse',
  'nextopen_long_value1000',
  'nextopen_long_pct50',
  'nextopen_long_amount_granular',
];

function sizingOf({ size, size_type }: Scenario['params']): SizingRule {
  if (size === undefined) return { mode: 'percent_equity', value: 100 };
  if (size_type === 'value') return { mode: 'fixed_cash', value: size };
  if (size_type === 'percent') return { mode: 'percent_equity', value: size * 100 };
  return { mode: 'fixed', value: size };
}

function inputFor(bars: Bars, { crossUp, crossDown }: Oracle['signals'], scenario: Scenario): SimulationInput {
  const { params, direction } = scenario;
  const sizing = sizingOf(params);
  const long = entryAt(bars, crossUp, { sizing, conflict: 'reverse' });
  const short = entryAt(bars, crossDown, { sizing, side: -1, conflict: 'reverse' });
  let entries: EntryRule[] = [long, short];
  if (direction === 'longonly') entries = [long];
  if (direction === 'shortonly') entries = [short];
  const exits = [];
  if (direction === 'longonly') exits.push(exitAt(bars, crossDown));
  if (direction === 'shortonly') exits.push(exitAt(bars, crossUp));
  return inputOf(bars, {
    entries,
    exits,
    instrument: { ...INSTRUMENT, qtyStep: params.size_granularity ?? 0 },
    config: configOf({
      initialBalance: scenario.init_cash,
      execution: {
        orderTiming: scenario.exec === 'close' ? 'bar_close' : 'next_open',
        feeModel: flatFee(params.fees ?? 0),
        slippage: { kind: 'fixed', unit: 'bps', value: (params.slippage ?? 0) * 1e4 },
      },
    }),
  });
}

const FILES: readonly [string, Timeframe][] = [
  ['GOOG-1d', '1d'],
  ['EURUSD-1h', '1h'],
  ['BTCUSDT-1h', '1h'],
];
const near = (value: number) => expect.closeTo(value, 9 - Math.ceil(Math.log10(Math.max(1, Math.abs(value)))));

for (const [name, timeframe] of FILES) {
  const oracle = readOracle<Oracle>(`vectorbt-${name}`);
  const bars = barsFrom(readSeries(name), timeframe);

  describe(`the engine, compared with vectorbt on ${name},`, () => {
    it.each(
      oracle.scenarios
        .filter(({ scenario }) => COMPARED.includes(scenario))
        .map((each) => [each.scenario, each] as const),
    )('gives for %s every closed trade and the equity between them', (_, scenario) => {
      const result = simulate(inputFor(bars, oracle.signals, scenario));
      const closed = scenario.trades.filter(({ status }) => status === 'closed');
      const ours = result.trades.filter(({ exitReason }) => exitReason !== 'end_of_data');
      expect(
        ours.map((trade) => ({
          side: trade.side > 0 ? 'long' : 'short',
          entryRow: trade.entryRow,
          exitRow: trade.exitRow,
          quantity: trade.quantity,
          entryPrice: trade.entryPrice,
          exitPrice: trade.exitPrice,
          entryFee: trade.entryFee,
          exitFee: trade.exitFee,
          pnl: trade.pnl,
        })),
      ).toEqual(
        closed.map((trade) => ({
          side: trade.direction,
          entryRow: trade.entryBar,
          exitRow: trade.exitBar,
          quantity: near(trade.size),
          entryPrice: near(trade.entryPrice),
          exitPrice: near(trade.exitPrice),
          entryFee: near(trade.entryFees),
          exitFee: near(trade.exitFees),
          pnl: near(trade.pnl),
        })),
      );
      scenario.equity.forEach((equity, index) => {
        const row = index * scenario.equityStep;
        // Their last trade stays open, ours is closed at the last close with its costs.
        if (row >= bars.length - 1) return;
        expect(result.equity[row], `equity at ${row}`).toEqual(near(equity));
      });
    });
  });
}
