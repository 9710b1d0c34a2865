// What rules may read of their position and account, field by field, at a close and before its orders.
import { describe, expect, it } from 'vitest';
import { STATE_FIELDS } from '../../../src/engine/language/grammar/ast.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { StatefulCondition, StateField, StateView } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import {
  barsFrom,
  barsOf,
  configOf,
  entryAt,
  exitAt,
  flatFee,
  inputOf,
  NO_RISK,
  type Ohlc,
  stateCondition,
} from './input.ts';

type Snapshot = Partial<Record<StateField, number>>;

function snapshotOf(view: StateView): Snapshot {
  return Object.fromEntries(STATE_FIELDS.map((field, index) => [field, view.read(index)]));
}

/** A rule that is never true and writes down what it sees at every close. */
function observer(seen: Map<number, Snapshot>): { kind: 'stateful'; condition: StatefulCondition } {
  return {
    kind: 'stateful',
    condition: {
      gate: null,
      hasAccountHistory: false,
      hasPositionHistory: true,
      newMemory: () => [],
      recordAccount: () => undefined,
      recordPosition: (row, state) => void seen.set(row, snapshotOf(state)),
      test: () => 0,
    },
  };
}

const flat = (price: number): Ohlc => [price, price, price, price];

/** What entries see at each row. */
function seenBy(input: SimulationInput): Map<number, Snapshot> {
  const seen = new Map<number, Snapshot>();
  const watching = { ...input.entries[0], id: 'observer', signal: observer(seen) };
  simulate({ ...input, entries: [...input.entries, watching] });
  return seen;
}

