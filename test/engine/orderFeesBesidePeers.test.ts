// Fees per order beside backtesting.py and vectorbt: the same orders on the same bars give the same fees and profits
// (test/golden/order_fees.py).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { FeeModel } from '../../src/engine/config.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import { barsOf, configOf, entryAt, exitAt, flatFee, inputOf, type Ohlc } from './simulate/input.ts';

interface PeerRun {
  readonly peer: string;
  readonly model: string;
  readonly side: 1 | -1;
  /** Row of the entry signal, row of the exit signal or null, size. */
  readonly orders: readonly (readonly [number, number | null, number])[];
  readonly sizes: readonly number[];
  readonly entries: readonly number[];
  readonly exits: readonly number[];
  readonly fees: readonly number[];
  readonly pnl: readonly number[];
  readonly equity: number;
}
interface Golden {
  readonly cash: number;
  readonly models: Readonly<Record<string, { readonly rate: number } & Readonly<Record<string, number | null>>>>;
  readonly bars: Readonly<Record<'open' | 'high' | 'low' | 'close', readonly number[]>>;
  readonly runs: readonly PeerRun[];
}
const golden = JSON.parse(gunzipSync(readFileSync('test/golden/order_fees.json.gz')).toString('utf8')) as Golden;

const { open, high, low, close } = golden.bars;
const bars = barsOf(
  open.map((price, row): Ohlc => [price, high[row], low[row], close[row]]),
  '1d',
);

function feeModelOf(name: string): FeeModel {
  const { rate, ...members } = golden.models[name];
  const given = Object.entries(members).filter(([, value]) => value !== null);
  return { ...flatFee(rate), ...Object.fromEntries(given) };
}

it.each(golden.runs)('$peer charges the orders of model $model on side $side alike', (run) => {
  const entries = run.orders.map(([row, , value]) =>
    entryAt(bars, [row], { side: run.side, sizing: { mode: 'fixed', value } }),
  );
  const exits = [
    exitAt(
      bars,
      run.orders.flatMap(([, row]) => row ?? []),
    ),
  ];
  const config = configOf({ initialBalance: golden.cash, execution: { feeModel: feeModelOf(run.model) } });
  const { trades, finalBalance } = simulate(inputOf(bars, { entries, exits, config }));
  expect(trades.map(({ quantity, entryRow, exitRow }) => [quantity, entryRow, exitRow])).toEqual(
    run.sizes.map((size, at) => [size, run.entries[at], run.exits[at]]),
  );
  expect(trades.length).toBeGreaterThan(20);
  // backtesting.py closes the last position at another price.
  const compared = run.peer === 'vectorbt' ? trades.length : trades.length - 1;
  trades.slice(0, compared).forEach(({ entryFee, exitFee, pnl }, at) => {
    expect(entryFee + exitFee).toBeCloseTo(run.fees[at], 9);
    expect(pnl).toBeCloseTo(run.pnl[at], 8);
  });
  if (run.peer === 'vectorbt') expect(finalBalance).toBeCloseTo(run.equity, 7);
});
