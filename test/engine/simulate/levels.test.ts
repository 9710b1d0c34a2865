// Stops, targets, ladders, trailing and break-even: where they stand, when they move, what they fill at.
import { describe, expect, it } from 'vitest';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { RiskRules, TakeProfitRule } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { barsOf, configOf, entryAt, exitAt, INSTRUMENT, inputOf, NO_RISK, takeProfit, type Ohlc } from './input.ts';

const START: Ohlc = [100, 100, 100, 100];
const pessimistic = configOf({ ambiguityResolution: 'pessimistic', initialBalance: 1e6 });
/** A long (or short) opened at the open of the first of `rows`. */
function positionIn(
  rows: readonly Ohlc[],
  risk: Partial<RiskRules>,
  more: Partial<SimulationInput> = {},
  side: 1 | -1 = 1,
) {
  const bars = barsOf([START, ...rows]);
  const entries = [entryAt(bars, [0], { side, sizing: { mode: 'fixed', value: 10 } })];
  return inputOf(bars, { entries, config: pessimistic, risk: { ...NO_RISK, ...risk }, ...more });
}
const told = (input: SimulationInput) =>
  simulate(input).trades.map((trade) => [trade.exitRow, trade.exitPrice, trade.exitReason, trade.exitMethod]);
const QUIET: Ohlc = [100, 101, 99, 100];

describe('a stop loss', () => {
  it('is live from the entry fill, the entry bar included, and touching counts', () => {
    expect(told(positionIn([[100, 101, 95, 99]], { stopLoss: { mode: 'percent', value: 5 } }))).toEqual([
      [1, 95, 'stop_loss', 'direct'],
    ]);
    expect(told(positionIn([[100, 101, 95.01, 99]], { stopLoss: { mode: 'percent', value: 5 } }))[0][2]).toBe(
      'end_of_data',
    );
  });

  it('that the open has passed fills at the open, which is worse', () => {
    const rows: Ohlc[] = [QUIET, [90, 96, 89, 95]];
    expect(told(positionIn(rows, { stopLoss: { mode: 'percent', value: 5 } }))).toEqual([[2, 90, 'stop_loss', 'gap']]);
  });

  it('may stand at a percent, a distance, an ATR multiple or a price', () => {
    const low: Ohlc = [100, 100, 80, 90];
    const atr = Float64Array.of(4, 9, 9);
    expect(told(positionIn([low], { stopLoss: { mode: 'percent', value: 7 } }))[0][1]).toBeCloseTo(93, 9);
    expect(told(positionIn([low], { stopLoss: { mode: 'fixed', value: 6 } }))[0][1]).toBe(94);
    expect(told(positionIn([low], { stopLoss: { mode: 'atr', atr, multiplier: 2 } }))[0][1]).toBe(92);
    const price = { kind: 'constant', value: 91 } as const;
    expect(told(positionIn([low], { stopLoss: { mode: 'price', price, update: 'entry' } }))[0][1]).toBe(91);
  });

  it('of a short is the mirror', () => {
    expect(told(positionIn([[100, 105, 99, 100]], { stopLoss: { mode: 'percent', value: 5 } }, {}, -1))).toEqual([
      [1, 105, 'stop_loss', 'direct'],
    ]);
  });

  it('missing at the signal rejects the order', () => {
    const price = { kind: 'column', values: Float64Array.of(NaN, 95, 95) } as const;
    const { counts } = simulate(positionIn([QUIET, QUIET], { stopLoss: { mode: 'price', price, update: 'entry' } }));
    expect(counts).toMatchObject({ entriesFilled: 0, ordersRejected: { LEVEL_MISSING: 1 } });
  });

  it('with update "bar" is read at every close, moves only in favor, and acts from the next bar', () => {
    const price = { kind: 'column', values: Float64Array.of(NaN, 96, NaN, 97, 95, 99) } as const;
    const rows: Ohlc[] = [[100, 101, 90, 100], QUIET, QUIET, QUIET, [100, 100, 96.5, 100]];
    expect(told(positionIn(rows, { stopLoss: { mode: 'price', price, update: 'bar' } }))).toEqual([
      [5, 97, 'stop_loss', 'direct'],
    ]);
  });
});