describe('state fields', () => {
  const rows: Ohlc[] = [flat(100), [100, 120, 90, 110], [110, 130, 80, 120], flat(120), flat(130), flat(140)];
  const bars = barsOf(rows);
  const input = inputOf(bars, {
    entries: [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 20 } })],
    exits: [
      exitAt(bars, [1], { action: { mode: 'percent_position', value: 25 } }),
      exitAt(bars, [3], { action: { mode: 'percent_position', value: 100 } }),
    ],
    risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: 50 } },
    config: configOf({ execution: { feeModel: flatFee(0.01) }, leverage: 2 }),
  });
  const seen = seenBy(input);

  it('without a position are 0 for exists, side and size, and missing for the rest of the position', () => {
    expect(seen.get(0)).toMatchObject({
      position_exists: 0,
      position_side: 0,
      position_size: 0,
      position_entry_price: NaN,
      position_average_price: NaN,
      position_stop_price: NaN,
      position_bars_since_exit: NaN,
    });
    expect(seen.get(0)).toMatchObject({
      account_balance: 10_000,
      account_equity: 10_000,
      account_drawdown: 0,
      last_trade_pnl: NaN,
      last_entry_price: NaN,
    });
  });

  it('tell the position at the close, before this close acts', () => {
    expect(seen.get(1)).toMatchObject({
      position_exists: 1,
      position_side: 1,
      position_size: 20,
      position_entry_price: 100,
      position_unrealized_pnl: 200,
      position_unrealized_pnl_pct: 10,
      position_realized_pnl: 0,
      position_bars_since_entry: 0,
      position_highest_since_entry: 120,
      position_lowest_since_entry: 90,
      position_mfe_pct: 20,
      position_mae_pct: -10,
      position_stop_price: 50,
      last_entry_price: 100,
      open_positions_count: 1,
    });
  });

  it('tell the account: balance, equity, exposure and margin', () => {
    expect(seen.get(1)).toMatchObject({
      account_balance: 9_980,
      account_equity: 10_180,
      account_gross_exposure: 2_200,
      account_used_margin: 1_000,
      account_available_collateral: 8_980,
      account_margin_utilization: (1_000 / 10_180) * 100,
    });
  });

  it('count a partial exit as realized, and the position as one trade once it is closed', () => {
    // 5 units sold at 110: 50 − 5 entry fee − 5.5 exit fee.
    expect(seen.get(2)).toMatchObject({
      position_size: 15,
      position_realized_pnl: 39.5,
      trades_count_total: 0,
      last_exit_price: 110,
    });
    // 15 more at 130: 450 − 15 − 19.5.
    expect(seen.get(4)).toMatchObject({
      position_exists: 0,
      trades_count_total: 1,
      trades_count_today: 1,
      wins_streak: 1,
      losses_streak: 0,
      last_exit_price: 130,
      position_bars_since_exit: 0,
    });
    expect(seen.get(4)!.last_trade_pnl).toBeCloseTo(39.5 + 415.5, 9);
    expect(seen.get(4)!.last_trade_pnl_pct).toBeCloseTo(((39.5 + 415.5) / 2_000) * 100, 9);
    expect(seen.get(5)).toMatchObject({ position_bars_since_exit: 1 });
  });

  it('measure drawdown from the highest equity so far, in points', () => {
    const falling = barsOf([flat(100), flat(100), flat(200), flat(150), flat(180)]);
    const fields = seenBy(
      inputOf(falling, { entries: [entryAt(falling, [0], { sizing: { mode: 'fixed', value: 50 } })] }),
    );
    expect(fields.get(3)!.account_drawdown).toBeCloseTo((2_500 / 15_000) * 100, 12);
    expect(fields.get(4)!.account_drawdown).toBeCloseTo((1_000 / 15_000) * 100, 12);
    expect(fields.get(4)!.account_max_drawdown).toBeCloseTo((2_500 / 15_000) * 100, 12);
  });

  it('measure drawdown from marks, which the fees of orders at that close have lowered, and from this close', () => {
    const bars = barsOf([flat(100), flat(200), flat(150), flat(220), flat(220)]);
    const config = configOf({ execution: { orderTiming: 'bar_close', feeModel: flatFee(0.1) } });
    const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 50 } })];
    const exits = [exitAt(bars, [1], { action: { mode: 'percent_position', value: 50 } })];
    const fields = seenBy(inputOf(bars, { entries, exits, config }));
    // 10,000 - 500 for the entry + 5,000. The exit of 25 units at that close costs 500: the highest mark is 14,000.
    expect(fields.get(1)).toMatchObject({ account_equity: 14_500, account_drawdown: 0 });
    expect(fields.get(1)!.account_max_drawdown).toBeCloseTo((500 / 10_000) * 100, 9);
    expect(fields.get(2)!.account_equity).toBe(12_750);
    expect(fields.get(2)!.account_drawdown).toBeCloseTo((1_250 / 14_000) * 100, 9);
    expect(fields.get(2)!.account_max_drawdown).toBeCloseTo((1_250 / 14_000) * 100, 9);
    expect(fields.get(3)!.account_drawdown).toBe(0);
  });

  it('measure the day from the last mark of an earlier UTC day, and count its closed trades', () => {
    const hour = 3_600_000;
    const time = [20, 21, 22, 24, 25, 26].map((at) => Date.UTC(2024, 0, 1) + at * hour);
    const prices = [100, 100, 120, 150, 150, 150];
    const days = barsFrom({ time, open: prices, high: prices, low: prices, close: prices }, '1h');
    const entries = [entryAt(days, [0], { sizing: { mode: 'fixed', value: 10 } })];
    const fields = seenBy(inputOf(days, { entries, exits: [exitAt(days, [3])] }));
    expect(fields.get(2)!.account_day_pnl_pct).toBeCloseTo(2, 9);
    expect(fields.get(3)!.account_day_pnl_pct).toBeCloseTo((10_500 / 10_200 - 1) * 100, 9);
    expect(fields.get(5)).toMatchObject({ trades_count_today: 1 });
  });

  it('measure the first day from the initial balance, although the first close has cost a fee', () => {
    const days = barsOf([flat(100), flat(100), flat(101)]);
    const config = configOf({ execution: { orderTiming: 'bar_close', feeModel: flatFee(0.01) } });
    const entries = [entryAt(days, [0], { sizing: { mode: 'fixed', value: 10 } })];
    const fields = seenBy(inputOf(days, { entries, config }));
    expect(fields.get(1)!.account_day_pnl_pct).toBeCloseTo(-0.1, 9);
    expect(fields.get(2)!.account_day_pnl_pct).toBeCloseTo(0, 9);
  });

  it('give an exit the position being tested, an entry the latest opened', () => {
    const prices = barsOf([flat(100), flat(100), flat(110), flat(120), flat(130)]);
    const exitSeen: number[] = [];
    const field = STATE_FIELDS.indexOf('position_entry_price');
    const condition = stateCondition((row, state) => {
      if (row === 3) exitSeen.push(state.read(field));
      return 0;
    });
    const two = inputOf(prices, {
      entries: [entryAt(prices, [0, 1])],
      exits: [{ ...exitAt(prices, []), when: { kind: 'stateful', condition } }],
      maxConcurrentPositions: 2,
    });
    const seen = seenBy(two);
    expect(seen.get(1)).toMatchObject({ position_average_price: 100 });
    expect(seen.get(3)).toMatchObject({
      position_entry_price: 110,
      position_average_price: 105,
      open_positions_count: 2,
    });
    expect(exitSeen).toEqual([100, 110]);
  });
});

