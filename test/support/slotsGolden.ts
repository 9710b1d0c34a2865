// Slots as vectorbt trades them (test/golden/slots.py), and how far the trades and the equity of ours lie from them.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { runBacktest } from '../../src/engine/backtest.ts';
import { createUniverse } from '../../src/engine/index.ts';
import type { TradeRow } from '../../src/engine/report/tradeTable.ts';
import { flatFee } from '../engine/simulate/input.ts';
import { astOf, cross, entry, exit, indicator, sma } from './builders.ts';
import { snapshotsOf, type PeerUniverse } from './peerUniverses.ts';

export interface PeerSlots {
  /** The seed of a universe, or its symbols. */
  readonly universe: number | readonly string[];
  readonly timeframe?: PeerUniverse['timeframe'];
  readonly sizing: 'equal_slots' | 'fixed_cash';
  readonly slots: number;
  /** Of a position with `fixed_cash`. */
  readonly value: number;
  readonly fee: number;
  /** Of each trade, sorted by entry and instrument; rows of the axis. */
  readonly instruments: readonly number[];
  readonly entries: readonly number[];
  readonly exits: readonly number[];
  readonly sizes: readonly number[];
  /** At every `step`th close. */
  readonly equity: readonly number[];
}
interface Golden {
  readonly fast: number;
  readonly slow: number;
  /** Of the return that ranks. */
  readonly lookback: number;
  readonly step: number;
  readonly seeded: readonly PeerSlots[];
  readonly own: readonly PeerSlots[];
  readonly shared: readonly PeerSlots[];
}

export const slotsGolden = JSON.parse(gunzipSync(readFileSync('test/golden/slots.json.gz')).toString('utf8')) as Golden;

/** Each trade in words, to compare them as text; sizes are compared apart. */
export interface ComparedSlots {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** The largest relative difference of a size, and of the equity. */
  readonly largestDifference: number;
}

export function compareSlots(peer: PeerSlots, universe: PeerUniverse): ComparedSlots {
  const { axis, instruments } = universe;
  const symbols = instruments.map(({ symbol }) => symbol);
  const bars = createUniverse(snapshotsOf(universe), symbols, universe.timeframe);
  const outcome = runBacktest(taskOf(peer, symbols, universe.timeframe), bars, null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  const rowAt = new Map(axis.map((time, row) => [time, row]));
  const rowOf = (instrument: number, bar: number): number => rowAt.get(instruments[instrument].time[bar])!;
  const trades = (outcome.trades as (TradeRow & { readonly symbol: string })[])
    .map((trade) => {
      const instrument = symbols.indexOf(trade.symbol);
      const [from, to] = [rowOf(instrument, trade.entryBar), rowOf(instrument, trade.exitBar)];
      return { instrument, from, to, quantity: trade.quantity };
    })
    .sort((a, b) => a.from - b.from || a.instrument - b.instrument);
  const { input, portfolio } = outcome.report;
  const marks = portfolio!.simulation.equity;
  const far = (ours: number, theirs: number): number => Math.abs(ours - theirs) / theirs;
  const differences = [
    ...peer.sizes.map((size, at) => far(trades[at]?.quantity, size)),
    ...peer.equity.map((theirs, at) => {
      const row = at * slotsGolden.step;
      // vectorbt does not sell at the end of the run, where ours pays the fees of that.
      if (row === axis.length - 1) return 0;
      return far(row < input.start ? 10_000 : marks[row - input.start], theirs);
    }),
  ];
  const shown = (instrument: number, from: number, to: number): string => `${symbols[instrument]} ${from} to ${to}`;
  return {
    ours: trades.map(({ instrument, from, to }) => shown(instrument, from, to)),
    theirs: peer.instruments.map((instrument, at) => shown(instrument, peer.entries[at], peer.exits[at])),
    // A missing number is infinitely far.
    largestDifference: Math.max(...differences.map((each) => (Number.isNaN(each) ? Infinity : each))),
  };
}

function taskOf(
  { sizing, slots, value, fee }: PeerSlots,
  symbols: readonly string[],
  timeframe: PeerUniverse['timeframe'],
) {
  const { fast, slow, lookback } = slotsGolden;
  const strategyAst = astOf({
    entry: entry(cross(sma(fast), 'cross_up', sma(slow)), {
      rank: indicator('roc', { length: lookback }),
      action: { side: 'long', sizing: { mode: sizing, ...(sizing === 'fixed_cash' && { value }) } },
    }),
    exits: [exit(cross(sma(fast), 'cross_down', sma(slow)))],
  });
  const config = {
    timeframe,
    initialBalance: 10_000,
    instruments: symbols.map((symbol) => ({ symbol })),
    execution: { slippage: { kind: 'none' as const }, feeModel: flatFee(fee) },
    portfolio: { slots },
  };
  return { id: 'slots', strategyAst, settings: {}, config, strategyHash: 'hash' };
}