describe('a take profit', () => {
  it('that the open has passed fills at the open, which is better', () => {
    const rows: Ohlc[] = [QUIET, [120, 121, 119, 120]];
    expect(told(positionIn(rows, { takeProfits: [takeProfit({ mode: 'percent', value: 10 })] }))).toEqual([
      [2, 120, 'take_profit', 'gap'],
    ]);
  });

  it('may stand at a percent, an R multiple, an ATR multiple or a price', () => {
    const high: Ohlc = [100, 150, 100, 140];
    const stopLoss = { mode: 'fixed', value: 6 } as const;
    const atr = Float64Array.of(4, 9, 9);
    const at = (trigger: Parameters<typeof takeProfit>[0]) =>
      told(positionIn([high], { stopLoss, takeProfits: [takeProfit(trigger)] }))[0][1];
    expect(at({ mode: 'percent', value: 7 })).toBeCloseTo(107, 9);
    expect(at({ mode: 'r', value: 2 })).toBe(112);
    expect(at({ mode: 'atr', atr, multiplier: 2 })).toBe(108);
    expect(at({ mode: 'price', price: { kind: 'constant', value: 111 } })).toBe(111);
  });

  it('is never slipped', () => {
    const config = configOf({ ...pessimistic, execution: { slippage: { kind: 'fixed', unit: 'bps', value: 100 } } });
    const takeProfits = [takeProfit({ mode: 'price', price: { kind: 'constant', value: 110 } })];
    const [trade] = simulate(positionIn([[100, 120, 100, 110]], { takeProfits }, { config })).trades;
    expect(trade).toMatchObject({ entryPrice: 101, exitPrice: 110, slippage: 10 });
  });
});

