// The hard cases of the fill rules, one minimal example each, on the engine and on the reference interpreter.
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import type { Market } from '../../../src/engine/bars/bars.ts';
import type { BacktestConfig } from '../../../src/engine/config.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { START } from '../../support/bars.ts';
import * as write from '../../support/builders.ts';
import { compareWithReference } from '../../support/reference/difference.ts';
import { INSTRUMENT } from '../../support/runs.ts';
import type { Ohlc } from './input.ts';

const HOUR_MS = 3_600_000;
const SYMBOL = 'X';

/** Hours from midnight, and the quarters of some of them. */
function marketOf(hours: readonly Ohlc[], quarters: Readonly<Record<number, readonly Ohlc[]>> = {}): Market {
  const snapshot = (timeframe: '1h' | '15m', rows: readonly (readonly [number, Ohlc])[]) => {
    const column = (at: number): Float64Array => Float64Array.from(rows, ([, ohlc]) => ohlc[at]);
    const columns = {
      time: Float64Array.from(rows, ([time]) => time),
      open: column(0),
      high: column(1),
      low: column(2),
      close: column(3),
      volume: Float64Array.from(rows, () => 1),
      series: new Map<string, Float64Array>(),
    };
    return makeSnapshot(columns, { symbol: SYMBOL, timeframe, instrument: { ...INSTRUMENT, symbol: SYMBOL } });
  };
  const base = hours.map((ohlc, hour) => [START + hour * HOUR_MS, ohlc] as const);
  const children = Object.entries(quarters).flatMap(([hour, rows]) =>
    rows.map((ohlc, quarter) => [START + (Number(hour) + quarter / 4) * HOUR_MS, ohlc] as const),
  );
  const snapshots = [snapshot('1h', base), ...(children.length > 0 ? [snapshot('15m', children)] : [])];
  return createMarket(snapshots, SYMBOL, '1h');
}

const atHour = (...hours: number[]) =>
  write.any(...hours.map((hour) => write.compare({ kind: 'time', field: 'hour' }, 'eq', hour)));
const units = (value: number) => ({ mode: 'fixed', value });
/** A market entry of 10 units at the close of these hours. */
const enterAt = (hours: number[], action: object = {}, more: object = {}) =>
  write.entry(atHour(...hours), { action: { side: 'long', sizing: units(10), ...action }, ...more });
const at = (type: 'limit' | 'stop', price: number, expireBars = 5) => ({
  order: { type, price: write.constant(price), expireBars },
});

type Execution = Partial<NonNullable<BacktestConfig['execution']>>;
interface Run {
  readonly hours: readonly Ohlc[];
  readonly quarters?: Readonly<Record<number, readonly Ohlc[]>>;
  readonly entry: object | readonly object[];
  readonly exits?: readonly object[];
  readonly risk?: object;
  readonly config?: Partial<BacktestConfig>;
  readonly execution?: Execution;
  readonly slots?: number;
}

const feesOf = (makerRate: number, takerRate: number): NonNullable<Execution['feeModel']> => ({
  kind: 'tiered_maker_taker',
  tiers: [{ minCumulativeNotional: 0, makerRate, takerRate }],
});
const onePercent: Execution = { slippage: { kind: 'fixed', unit: 'bps', value: 100 } };

/**
 * Rows as [side, entry row, entry price, exit row, exit price, quantity, reason, method], the same from engine and
 * reference.
 */
function rowsOf({ hours, quarters, entry, exits = [], risk = {}, config, execution, slots = 1 }: Run): unknown[][] {
  const ast: StrategyAst = write.strategy(undefined, { entry, exits, risk });
  const { difference, reference } = compareWithReference(
    ast,
    marketOf(hours, quarters),
    {
      timeframe: '1h',
      signalInstrument: { symbol: SYMBOL },
      initialBalance: 10_000,
      execution: { feeModel: feesOf(0, 0), slippage: { kind: 'none' }, ...execution },
      ...config,
    },
    { warmupPeriod: 0, maxConcurrentPositions: slots },
  );
  expect(difference).toBeNull();
  return reference!.trades.map((trade) => [
    trade.side === 1 ? 'long' : 'short',
    trade.entryRow,
    near(trade.entryPrice),
    trade.exitRow,
    near(trade.exitPrice),
    near(trade.quantity),
    trade.exitReason,
    trade.exitMethod,
  ]);
}

/** Prices and quantities here have at most eight decimals. */
const near = (value: number): number => Math.round(value * 1e8) / 1e8;
const flat = (price: number): Ohlc => [price, price, price, price];
const quiet: Ohlc = [100, 101, 99, 100];

