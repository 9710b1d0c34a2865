// Price scale: a strategy that only compares prices with prices and reads bounded oscillators cannot tell dollars from
// quarters.
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createMarket, type Bars, type BacktestTask, type Market } from '../../src/engine/index.ts';
import { simulateTask } from '../../src/engine/backtest.ts';
import { shippedData } from '../support/shippedData.ts';
import * as write from '../support/builders.ts';
import { scaled } from '../support/scale.ts';

/** A power of two, so that scaling rounds nothing and every comparison comes out the same to the last bit. */
const FACTOR = 4;
const CONTROL = { isCancelled: () => false, report: () => {} };

let market: Market;
let scaledMarket: Market;
beforeAll(async () => {
  const catalog = await shippedData();
  const whole = createMarket(await catalog.snapshots('EURUSD', '1h'), 'EURUSD', '1h');
  const times = (values: Float64Array): Float64Array => values.map((value) => value * FACTOR);
  const { base } = whole;
  const rows = 1500;
  const cut = (values: Float64Array): Float64Array => values.subarray(0, rows);
  const prices = (
    of: Bars,
    change: (values: Float64Array) => Float64Array,
  ): Pick<Bars, 'open' | 'high' | 'low' | 'close'> => ({
    open: change(of.open),
    high: change(of.high),
    low: change(of.low),
    close: change(of.close),
  });
  const ofTime = { length: rows, time: cut(base.time), volume: cut(base.volume) };
  const bars: Bars = { ...base, ...ofTime, ...prices(base, cut), sha256: 'plain' };
  const dear: Bars = { ...bars, ...prices(bars, times), sha256: 'scaled' };
  // Without a quantity step: a step is a size in units, and four times the price buys a quarter of them.
  const instrument = { ...whole.instrument, qtyStep: 0 };
  market = { base: bars, instrument, fine: undefined, bars: () => undefined };
  scaledMarket = { base: dear, instrument, fine: undefined, bars: () => undefined };
});

const length = fc.integer({ min: 2, max: 40 });
const price = fc.oneof(
  fc.constantFrom('open', 'high', 'low', 'close', 'hl2').map((field) => write.market(field)),
  fc.tuple(fc.constantFrom('sma', 'ema', 'wma'), length).map(([name, n]) => write.indicator(name, { length: n })),
  fc
    .tuple(fc.constantFrom('max', 'min', 'avg'), length)
    .map(([op, period]) => ({ kind: 'rolling', op, period, source: write.market() })),
);
const condition = fc.oneof(
  fc.tuple(fc.constantFrom('gt', 'lte'), price, price).map(([op, left, right]) => write.compare(left, op, right)),
  fc
    .tuple(fc.constantFrom('cross_up', 'cross_down'), price, price)
    .map(([op, left, right]) => write.cross(left, op, right)),
  fc
    .tuple(length, fc.integer({ min: 20, max: 80 }))
    .map(([n, level]) => write.compare(write.indicator('rsi', { length: n }), 'lt', level)),
  fc.constantFrom('engulfing', 'doji', 'hammer').map((name) => ({ kind: 'pattern', name })),
);
const strategy = fc.record({
  entry: fc.tuple(condition, condition, fc.constantFrom('long', 'short')).map(([trigger, filter, side]) => ({
    kind: 'entry',
    trigger,
    filters: [filter],
    action: { side, sizing: { mode: 'percent_equity', value: 50 } },
  })),
  exits: condition.map((when) => [{ kind: 'exit', when }]),
  risk: fc.integer({ min: 1, max: 30 }).map((tenths) => ({
    stopLoss: { mode: 'percent', value: tenths / 10 },
    trailingStop: { distanceAtr: { period: 14, multiplier: 2 } },
  })),
});

it('four times the price: the same signals, the same bars of entry and exit, the same returns', () => {
  let positions = 0;
  fc.assert(
    fc.property(strategy, (parts) => {
      const task = {
        id: 'scale',
        settings: {},
        strategyHash: '',
        strategyAst: { protocol: 'svc.strategy', version: 1, strategy: { kind: 'strategy', ...parts } },
        config: {
          timeframe: '1h',
          signalInstrument: { symbol: 'EURUSD' },
          initialBalance: 10_000,
          execution: {
            feeModel: {
              kind: 'tiered_maker_taker',
              tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.0001 }],
            },
            slippage: { kind: 'fixed', unit: 'bps', value: 1 },
          },
        },
      } as unknown as BacktestTask;
      const plain = simulateTask(task, market, CONTROL, false);
      const dear = simulateTask(task, scaledMarket, CONTROL, false);
      if (!plain.ok || !dear.ok) throw new Error('The run failed.');
      const shape = ({ trades }: typeof plain) =>
        trades.map((trade) => [trade.entryBar, trade.exitBar, trade.exitReason, trade.side]);
      expect(shape(dear)).toEqual(shape(plain));
      expect(dear.report.simulation.counts).toEqual(plain.report.simulation.counts);
      plain.trades.forEach((trade, index) => {
        expect(dear.trades[index].returnPct).toBeCloseTo(trade.returnPct, 12);
        expect(dear.trades[index].entryPrice).toBe(trade.entryPrice * FACTOR);
      });
      expect(dear.summary.returnPct).toBeCloseTo(plain.summary.returnPct, 12);
      positions += plain.trades.length;
    }),
    { numRuns: scaled(2_000), seed: 20_261_121 },
  );
  expect(positions).toBeGreaterThan(100);
});
