// Borrowing and dividends beside bt, which books them as holding costs and coupons (test/golden/bt_carry.py): the same
// equity at every close.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import { barsFrom, configOf, entryAt, exitAt, inputOf } from './simulate/input.ts';

interface Golden {
  readonly rate: number;
  /** Row of the ex-date, amount. */
  readonly dividends: readonly (readonly [number, number])[];
  readonly time: readonly number[];
  readonly open: readonly number[];
  readonly close: readonly number[];
  readonly runs: readonly {
    readonly side: 1 | -1;
    /** Rows at whose opens the position is entered and left. */
    readonly enter: number;
    readonly leave: number;
    readonly equity: readonly number[];
  }[];
}
const golden = JSON.parse(gunzipSync(readFileSync('test/golden/bt_carry.json.gz')).toString('utf8')) as Golden;

const { time, open, close } = golden;
const high = open.map((price, row) => Math.max(price, close[row]));
const low = open.map((price, row) => Math.min(price, close[row]));
const bars = barsFrom({ time, open, high, low, close }, '1d');

it.each(golden.runs)('a position on side $side, held from $enter to $leave', ({ side, enter, leave, equity }) => {
  const { equity: ours } = simulate(
    inputOf(bars, {
      entries: [entryAt(bars, [enter - 1], { side, sizing: { mode: 'fixed', value: 100 } })],
      exits: [exitAt(bars, [leave - 1])],
      config: configOf({
        initialBalance: 100_000,
        borrowRatePerYear: golden.rate,
        dividends: golden.dividends.map(([row, amount]) => ({ symbol: 'TEST', time: time[row], amount })),
      }),
    }),
  );
  expect(ours).toHaveLength(equity.length);
  equity.forEach((mark, row) => expect(ours[row]).toBeCloseTo(mark, 6));
});
