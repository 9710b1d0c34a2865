// Opening a bar: which bars are opened, how children decide, what is said of it, and the band.
import { describe, expect, it } from 'vitest';
import { LentMemory } from '../../../src/engine/simulate/lentMemory.ts';
import { simulateBand } from '../../../src/engine/simulate/band.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import type { RiskRules } from '../../../src/engine/evaluate/tradingRules.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { barsFrom, barsOf, configOf, entryAt, INSTRUMENT, inputOf, NO_RISK, takeProfit, type Ohlc } from './input.ts';

const FROM = Date.UTC(2024, 0, 1);
const BAR = 15 * 60_000;
const START: Ohlc = [100, 100, 100, 100];
const both: RiskRules = {
  ...NO_RISK,
  stopLoss: { mode: 'percent', value: 5 },
  takeProfits: [takeProfit({ mode: 'percent', value: 5 })],
};
/** A long opened at the open of `bar`; its children, if any, are the minutes from that open on. */
function opened(bar: Ohlc, children: readonly Ohlc[], more: Partial<SimulationInput> = {}): SimulationInput {
  const bars = barsOf([START, bar], '15m', FROM);
  const fine = children.length === 0 ? null : barsOf(children, '1m', FROM + BAR);
  const config = configOf({ timeframe: '15m', initialBalance: 1e6 });
  return inputOf(bars, { fine, entries: [entryAt(bars, [0])], risk: both, config, ...more });
}
const told = (input: SimulationInput) =>
  simulate(input).trades.map((trade) => [
    trade.exitReason,
    trade.exitPrice,
    trade.exitMethod,
    trade.exitResolution,
    trade.exitPolicy,
    trade.exitFineTime,
  ]);
const WIDE: Ohlc = [100, 110, 90, 100];

describe('a bar that touches both sides', () => {
  it('is decided by the child that touches one first', () => {
    const minutes: Ohlc[] = [
      [100, 102, 99, 102],
      [102, 110, 102, 104],
      [104, 104, 90, 100],
    ];
    expect(told(opened(WIDE, minutes))).toEqual([['take_profit', 105, 'drill', '1m', null, FROM + BAR + 60_000]]);
    expect(simulate(opened(WIDE, minutes)).ambiguity).toEqual({
      undecidedBars: 1,
      drilledBars: 1,
      fallbackBars: 0,
      childrenMissingBars: 0,
    });
  });

  it('fills at a child open that lies beyond the level', () => {
    const minutes: Ohlc[] = [
      [100, 102, 99, 102],
      [93, 94, 90, 94],
      [94, 110, 94, 100],
    ];
    expect(told(opened(WIDE, minutes))).toEqual([['stop_loss', 93, 'drill', '1m', null, FROM + BAR + 60_000]]);
  });

  it('falls back in a child that touches both itself', () => {
    const minutes: Ohlc[] = [
      [100, 102, 99, 102],
      [102, 110, 90, 100],
    ];
    expect(told(opened(WIDE, minutes))).toEqual([
      ['stop_loss', 95, 'fallback', '1m', 'pessimistic', FROM + BAR + 60_000],
    ]);
    expect(simulate(opened(WIDE, minutes)).ambiguity).toMatchObject({ drilledBars: 1, fallbackBars: 1 });
  });

  it('falls back on the bar itself when it has no children, or they touch nothing', () => {
    const expected = [['stop_loss', 95, 'fallback', '15m', 'pessimistic', null]];
    expect(told(opened(WIDE, []))).toEqual(expected);
    const asleep: Ohlc[] = [START, START];
    expect(told(opened(WIDE, asleep))).toEqual(expected);
    expect(simulate(opened(WIDE, asleep)).ambiguity).toMatchObject({
      drilledBars: 1,
      fallbackBars: 1,
      childrenMissingBars: 1,
    });
  });

  it.each([
    ['pessimistic', { exitReason: 'stop_loss', maePct: -0.05, mfePct: 0 }],
    ['optimistic', { exitReason: 'take_profit', maePct: 0, mfePct: 0.05 }],
  ] as const)('forgets the prices of children that touch nothing: %s', (ambiguityFallback, expected) => {
    const config = configOf({ timeframe: '15m', initialBalance: 1e6, ambiguityFallback });
    const { trades } = simulate(opened(WIDE, [[100, 102, 98, 100]], { config }));
    expect(trades).toHaveLength(1);
    expect(trades[0]).toMatchObject({ exitReason: expected.exitReason });
    expect(trades[0].maePct).toBeCloseTo(expected.maePct, 12);
    expect(trades[0].mfePct).toBeCloseTo(expected.mfePct, 12);
  });

  it('is decided by a child in which a step too small to close anything moves the stop', () => {
    const step = takeProfit({ mode: 'percent', value: 2 }, 40, { moveStopToBreakeven: true });
    const minutes: Ohlc[] = [
      [100, 101, 99, 101],
      [101, 103, 101, 102],
    ];
    const bars = barsOf([START, [100, 103, 99, 102], [102, 102, 99, 99], START], '15m', FROM);
    const entries = [entryAt(bars, [0], { sizing: { mode: 'fixed', value: 2 } })];
    const input = inputOf(bars, {
      entries,
      fine: barsOf(minutes, '1m', FROM + BAR),
      risk: { ...NO_RISK, takeProfits: [step] },
      instrument: { ...INSTRUMENT, qtyStep: 1 },
    });
    const { trades, ambiguity } = simulate(input);
    expect(ambiguity).toMatchObject({ drilledBars: 1, childrenMissingBars: 0 });
    expect(trades).toMatchObject([{ exitRow: 2, exitReason: 'breakeven', exitPrice: 100, exitMethod: 'direct' }]);
  });

  it('never opens into resampled bars', () => {
    const input = opened(WIDE, [[100, 110, 100, 105]]);
    expect(told({ ...input, fine: { ...input.fine!, isResampled: true } })[0][2]).toBe('fallback');
  });

  it('that its open has passed is a gap, and is not opened', () => {
    const bars = barsOf([START, START, [94, 110, 90, 100]], '15m', FROM);
    const input = inputOf(bars, {
      entries: [entryAt(bars, [0])],
      risk: both,
      fine: barsOf([[94, 110, 90, 100]], '1m', FROM + 2 * BAR),
    });
    expect(told(input)).toEqual([['stop_loss', 94, 'gap', '15m', null, null]]);
  });
});

