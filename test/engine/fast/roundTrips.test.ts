// Round trips give what the general loop gives, to the last bit.
import { describe, expect, it } from 'vitest';
import { AMBIGUITY_FALLBACKS, AMBIGUITY_RESOLUTIONS, ORDER_ROLES, type Slippage } from '../../../src/engine/config.ts';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { EntryRule, ExitRule, RiskRules, SizingRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { withoutAccelerators } from '../../../src/engine/fast/index.ts';
import { createRun } from '../../../src/engine/simulate/createRun.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { diceOf, type Dice } from '../../support/dice.ts';
import { scaled } from '../../support/scale.ts';
import { sharedColumns } from '../../../bench/walk.ts';
import {
  barsFrom,
  barsOf,
  configOf,
  constant,
  entryAt,
  exitAt,
  FLAT,
  INSTRUMENT,
  inputOf,
  NO_RISK,
  takeProfit,
  type Ohlc,
} from '../simulate/input.ts';

/** A walk that now and then jumps far enough to liquidate, in a bar or between two. */
function walk(dice: Dice, count: number): Bars {
  let price = 100;
  const rows = Array.from({ length: count }, (): Ohlc => {
    const open = dice.chance(0.02) ? price * dice.number(0.5, 1.5) : price;
    price = Math.max(1, open * (1 + dice.number(-0.02, 0.02) + (dice.chance(0.04) ? dice.number(-0.5, 0.6) : 0)));
    return [open, Math.max(open, price) * dice.number(1, 1.01), Math.min(open, price) * dice.number(0.99, 1), price];
  });
  const bars = barsOf(rows);
  if (dice.chance(0.5)) return bars;
  const [open, high, low, close] = sharedColumns([bars.open, bars.high, bars.low, bars.close]);
  return { ...bars, open, high, low, close };
}

const rowsOf = (dice: Dice, count: number, share: number): number[] =>
  Array.from({ length: count }, (_, row) => row).filter(() => dice.chance(share));

function slippageOf(dice: Dice): Slippage {
  return dice.pick<Slippage>([
    { kind: 'none' },
    { kind: 'fixed', unit: 'bps', value: 3 },
    { kind: 'fixed', unit: 'ticks', value: 2 },
    { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: 0.1 },
  ]);
}

function sizingOf(dice: Dice, bars: Bars): SizingRule {
  return dice.pick<SizingRule>([
    { mode: 'fixed', value: dice.number(1, 350) },
    { mode: 'fixed_cash', value: dice.number(100, 12_000) },
    { mode: 'percent_equity', value: dice.pick([50, 100, 350, 1500]) },
    { mode: 'percent_balance', value: 100 },
    { mode: 'risk_percent', value: 1 },
    { mode: 'volatility_target', value: 40, atr: bars.high.map((high, row) => (row % 50 < 5 ? NaN : high * 0.01)) },
  ]);
}

function riskOf(dice: Dice): RiskRules {
  const level = (low: number, high: number) =>
    dice.pick([{ mode: 'percent', value: dice.number(low, high) } as const, null]);
  const target = level(1, 20);
  return {
    ...NO_RISK,
    stopLoss: dice.chance(0.2) ? { mode: 'fixed', value: dice.number(1, 10) } : level(0.5, 20),
    takeProfits: [
      ...(target === null ? [] : [takeProfit(target, dice.pick([50, 100]), { moveStopToBreakeven: dice.chance(0.5) })]),
      ...(dice.chance(0.2) ? [takeProfit({ mode: 'r', value: dice.number(0.5, 3) }, 50)] : []),
    ],
    trailingStop: dice.chance(0.5)
      ? null
      : {
          distance: { mode: 'percent', value: dice.number(0.5, 10) },
          activateAfterPercent: dice.chance(0.8) ? null : dice.number(0.1, 3),
        },
  };
}

const tiersOf = (dice: Dice) =>
  dice.chance(0.5)
    ? [{ minCumulativeNotional: 0, makerRate: -0.0002, takerRate: 0.001 }]
    : [
        { minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.001 },
        { minCumulativeNotional: 50_000, makerRate: 0, takerRate: 0.0005 },
      ];

/** A strategy that trades in round trips, mostly. */
function randomInput(seed: number, count: number): SimulationInput {
  const dice = diceOf(seed);
  const bars = walk(dice, count);
  const side = dice.pick([1, -1] as const);
  const entry: Partial<EntryRule> = {
    side,
    sizing: sizingOf(dice, bars),
    cooldownBars: dice.pick([0, 0, 3]),
    conflict: dice.pick(['ignore', 'close', 'reverse']),
  };
  const exit = (priority: number): ExitRule =>
    exitAt(bars, rowsOf(dice, count, dice.number(0.01, 0.2)), {
      id: `leave ${priority}`,
      priority,
      appliesTo: dice.pick([0, 0, 1, -1] as const),
    });
  const exits = [exit(1), ...(dice.chance(0.5) ? [exit(0)] : [])];
  const start = dice.whole(0, 20);
  return inputOf(bars, {
    start,
    end: count - dice.whole(0, 5),
    instrument: { ...INSTRUMENT, tickSize: 0.01, qtyStep: dice.pick([0, 0.01, 1]), minNotional: dice.pick([0, 500]) },
    entries: [entryAt(bars, rowsOf(dice, count, dice.number(0.01, 0.3)), entry)],
    exits,
    risk: dice.chance(0.5) ? NO_RISK : riskOf(dice),
    config: configOf({
      leverage: dice.pick([1, 4, 20]),
      ambiguityResolution: dice.pick(AMBIGUITY_RESOLUTIONS),
      ambiguityFallback: dice.pick(AMBIGUITY_FALLBACKS),
      execution: {
        entryOrderRole: dice.pick(ORDER_ROLES),
        exitOrderRole: dice.pick(ORDER_ROLES),
        riskOrderRole: dice.pick(ORDER_ROLES),
        feeModel: { kind: 'tiered_maker_taker', tiers: tiersOf(dice) },
        slippage: slippageOf(dice),
      },
    }),
  });
}

/** All of a result but its orders, with numbers as their bits. */
function partsOf(input: SimulationInput) {
  const { tradeLog, equity, inPosition, finalBalance, totals, counts, ambiguity } = simulate(input);
  const bits = (values: Float64Array) => [...new BigUint64Array(values.slice().buffer)];
  return {
    trades: tradeLog.rows(),
    equity: bits(equity),
    inPosition: [...inPosition],
    finalBalance,
    totals,
    counts,
    ambiguity,
  };
}

const generally = (input: SimulationInput) => withoutAccelerators(() => partsOf(input));

it('gives what the general loop gives', () => {
  let trades = 0;
  let rejections = 0;
  const exits = new Map<string, number>();
  for (let seed = 1; seed <= scaled(2000); seed++) {
    const input = randomInput(seed, 400);
    const parts = partsOf(input);
    expect(parts, `seed ${seed}`).toEqual(generally(input));
    trades += parts.trades.length;
    for (const { exitReason, exitMethod } of parts.trades) {
      const exit = `${exitReason} ${exitMethod}`;
      exits.set(exit, (exits.get(exit) ?? 0) + 1);
    }
    rejections += Object.values(parts.counts.ordersRejected).reduce((sum, count) => sum + count);
  }
  expect(trades).toBeGreaterThan(1000);
  for (const reason of ['signal', 'liquidation', 'stop_loss', 'trailing_stop', 'end_of_data'])
    expect(exits.get(`${reason} direct`), reason).toBeGreaterThan(10);
  for (const reason of ['stop_loss', 'trailing_stop']) expect(exits.get(`${reason} gap`), reason).toBeGreaterThan(10);
  expect(rejections).toBeGreaterThan(100);
});

it('gives what the general loop gives over more rows than are polled at once', () => {
  const input = randomInput(7, 140_000);
  expect(partsOf(input)).toEqual(generally(input));
});

/** 100 bars, bought at the close of every tenth and sold five closes later. */
function everyTenth(more: (bars: Bars) => Partial<SimulationInput> = () => ({})): SimulationInput {
  const flat = Float64Array.from({ length: 100 }, () => 100);
  const time = flat.map((_, row) => row * 3_600_000);
  const bars = barsFrom({ time, open: flat, high: flat, low: flat, close: flat }, '1h');
  const at = (first: number) => Array.from({ length: 9 }, (_, index) => first + 10 * index);
  return inputOf(bars, { entries: [entryAt(bars, at(3))], exits: [exitAt(bars, at(8))], ...more(bars) });
}

const percent = (value: number) => ({ mode: 'percent', value }) as const;
const TRAILING: RiskRules = { ...NO_RISK, trailingStop: { distance: percent(1), activateAfterPercent: null } };
const limit = { type: 'limit', price: constant(99), expireBars: 5 } as const;

it('gives what the general loop gives where a bar touches a stop and, exactly, a target', () => {
  const bars = barsOf([FLAT, FLAT, [100, 105, 94, 100], FLAT, FLAT]);
  const risk = { ...NO_RISK, stopLoss: percent(5), takeProfits: [takeProfit(percent(5))] };
  const input = inputOf(bars, { entries: [entryAt(bars, [0])], exits: [exitAt(bars, [4])], risk });
  const parts = partsOf(input);
  expect(parts).toEqual(generally(input));
  expect(parts.trades).toMatchObject([{ exitReason: 'stop_loss', exitMethod: 'fallback' }]);
});

it('gives what the general loop gives where an exit leaves less than nothing', () => {
  const bars = barsOf([100, 100, 80, 80, 80, 80].map((price): Ohlc => [price, price, price, price]));
  const input = inputOf(bars, {
    entries: [entryAt(bars, [0, 3], { sizing: { mode: 'fixed', value: 100 } })],
    exits: [exitAt(bars, [1])],
    config: configOf({ leverage: 10, initialBalance: 1_000 }),
  });
  const parts = partsOf(input);
  expect(parts).toEqual(generally(input));
  expect(parts).toMatchObject({ finalBalance: -1_000, counts: { ordersRejected: { INSUFFICIENT_BALANCE: 0 } } });
});

describe('round trips', () => {
  it('plays every trade whose exit is before the limit', () => {
    const run = createRun(everyTenth(), 'pessimistic');
    expect(run.playTrades!(run, 0, 100, 40)).toBe(39);
    expect(run.trades.rows().map(({ entryRow, exitRow }) => [entryRow, exitRow])).toEqual([
      [4, 9],
      [14, 19],
      [24, 29],
      [34, 39],
    ]);
  });

  it('plays trades that a trailing stop ends', () => {
    const input = everyTenth(() => ({ risk: TRAILING }));
    const low = input.bars.low.slice();
    low[16] = 98;
    const run = createRun({ ...input, bars: { ...input.bars, low } }, 'pessimistic');
    expect(run.playTrades!(run, 0, 100, 20)).toBe(16);
    expect(run.trades.rows().map(({ exitRow, exitReason }) => [exitRow, exitReason])).toEqual([
      [9, 'signal'],
      [16, 'trailing_stop'],
    ]);
  });

  it('plays a trade that is still open at the last close', () => {
    const input = everyTenth((bars) => ({ entries: [entryAt(bars, [83])], end: 88 }));
    const run = createRun(input, 'pessimistic');
    expect(run.playTrades!(run, 0, 88, 88)).toBe(88);
    expect(run.trades.rows().map(({ exitRow, exitReason }) => [exitRow, exitReason])).toEqual([[87, 'end_of_data']]);
  });

  it.each<[string, (bars: Bars) => Partial<SimulationInput>]>([
    ['an entry', (bars) => ({ entries: [entryAt(bars, [83, 87])] })],
    ['an exit', (bars) => ({ entries: [entryAt(bars, [83])], exits: [exitAt(bars, [87])] })],
  ])('leaves a last close with the signal of %s to the general loop', (_, more) => {
    const run = createRun({ ...everyTenth(more), end: 88 }, 'pessimistic');
    expect(run.playTrades!(run, 0, 88, 88)).toBe(0);
  });

  it('leaves a trade to the general loop that is open at the limit but does not last until the end', () => {
    const run = createRun(everyTenth(), 'pessimistic');
    expect(run.playTrades!(run, 0, 100, 8)).toBe(0);
  });

  it('counts the open of the bar that touches a stop among the prices held through', () => {
    const input = everyTenth(() => ({ risk: { ...NO_RISK, stopLoss: percent(1) } }));
    const [open, high, low] = [input.bars.open, input.bars.high, input.bars.low].map((column) => column.slice());
    open[16] = 103;
    high[16] = 104;
    low[16] = 98;
    const run = createRun({ ...input, bars: { ...input.bars, open, high, low } }, 'pessimistic');
    expect(run.playTrades!(run, 10, 100, 20)).toBe(16);
    expect(run.trades.rows()[0].mfePct).toBeCloseTo(0.03);
  });

  it.each<[string, (bars: Bars) => Partial<SimulationInput>]>([
    [
      'a stop that trails from a profit on',
      () => ({ risk: { ...NO_RISK, trailingStop: { distance: percent(1), activateAfterPercent: 1 } } }),
    ],
    ['a stop that trails through finer bars', (bars) => ({ risk: TRAILING, fine: { ...bars, timeframe: '15m' } })],
    [
      'a stop that is read at the signal',
      () => ({ risk: { ...NO_RISK, stopLoss: { mode: 'price', price: constant(9), update: 'entry' } } }),
    ],
    ['break-even', () => ({ risk: { ...NO_RISK, breakeven: { activateAfterPercent: 1, offsetPercent: 0 } } })],
    ['a limit order', (bars) => ({ entries: [entryAt(bars, [3], { order: limit })] })],
    ['a time stop', () => ({ risk: { ...NO_RISK, timeStop: { maxBars: 3 } } })],
    ['funding', () => ({ config: configOf({ fundingRate: 0.01 }) })],
    ['orders that fill at the close', () => ({ config: configOf({ execution: { orderTiming: 'bar_close' } }) })],
    ['several positions', () => ({ maxConcurrentPositions: 2 })],
    ['a partial exit', (bars) => ({ exits: [exitAt(bars, [8], { action: { mode: 'percent_position', value: 50 } })] })],
    ['two entries', (bars) => ({ entries: [entryAt(bars, [3]), entryAt(bars, [5])] })],
    ['an order log', () => ({ keepOrders: true })],
  ])('leaves %s to the general loop', (_, more) => {
    expect(createRun(everyTenth(more), 'pessimistic').playTrades).toBeNull();
  });
});