describe('stateful rules', () => {
  it('are asked only where their gate is set, and unknown does not trade', () => {
    const bars = barsOf([flat(1), flat(1), flat(1), flat(1), flat(1)]);
    const asked: number[] = [];
    const condition: StatefulCondition = {
      gate: Uint32Array.of(0b01010),
      hasAccountHistory: false,
      hasPositionHistory: false,
      newMemory: () => [],
      recordAccount: () => undefined,
      recordPosition: () => undefined,
      test: (row) => {
        asked.push(row);
        return row === 1 ? 2 : 1;
      },
    };
    const entry = { ...entryAt(bars, []), signal: { kind: 'stateful', condition } } as const;
    const { counts, trades } = simulate(inputOf(bars, { entries: [entry] }));
    expect(asked).toEqual([1, 3]);
    expect(trades).toMatchObject([{ entryRow: 4 }]);
    expect(counts).toMatchObject({ entrySignals: 1, signalsByRule: [1] });
  });

  it('of entries are counted after trading has ended, as those of bits are', () => {
    const bars = barsOf([flat(100), flat(100), flat(1), flat(1), flat(1), flat(1)]);
    const condition = stateCondition(() => 1);
    const sizing = { mode: 'percent_equity', value: 5_000 } as const;
    const entries = [
      { ...entryAt(bars, [], { sizing }), signal: { kind: 'stateful', condition } as const },
      entryAt(bars, [0, 1, 2, 3, 4, 5], { sizing }),
    ];
    const { counts, finalBalance, equity } = simulate(inputOf(bars, { entries, config: configOf({ leverage: 50 }) }));
    expect(finalBalance).toBeLessThanOrEqual(0);
    expect(counts).toMatchObject({ signalsByRule: [6, 6], entriesFilled: 1 });
    expect([...equity].slice(2)).toEqual([finalBalance, finalBalance, finalBalance, finalBalance]);
  });

  it('of exits remember from the entry bar of their position on', () => {
    const bars = barsOf([flat(1), flat(1), flat(1), flat(1), flat(1), flat(1)]);
    const lives: number[][] = [];
    const condition: StatefulCondition = {
      gate: null,
      hasAccountHistory: false,
      hasPositionHistory: true,
      newMemory: () => {
        const life: number[] = [];
        lives.push(life);
        return [life];
      },
      recordAccount: () => undefined,
      recordPosition: (row, _state, memory) => void (memory[0] as number[]).push(row),
      test: (_row, _state, memory) => ((memory[0] as number[]).length === 2 ? 1 : 0),
    };
    const exits = [{ ...exitAt(bars, []), when: { kind: 'stateful', condition } as const }];
    simulate(inputOf(bars, { entries: [entryAt(bars, [0, 2])], exits }));
    expect(lives.filter((life) => life.length > 0)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});