describe('a decided bar', () => {
  it('fills at its level and is not opened', () => {
    const input = opened(
      [100, 104, 90, 100],
      [
        [100, 104, 100, 100],
        [80, 90, 80, 90],
      ],
    );
    expect(told(input)).toEqual([['stop_loss', 95, 'direct', '15m', null, null]]);
    expect(simulate(input).ambiguity.undecidedBars).toBe(0);
  });
});

describe('a bar with a stop that moves', () => {
  const trailing: RiskRules = {
    ...NO_RISK,
    trailingStop: { distance: { mode: 'percent', value: 5 }, activateAfterPercent: null },
  };

  it('is replaced by its children: the stop moves from child to child', () => {
    const minutes: Ohlc[] = [
      [100, 110, 100, 110],
      [110, 110, 104, 104],
    ];
    expect(told(opened([100, 110, 100, 104], minutes, { risk: trailing }))).toEqual([
      ['trailing_stop', 104.5, 'drill', '1m', null, FROM + BAR + 60_000],
    ]);
  });

  it('is not stopped at a level that no child touches', () => {
    const input = opened([100, 110, 90, 110], [[100, 110, 100, 110]], { risk: trailing });
    expect(told(input)[0][0]).toBe('end_of_data');
    expect(simulate(input).ambiguity).toMatchObject({ undecidedBars: 1, drilledBars: 1, fallbackBars: 0 });
  });

  it('is not opened when even the stop after its best price stays untouched', () => {
    const input = opened([106, 110, 105, 110], [[106, 110, 80, 110]], { risk: trailing });
    expect(simulate(input).ambiguity.undecidedBars).toBe(0);
  });

  it('counts whole for MAE and MFE when the position survives it, whatever its children show', () => {
    const bars = barsOf([START, [100, 110, 94, 108], [108, 108, 108, 108]], '15m', FROM);
    const fine = barsOf([[100, 104, 99.5, 103]], '1m', FROM + BAR);
    const input = inputOf(bars, { fine, entries: [entryAt(bars, [0])], risk: trailing });
    const result = simulate(input);
    expect(result.ambiguity.drilledBars).toBe(1);
    expect(result.trades).toMatchObject([{ exitReason: 'end_of_data', exitPrice: 108, mfePct: 0.1, maePct: -0.06 }]);
  });

  it('does not move the stop to where no child has been, in later bars either', () => {
    const rows: Ohlc[] = [START, [100, 110, 99, 101], [101, 102, 100.5, 101], [101, 102, 98, 99], START];
    const bars = barsOf(rows, '15m', FROM);
    const fine = barsOf([[100, 101, 99, 101]], '1m', FROM + BAR);
    const risk = { ...NO_RISK, breakeven: { activateAfterPercent: 5, offsetPercent: 0 } };
    const { trades, ambiguity } = simulate(inputOf(bars, { fine, entries: [entryAt(bars, [0])], risk }));
    expect(ambiguity.drilledBars).toBe(1);
    expect(trades).toMatchObject([{ exitReason: 'end_of_data', mfePct: 0.1 }]);
  });

  it('keeps MAE and MFE to the children before the exit', () => {
    const minutes: Ohlc[] = [
      [100, 107, 98, 106],
      [106, 110, 101, 104],
      [104, 120, 90, 100],
    ];
    const [trade] = simulate(opened([100, 120, 90, 100], minutes, { risk: trailing })).trades;
    // The stop of 107 × 0.95 = 101.65 is hit in the second minute.
    expect(trade.exitPrice).toBeCloseTo(101.65, 9);
    expect(trade).toMatchObject({ mfePct: 0.07, maePct: -0.02 });
  });
});