describe('the price of a reversal', () => {
  it('is that of the child that opens past a stop entry', () => {
    const rows = rowsOf({
      hours: [quiet, quiet, [100, 100, 94, 95], [95, 96, 94, 95], [95, 96, 94, 95]],
      quarters: {
        2: [
          [100, 100, 99, 99],
          [96, 96, 95, 95],
          [95, 95, 94, 95],
          [95, 95, 94, 95],
        ],
      },
      entry: [enterAt([0]), enterAt([1], { side: 'short', ...at('stop', 98) }, { conflict: 'reverse' })],
    });
    expect(rows).toEqual([
      ['long', 1, 100, 2, 96, 10, 'reverse', 'drill'],
      ['short', 2, 96, 4, 95, 10, 'end_of_data', 'direct'],
    ]);
  });

  it('is that of a limit entry, which is not slipped', () => {
    const rows = rowsOf({
      hours: [flat(100), quiet, [100, 104, 99, 103], [103, 104, 102, 103], [103, 104, 102, 103]],
      entry: [enterAt([0]), enterAt([1], { side: 'short', ...at('limit', 103, 2) }, { conflict: 'reverse' })],
      config: { ambiguityResolution: 'pessimistic' },
      execution: onePercent,
    });
    expect(rows).toEqual([
      ['long', 1, 101, 2, 103, 10, 'reverse', 'direct'],
      ['short', 2, 103, 4, 104.03, 10, 'end_of_data', 'direct'],
    ]);
  });

  it('is that of a stop entry, slipped once for both', () => {
    const rows = rowsOf({
      hours: [flat(100), quiet, [100, 101, 94, 95], [95, 96, 94, 95]],
      entry: [enterAt([0]), enterAt([1], { side: 'short', ...at('stop', 98) }, { conflict: 'reverse' })],
      config: { ambiguityResolution: 'pessimistic' },
      execution: onePercent,
    });
    expect(rows[0]).toEqual(['long', 1, 101, 2, 97.02, 10, 'reverse', 'direct']);
    expect(rows[1].slice(0, 3)).toEqual(['short', 2, 97.02]);
  });
});

describe('a stop', () => {
  it.each(['pessimistic', 'optimistic', 'bar_direction', 'distance', 'multi_resolution'] as const)(
    'never fills at a better price than the market offered: moved beyond the open by a ladder step, under %s',
    (ambiguityResolution) => {
      const rows = rowsOf({
        hours: [
          [98, 98.5, 97, 98],
          [100, 100.5, 98, 99],
          [99, 100, 98, 99],
          [99, 100, 98, 99],
        ],
        entry: enterAt([0]),
        risk: { takeProfits: [{ triggerPrice: write.constant(99), closePercent: 50, moveStopToBreakeven: true }] },
        config: { ambiguityResolution },
        execution: onePercent,
      });
      expect(rows).toEqual([
        ['long', 1, 101, 1, 100, 5, 'take_profit', 'gap'],
        ['long', 1, 101, 1, 99, 5, 'breakeven', 'gap'],
      ]);
    },
  );
});

describe('the path of a bar', () => {
  const risk = { trailingStop: { distancePercent: 5 } };
  it.each(['bar_direction', 'distance'] as const)(
    'starts at the open, which moves the stop of a position carried into the bar: %s',
    (policy) => {
      const rows = rowsOf({
        hours: [
          flat(100),
          quiet,
          policy === 'distance' ? [120, 130, 112, 120.5] : [120, 121, 112, 120.5],
          [120, 121, 119, 120],
        ],
        entry: enterAt([0]),
        risk,
        config: { ambiguityResolution: policy },
      });
      expect(rows).toEqual([['long', 1, 100, 2, 114, 10, 'trailing_stop', 'fallback']]);
    },
  );

  it('is followed by a position from its entry inside the bar on', () => {
    const rows = rowsOf({
      hours: [flat(98.5), [98.5, 103, 97.9, 99], [99, 99.5, 97, 98], [98, 99, 97, 98], [98, 99, 97, 98]],
      entry: enterAt([0], at('limit', 98, 2)),
      risk,
      config: { ambiguityResolution: 'bar_direction' },
    });
    expect(rows).toEqual([['long', 1, 98, 2, 97.85, 10, 'trailing_stop', 'direct']]);
  });

  it('is followed in a child that is itself undecided as well', () => {
    const rows = rowsOf({
      hours: [flat(100), quiet, [100, 110, 99, 101], [101, 111, 101, 110], [110, 111, 109, 110]],
      quarters: {
        2: [
          [100, 110, 99, 101],
          [101, 102, 101, 101],
          [101, 102, 101, 101],
          [101, 102, 101, 101],
        ],
      },
      entry: enterAt([0]),
      risk,
      config: { ambiguityFallback: 'bar_direction' },
    });
    expect(rows).toEqual([['long', 1, 100, 2, 104.5, 10, 'trailing_stop', 'fallback']]);
  });
});