describe('a ladder', () => {
  const ladder = (basis: 'initial' | 'remaining', move = false) => [
    takeProfit({ mode: 'percent', value: 5 }, 50, { closeBasis: basis, moveStopToBreakeven: move }),
    takeProfit({ mode: 'percent', value: 10 }, 50, { closeBasis: basis }),
  ];
  const rows: Ohlc[] = [QUIET, [100, 106, 100, 106], [106, 120, 106, 120]];
  const parts = (input: SimulationInput) =>
    simulate(input).trades.map(({ quantity, exitPrice, exitRule }) => [quantity, exitPrice, exitRule]);

  it('closes parts of the initial quantity, and with 100 % all that is left', () => {
    expect(parts(positionIn(rows, { takeProfits: ladder('initial') }))).toEqual([
      [5, 105, 0],
      [5, 110.00000000000001, 1],
    ]);
  });

  it('closes parts of what remains when asked to', () => {
    expect(parts(positionIn(rows, { takeProfits: ladder('remaining') })).map(([quantity]) => quantity)).toEqual([
      5, 2.5, 2.5,
    ]);
  });

  it('leaves no dust with a step', () => {
    const instrument = { ...INSTRUMENT, qtyStep: 4 };
    const thirds = [5, 10, 15].map((value) => takeProfit({ mode: 'percent', value }, 100 / 3));
    expect(
      parts(positionIn([[100, 150, 100, 150]], { takeProfits: thirds }, { instrument })).map(([quantity]) => quantity),
    ).toEqual([8]);
    const four = simulate(positionIn([[100, 150, 100, 150]], { takeProfits: ladder('initial') }, { instrument }));
    expect(four.trades.map(({ quantity }) => quantity)).toEqual([4, 4]);
  });

  it('that reaches 100 % on mixed bases leaves no dust, and frees the slot', () => {
    const instrument = { ...INSTRUMENT, qtyStep: 1e-8 };
    const steps = (first: TakeProfitRule['closeBasis'], second: TakeProfitRule['closeBasis'], percents: number[]) =>
      [first, second].map((closeBasis, step) =>
        takeProfit({ mode: 'percent', value: step + 1 }, percents[step], { closeBasis }),
      );
    const bars = barsOf([START, QUIET, [100, 103, 100, 103], [103, 103, 102.5, 103], START, START]);
    const quantities = (takeProfits: TakeProfitRule[]) =>
      simulate(
        inputOf(bars, {
          entries: [entryAt(bars, [0, 3], { sizing: { mode: 'fixed', value: 1.04000001 } })],
          risk: { ...NO_RISK, takeProfits },
          config: configOf(pessimistic),
          instrument,
        }),
      ).trades.map(({ positionId, quantity }) => [positionId, quantity]);
    expect(quantities(steps('remaining', 'initial', [49.6, 50.4])).slice(0, 3)).toEqual([
      [1, 0.51584],
      [1, expect.closeTo(0.52416001, 12)],
      [2, 1.04000001],
    ]);
    // 49.6 % of the initial quantity, then all of the remaining 50.4 %.
    expect(quantities(steps('initial', 'remaining', [49.6, 100])).at(1)![1]).toBeCloseTo(0.52416001, 12);
    // 60 % of the half that is left is 30 % of the initial quantity: 20 % stay.
    expect(quantities(steps('initial', 'remaining', [50, 60])).at(2)![1]).toBeCloseTo(0.208, 7);
  });

  it('moves the stop to the entry price from the next bar on', () => {
    const back: Ohlc[] = [QUIET, [101, 106, 100.5, 106], [106, 106, 99, 99]];
    expect(told(positionIn(back, { takeProfits: ladder('initial', true) })).slice(0, 2)).toEqual([
      [2, 105, 'take_profit', 'direct'],
      [3, 100, 'breakeven', 'direct'],
    ]);
  });

  it('moves it at once under optimistic and along a path', () => {
    const config = (ambiguityResolution: 'optimistic' | 'bar_direction' | 'pessimistic') =>
      configOf({ ambiguityResolution, initialBalance: 1e6 });
    const bar: Ohlc[] = [QUIET, [103, 106, 99, 101]];
    const risk = { takeProfits: ladder('initial', true) };
    expect(
      told(positionIn(bar, risk, { config: config('optimistic') })).map(([, price, reason]) => [price, reason]),
    ).toEqual([
      [105, 'take_profit'],
      [100, 'breakeven'],
    ]);
    // close < open: O-H-L-C, so the high is first and the low then meets the moved stop.
    expect(told(positionIn(bar, risk, { config: config('bar_direction') }))[1].slice(1, 3)).toEqual([100, 'breakeven']);
    expect(told(positionIn(bar, risk, { config: config('pessimistic') }))[1][2]).toBe('end_of_data');
  });
});

describe('a trailing stop', () => {
  const trailingStop = { distance: { mode: 'percent', value: 5 }, activateAfterPercent: null } as const;

  it('follows the best price since the fill, and in a bar that is not walked moves after it', () => {
    const rows: Ohlc[] = [
      [100, 110, 100, 110],
      [110, 120, 105, 119],
      [119, 119, 113, 113],
    ];
    // 110 × 0.95 = 104.5 is not touched on the second bar; 120 × 0.95 = 114 is on the third.
    expect(told(positionIn(rows, { trailingStop }))).toEqual([[3, 114, 'trailing_stop', 'direct']]);
  });

  it('moves at once along the path of bar_direction, which ends at the close', () => {
    const config = configOf({ ambiguityResolution: 'bar_direction', initialBalance: 1e6 });
    // close < open: O-H-L-C; from the high of 120 the stop of 114 is met on the way down.
    expect(told(positionIn([[110, 120, 108, 109]], { trailingStop }, { config }))).toEqual([
      [1, 114, 'trailing_stop', 'fallback'],
    ]);
    // close >= open: O-L-H-C; the low is first, and the close of 113 is below the 114 set by the high.
    expect(told(positionIn([[110, 120, 108, 113]], { trailingStop }, { config }))).toEqual([
      [1, 114, 'trailing_stop', 'fallback'],
    ]);
  });

  it('does not exist before its activation', () => {
    const late = { ...trailingStop, activateAfterPercent: 8 };
    const rows: Ohlc[] = [
      [100, 107, 90, 100],
      [100, 108, 104, 105],
      [105, 105, 102, 103],
    ];
    // 108 activates; 108 × 0.95 = 102.6.
    const [trade] = simulate(positionIn(rows, { trailingStop: late })).trades;
    expect(trade).toMatchObject({ exitRow: 3, exitReason: 'trailing_stop' });
    expect(trade.exitPrice).toBeCloseTo(102.6, 9);
  });

  it('yields its name to an equal stop loss, and the tightest of all is in force', () => {
    const rows: Ohlc[] = [[100, 100, 90, 92]];
    const stopLoss = { mode: 'percent', value: 5 } as const;
    expect(told(positionIn(rows, { stopLoss, trailingStop }))[0].slice(1, 3)).toEqual([95, 'stop_loss']);
    const wide = { mode: 'percent', value: 9 } as const;
    expect(told(positionIn(rows, { stopLoss: wide, trailingStop }))[0].slice(1, 3)).toEqual([95, 'trailing_stop']);
  });
});