describe('an order that fills inside a bar', () => {
  const limit = { type: 'limit', price: { kind: 'constant', value: 98 }, expireBars: 3 } as const;
  const ordered = (bar: Ohlc, children: readonly Ohlc[]): SimulationInput => {
    const input = opened(bar, children);
    return { ...input, entries: [{ ...input.entries[0], order: limit }] };
  };

  it('is filled by the child that reaches its price, and goes on from there', () => {
    const minutes: Ohlc[] = [
      [100, 110, 99, 99],
      [99, 99, 97, 97],
      [97, 103, 97, 103],
    ];
    const [trade] = simulate(ordered([100, 110, 97, 103], minutes)).trades;
    // The 110 came before the entry: only the 102.9 of the third minute counts.
    expect(trade).toMatchObject({ entryPrice: 98, exitReason: 'take_profit', exitFineTime: FROM + BAR + 120_000 });
    expect(trade.exitPrice).toBeCloseTo(102.9, 9);
  });

  it('without children takes a touched stop as hit, and a target only if the close is past it', () => {
    expect(told(ordered([100, 110, 90, 100], []))[0].slice(0, 3)).toEqual([
      'stop_loss',
      expect.closeTo(93.1, 9),
      'fallback',
    ]);
    expect(told(ordered([100, 110, 97, 100], []))[0][0]).toBe('end_of_data');
    // The close is past the target, so that every policy takes it: nothing was left to the fallback.
    expect(told(ordered([100, 110, 97, 104], []))[0].slice(0, 3)).toEqual([
      'take_profit',
      expect.closeTo(102.9, 9),
      'direct',
    ]);
  });

  it('with only a level touched that lies behind the entry is certain, whatever the policy', () => {
    expect(told(ordered([100, 101, 90, 100], []))[0].slice(0, 3)).toEqual([
      'stop_loss',
      expect.closeTo(93.1, 9),
      'direct',
    ]);
  });
});