describe('history over account state', () => {
  it('is recorded on every bar, also for an exit', () => {
    const equity = { kind: 'state', field: 'account_equity' };
    const rows = rowsOf({
      hours: [
        flat(100),
        flat(100),
        [100, 100, 98, 98],
        [98, 102, 98, 102],
        [102, 103, 101, 102],
        [102, 103, 90, 91],
        [91, 92, 90, 91],
      ],
      entry: enterAt([1]),
      exits: [{ kind: 'exit', when: write.compare(equity, 'lt', { kind: 'shift', source: equity, offset: 1 }) }],
    });
    expect(rows).toEqual([['long', 2, 100, 3, 98, 10, 'signal', 'direct']]);
  });
});

describe('pending orders of one bar', () => {
  const all = { mode: 'percent_equity', value: 100 };
  const entry = [
    enterAt([0], { side: 'short', sizing: all, ...at('stop', 95) }),
    enterAt([1], { side: 'short', sizing: all, ...at('stop', 98) }),
  ];
  const hours: Ohlc[] = [flat(100), [100, 100, 99, 100], [100, 100, 94, 94], [94, 95, 93, 94], [94, 95, 93, 94]];
  const expected = [['short', 2, 98, 4, 94, 102.04081632, 'end_of_data', 'direct']];

  it('settle by the children in time order', () => {
    const quarters: Record<number, Ohlc[]> = {
      2: [
        [100, 100, 97, 97],
        [97, 97, 96, 96],
        [96, 96, 94, 94],
        [94, 95, 94, 94],
      ],
    };
    expect(rowsOf({ hours, quarters, entry, slots: 2 })).toEqual(expected);
  });

  it.each(['pessimistic', 'optimistic', 'bar_direction', 'distance'] as const)(
    'settle nearest to the open first, or as the path reaches them: %s',
    (ambiguityResolution) => {
      expect(rowsOf({ hours, entry, slots: 2, config: { ambiguityResolution } })).toEqual(expected);
    },
  );

  it('close a position at their price before a stop behind it is reached', () => {
    const rows = rowsOf({
      hours: [flat(100), quiet, [100, 101, 93, 94], [94, 95, 93, 94]],
      entry: [enterAt([0]), enterAt([1], { side: 'short', ...at('stop', 95) }, { conflict: 'close' })],
      risk: { stopLoss: { mode: 'fixed', value: 6 } },
      config: { ambiguityResolution: 'pessimistic' },
    });
    expect(rows).toEqual([['long', 1, 100, 2, 95, 10, 'reverse', 'direct']]);
  });
});

describe('a slot or side', () => {
  const risk = { stopLoss: { mode: 'fixed', value: 5 } };
  const hours: Ohlc[] = [flat(100), quiet, [100, 104, 94, 95], [95, 96, 94, 95], [95, 96, 94, 95]];
  const quarters: Record<number, Ohlc[]> = {
    2: [
      [100, 104, 100, 104],
      [104, 104, 99, 99],
      [99, 99, 94, 95],
      [95, 95, 94, 95],
    ],
  };
  const long = ['long', 1, 100, 2, 95, 10, 'stop_loss'];
  const shortLimit = { side: 'short', ...at('limit', 103, 3) };

  it('is still taken in a walked bar when an order is reached before the stop', () => {
    const rows = rowsOf({
      hours: [flat(100), ...hours],
      quarters: { 3: quarters[2] },
      entry: [enterAt([0], { side: 'short', ...at('limit', 103, 4) }), enterAt([1])],
      risk,
      slots: 2,
    });
    expect(rows.map((row) => row.slice(0, 7))).toEqual([['long', 2, 100, 3, 95, 10, 'stop_loss']]);
  });

  it.each(['pessimistic', 'optimistic', 'bar_direction', 'distance'] as const)(
    'is still taken inside a bar that is not walked: %s',
    (ambiguityResolution) => {
      const rows = rowsOf({
        hours: [flat(100), ...hours],
        entry: [enterAt([0], { side: 'short', ...at('limit', 103, 4) }), enterAt([1])],
        risk,
        slots: 2,
        config: { ambiguityResolution },
      });
      expect(rows.map((row) => row.slice(0, 7))).toEqual([['long', 2, 100, 3, 95, 10, 'stop_loss']]);
    },
  );

  it('is taken for an opposite limit order under ignore, which is dropped at the signal', () => {
    const rows = rowsOf({ hours, quarters, entry: [enterAt([0]), enterAt([1], shortLimit)], risk, slots: 2 });
    expect(rows.map((row) => row.slice(0, 7))).toEqual([long]);
  });
});