describe('break-even', () => {
  it('sets the stop to the fill with its offset once the price has gone far enough', () => {
    const breakeven = { activateAfterPercent: 4, offsetPercent: 1 };
    const rows: Ohlc[] = [
      [100, 103, 97, 102],
      [102, 104, 102, 103],
      [103, 103, 100, 102],
    ];
    const [trade] = simulate(positionIn(rows, { breakeven })).trades;
    expect(trade).toMatchObject({ exitRow: 3, exitPrice: 101, exitReason: 'breakeven' });
  });
});

describe('MAE and MFE', () => {
  it('count highs and lows from entry to exit, of the exit bar only its open and the exit price', () => {
    const rows: Ohlc[] = [
      [100, 104, 98, 103],
      [103, 130, 90, 100],
    ];
    const [trade] = simulate(positionIn(rows, { stopLoss: { mode: 'percent', value: 5 } })).trades;
    expect(trade).toMatchObject({ exitRow: 2, mfePct: 0.04, maePct: -0.05 });
  });

  it('take the whole bar in when the exit is at its close', () => {
    const rows: Ohlc[] = [
      [100, 104, 98, 103],
      [103, 130, 90, 100],
    ];
    const [trade] = simulate(positionIn(rows, {})).trades;
    expect(trade).toMatchObject({ exitReason: 'end_of_data', mfePct: 0.3, maePct: -0.1 });
  });

  it('leave out of an entry bar what may have come before the entry', () => {
    const bars = barsOf([START, [100, 120, 90, 95], [95, 95, 95, 95]]);
    const order = { type: 'limit', price: { kind: 'constant', value: 92 }, expireBars: 2 } as const;
    const [trade] = simulate(inputOf(bars, { entries: [entryAt(bars, [0], { order })] })).trades;
    expect(trade.mfePct).toBeCloseTo(95 / 92 - 1, 12);
    expect(trade.maePct).toBeCloseTo(90 / 92 - 1, 12);
  });
});

describe('bar_close', () => {
  it('keeps the levels of a position opened at a close out of that bar', () => {
    const bars = barsOf([
      [100, 130, 70, 100],
      [100, 101, 99, 100],
      [100, 111, 100, 100],
    ]);
    const config = configOf({ ...pessimistic, execution: { orderTiming: 'bar_close' } });
    const risk = {
      ...NO_RISK,
      stopLoss: { mode: 'percent', value: 10 } as const,
      takeProfits: [takeProfit({ mode: 'percent', value: 10 })],
    };
    const input = inputOf(bars, { entries: [entryAt(bars, [0])], exits: [exitAt(bars, [2])], config, risk });
    expect(simulate(input).trades).toMatchObject([{ entryRow: 0, exitRow: 2, exitReason: 'take_profit' }]);
  });
});