describe('the band', () => {
  it('is the result itself when nothing came from the fallback', () => {
    const input = opened([100, 104, 90, 100], []);
    const result = simulate(input);
    const own = result.finalBalance / 1e6 - 1;
    expect(simulateBand(input, result)).toEqual({ low: own, high: own, pessimistic: own, optimistic: own });
  });

  it('holds the returns with the fallback replaced by each extreme', () => {
    for (const config of [
      { ambiguityResolution: 'multi_resolution' },
      { ambiguityResolution: 'bar_direction' },
      { ambiguityFallback: 'worst' },
    ] as const) {
      const input = opened(WIDE, [], { config: configOf({ ...config, initialBalance: 1_000 }) });
      const band = simulateBand(input, simulate(input))!;
      expect(band).toEqual({
        low: expect.closeTo(-0.005, 9),
        high: expect.closeTo(0.005, 9),
        pessimistic: expect.closeTo(-0.005, 9),
        optimistic: expect.closeTo(0.005, 9),
      });
    }
  });

  it('leaves a result in lent memory as it is', () => {
    const config = configOf({ ambiguityResolution: 'bar_direction', initialBalance: 1_000 });
    const input = opened(WIDE, [], { config });
    const alone = simulate(input);
    const lent = { ...input, scratch: new LentMemory(100).lend(input.bars.length) };
    const result = simulate(lent);
    expect(simulateBand(lent, result)).toEqual(simulateBand(input, alone));
    expect([...result.equity]).toEqual([...alone.equity]);
    expect(result.trades).toEqual(alone.trades);
  });

  it('keeps what children decided', () => {
    const minutes: Ohlc[] = [
      [100, 110, 100, 104],
      [104, 104, 90, 100],
    ];
    const input = opened(WIDE, minutes);
    const band = simulateBand(input, simulate(input))!;
    expect(band.low).toBe(band.high);
  });
});

describe('a bar that its children contradict', () => {
  // The minutes reach 130 % of the prices of their bar: the target is 30 % away from them.
  const wrong: Ohlc[] = [
    [130, 143, 130, 140],
    [140, 140, 117, 130],
  ];
  const right: Ohlc[] = [
    [100, 110, 100, 108],
    [108, 108, 90, 100],
  ];

  it('is left to the fallback, like one without children', () => {
    expect(told(opened(WIDE, wrong))).toEqual([['stop_loss', 95, 'fallback', '15m', 'pessimistic', null]]);
    expect(simulate(opened(WIDE, wrong)).ambiguity).toEqual({
      undecidedBars: 1,
      drilledBars: 0,
      fallbackBars: 1,
      childrenMissingBars: 1,
    });
    const config = configOf({ timeframe: '15m', initialBalance: 1e6, ambiguityFallback: 'optimistic' });
    expect(told(opened(WIDE, wrong, { config }))[0].slice(0, 3)).toEqual(['take_profit', 105, 'fallback']);
  });

  it('is left to the fallback with a pending order in it', () => {
    const order = { type: 'stop', price: { kind: 'constant', value: 104 }, expireBars: 3 } as const;
    const bars = barsOf([START, WIDE], '15m', FROM);
    const drilledWith = (minutes: Ohlc[]): number => {
      const input = opened(WIDE, minutes, { entries: [entryAt(bars, [0], { order })] });
      return simulate(input).ambiguity.drilledBars;
    };
    expect([drilledWith(right), drilledWith(wrong)]).toEqual([1, 0]);
  });

  /** Longs opened at the open of each of 60 bars, the first `count` of which have wrong minutes. */
  function many(count: number) {
    const rows: Ohlc[] = [START, ...Array.from({ length: 60 }, () => WIDE)];
    const bars = barsOf(rows, '15m', FROM);
    const minutes = rows.map((_, row) => (row === 0 ? [START, START] : row <= count ? wrong : right));
    const columns = minutes.flatMap((pair, row) =>
      pair.map((ohlc, at) => ({ time: FROM + row * BAR + at * 60_000, ohlc })),
    );
    const column = (at: number): number[] => columns.map(({ ohlc }) => ohlc[at]);
    const fine = barsFrom(
      { time: columns.map(({ time }) => time), open: column(0), high: column(1), low: column(2), close: column(3) },
      '1m',
    );
    const input = inputOf(bars, { fine, entries: [entryAt(bars, bars.time.keys())], risk: both });
    return simulate(input);
  }

  it('leaves the other bars to their children', () => {
    const { ambiguity, trades } = many(6);
    expect(ambiguity).toMatchObject({ undecidedBars: 60, drilledBars: 54, childrenMissingBars: 6 });
    expect(trades.map(({ exitReason }) => exitReason)).toEqual(
      Array.from({ length: 60 }, (_, row) => (row < 6 ? 'stop_loss' : 'take_profit')),
    );
  });

  it('is one of so many that no bar is drilled into', () => {
    const { ambiguity, trades } = many(7);
    expect(ambiguity).toMatchObject({ undecidedBars: 60, drilledBars: 0, fallbackBars: 60, childrenMissingBars: 0 });
    expect(new Set(trades.map(({ exitReason }) => exitReason))).toEqual(new Set(['stop_loss']));
  });
});