describe('a bar', () => {
  it('is undecided only if something real is left after earlier partial exits', () => {
    const rows = rowsOf({
      hours: [flat(100), quiet, quiet, [100, 113, 99, 112], [112, 113, 111, 112]],
      quarters: {
        3: [
          [100, 101, 99, 101],
          [101, 109, 101, 109],
          [112, 113, 111, 112],
          [112, 113, 111, 112],
        ],
      },
      entry: enterAt([0]),
      exits: [{ kind: 'exit', when: atHour(1), action: { mode: 'percent_position', value: 50 } }],
      risk: { takeProfits: [{ triggerPercent: 10, closePercent: 60, moveStopToBreakeven: true }] },
    });
    expect(rows).toEqual([
      ['long', 1, 100, 2, 100, 5, 'signal', 'direct'],
      ['long', 1, 100, 3, 110, 5, 'take_profit', 'direct'],
    ]);
  });
});

describe('a cooldown', () => {
  it.each([
    ['bar_close', [['long', 0, 100, 2, 101, 10, 'signal', 'direct']]],
    ['next_open', [['long', 1, 100, 3, 101, 10, 'signal', 'direct']]],
  ] as const)('counts from the exit being ordered: %s', (orderTiming, expected) => {
    const rows = rowsOf({
      hours: [flat(100), quiet, [100, 101, 99, 101], [101, 102, 100, 101], [101, 102, 100, 101]],
      entry: enterAt([0, 2], {}, { cooldownBars: 5 }),
      exits: [{ kind: 'exit', when: atHour(2) }],
      execution: { orderTiming },
    });
    expect(rows).toEqual(expected);
  });
});

describe('risk_percent', () => {
  it('charges each leg the rate of its own role', () => {
    const rows = rowsOf({
      hours: [flat(100), [100, 100, 98.5, 99], [99, 100, 98.5, 99], [99, 100, 98.5, 99]],
      entry: enterAt([0], { sizing: { mode: 'risk_percent', value: 1 } }),
      risk: { stopLoss: { mode: 'percent', value: 1 } },
      config: { leverage: 10 },
      execution: { feeModel: feesOf(0, 0.005), entryOrderRole: 'maker' },
    });
    // 100 / (1 + 0 · 100 + 0.005 · 99): the stop costs 1 % of 10,000, its fee included.
    expect(rows).toEqual([['long', 1, 100, 1, 99, 66.8896321, 'stop_loss', 'direct']]);
  });
});

describe('a ladder', () => {
  it('leaves no dust when it reaches 100 % on mixed bases', () => {
    const rows = rowsOf({
      hours: [
        flat(100),
        [100, 100.5, 100, 100],
        [100, 103, 100, 103],
        [103, 103, 102.5, 103],
        [103, 103, 102, 103],
        [103, 104, 103, 104],
      ],
      entry: enterAt([0, 3], { sizing: units(1.04000001) }),
      risk: {
        takeProfits: [
          { triggerPercent: 1, closePercent: 49.6, closeBasis: 'remaining' },
          { triggerPercent: 2, closePercent: 50.4 },
        ],
      },
      config: { ambiguityResolution: 'pessimistic' },
    });
    expect(rows).toEqual([
      ['long', 1, 100, 2, 101, 0.51584, 'take_profit', 'direct'],
      ['long', 1, 100, 2, 102, 0.52416001, 'take_profit', 'direct'],
      ['long', 4, 103, 5, 104, 1.04000001, 'end_of_data', 'direct'],
    ]);
  });

  it('leaves no dust when its percents add up to 100 but for rounding', () => {
    // 24.4 + 39.8 + 35.8 is 99.99999999999999 in doubles; the first two steps are rounded down.
    const rows = rowsOf({
      hours: [flat(100), [100, 100.5, 100, 100], [100, 104, 100, 104], [104, 105, 104, 104]],
      entry: enterAt([0], { sizing: units(1.00000003) }),
      risk: {
        takeProfits: [
          { triggerPercent: 1, closePercent: 24.4 },
          { triggerPercent: 2, closePercent: 39.8 },
          { triggerPercent: 3, closePercent: 35.8 },
        ],
      },
      config: { ambiguityResolution: 'pessimistic' },
    });
    expect(rows).toEqual([
      ['long', 1, 100, 2, 101, 0.244, 'take_profit', 'direct'],
      ['long', 1, 100, 2, 102, 0.39800001, 'take_profit', 'direct'],
      ['long', 1, 100, 2, 103, 0.35800002, 'take_profit', 'direct'],
    ]);
  });

  it('loses no step to division noise', () => {
    const rows = rowsOf({ hours: [flat(100), quiet, quiet], entry: enterAt([0], { sizing: units(1.15) }) });
    expect(rows).toEqual([['long', 1, 100, 2, 100, 1.15, 'end_of_data', 'direct']]);
  });
});
