// Plans as text, and what they gave, pinned together: a change of either shows as a diff (update with `-u`).
import { beforeAll, describe, expect, it } from 'vitest';
import { createMarket, prepareStrategy, runBacktest } from '../../../src/engine/index.ts';
import type { BacktestConfig, Market, StrategyAst } from '../../../src/engine/index.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { explainPlan } from '../../../src/engine/plan/explain.ts';
import { shippedData } from '../../support/shippedData.ts';
import { all, compare, constant, cross, indicator, market, strategy, type Json } from '../../support/builders.ts';

let spx: Market;
let eurusd: Market;
beforeAll(async () => {
  const data = await shippedData();
  spx = createMarket([...(await data.snapshots('SPX', '1d')), ...(await data.snapshots('NASDAQ', '1d'))], 'SPX', '1d');
  eurusd = createMarket(await data.snapshots('EURUSD', '1h'), 'EURUSD', '1h');
});

/**
 * The plan, and the run of it without costs: how many trades, the first and the last entry, the sum of their results.
 */
function planAndResult(ast: Json, on: Market): string {
  const { symbol, timeframe } = on.base;
  const config = {
    timeframe,
    signalInstrument: { symbol },
    initialBalance: 10_000,
    execution: {
      feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }] },
      slippage: { kind: 'none' },
    },
  } as BacktestConfig;
  const prepared = prepareStrategy(ast as StrategyAst, {}, {}, { timeframe: config.timeframe });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const plan = compilePlan(prepared.strategy, on.base, {
    pointerOf: prepared.pointerOf,
    slippageAtrPeriod: null,
    recordsConditions: true,
  });
  const task = { id: 'run', strategyAst: ast as StrategyAst, settings: {}, config, strategyHash: 'hash' };
  const outcome = runBacktest(task, on, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const { trades } = outcome;
  const at = (trade: { entryTime: number } | undefined): string =>
    trade ? new Date(trade.entryTime).toISOString().slice(0, 16) : '–';
  const pnl = trades.reduce((sum, trade) => sum + trade.pnl, 0).toFixed(2);
  return `${explainPlan(plan, on.base.symbol)}trades: ${trades.length} from ${at(trades[0])} to ${at(trades.at(-1))}, together ${pnl}`;
}

const sma = (length: number): Json => indicator('sma', { length });
const exit = (when: Json): Json => ({ kind: 'exit', when });

describe('a plan and its result', () => {
  it('shares the steps that entry and exit both read, and both directions of a cross', () => {
    const ast = strategy(cross(sma(10), 'cross_up', sma(30)), { exits: [exit(cross(sma(10), 'cross_down', sma(30)))] });
    expect(planAndResult(ast, spx)).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 5 steps
        #0 value     field field=close, read 2 times
        #1 value     sma(length=10).value ← #0, read 2 times
        #2 value     sma(length=30).value ← #0, read 2 times
        #3 condition cross direction=up ← #1, #2
        #4 condition cross direction=down ← #1, #2
      entry 0 /strategyAst/strategy/entry: #3
      exit 0 /strategyAst/strategy/exits/0: #4
      buffers: 2 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 33 bytes (and up to 48 while a column is made) and 20 ns per bar, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 88 from 1999-02-26T00:00 to 2018-11-19T00:00, together 2770.92"
    `);
  });

  it('folds arithmetic of numbers, and gives two spellings of one price one column', () => {
    const double: Json = { kind: 'math', op: 'mul', args: [constant(2), constant(15)] };
    const ast = strategy(compare(indicator('rsi', { length: 14, source: 'typical' }), 'lt', double), {
      exits: [exit(compare(indicator('rsi', { length: 14, source: 'hlc3' }), 'gt', 70))],
    });
    expect(planAndResult(ast, spx)).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 8 steps
        #0 value     field field=hlc3
        #1 value     rsi(length=14).value ← #0, read 2 times
        #2 value     const 2
        #3 value     const 15
        #4 value     const 30
        #5 condition compare compare=lt tolerance=0 ← #1, #4
        #6 value     const 70
        #7 condition compare compare=gt tolerance=0 ← #1, #6
      entry 0 /strategyAst/strategy/entry: #5
      exit 0 /strategyAst/strategy/exits/0: #7
      buffers: 1 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 33 bytes (and up to 48 while a column is made) and 17 ns per bar, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 23 from 1999-08-06T00:00 to 2018-10-11T00:00, together 1065.13"
    `);
  });

  it('runs a node on its own timeframe and aligns it, over weekends without bars', () => {
    const daily = { timeframe: '1d' };
    const trend = compare(market('close', daily), 'gt', indicator('ema', { length: 10 }, daily));
    const ast = strategy(all(trend, { kind: 'rising', bars: 2, source: market('close', { timeframe: '4h' }) }), {
      exits: [exit({ kind: 'not', item: trend })],
    });
    expect(planAndResult(ast, eurusd)).toMatchInlineSnapshot(`
      "Plan on EURUSD:1h: 10 steps
         #0 value     field field=close on EURUSD:1d, read 2 times
         #1 value     align from=EURUSD:1d ← #0
         #2 value     ema(length=10).value ← #0 on EURUSD:1d
         #3 value     align from=EURUSD:1d ← #2
         #4 condition compare compare=gt tolerance=0 ← #1, #3, read 2 times
         #5 value     field field=close on EURUSD:4h
         #6 condition moving direction=rising bars=2 ← #5 on EURUSD:4h
         #7 condition align_condition from=EURUSD:4h ← #6
         #8 condition all ← #4, #7
         #9 condition not ← #4
      entry 0 /strategyAst/strategy/entry: #8
      exit 0 /strategyAst/strategy/exits/0: #9
      buffers: 3 of 8 bytes per bar, 5 of 2 bits per bar
      at the peak: 41 bytes (and up to 48 while a column is made) and 18 ns per bar, 8 bytes (and up to 48 while a column is made) and 4 ns per bar of EURUSD:1d, 0 bytes (and up to 40 while a column is made) and 2 ns per bar of EURUSD:4h, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 21 from 2017-01-15T23:00 to 2017-12-19T04:00, together 420.30"
    `);
  });

  it('joins another instrument by close time', () => {
    const other = { instrument: { symbol: 'NASDAQ' } };
    const ratio: Json = { kind: 'math', op: 'div', args: [market(), market('close', other)] };
    const mean: Json = { kind: 'rolling', op: 'avg', period: 50, source: ratio };
    const ast = strategy(cross(ratio, 'cross_up', mean), { exits: [exit(cross(ratio, 'cross_down', mean))] });
    expect(planAndResult(ast, spx)).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 7 steps
        #0 value     field field=close
        #1 value     field field=close on NASDAQ:1d
        #2 value     align from=NASDAQ:1d ← #1
        #3 value     math math=div ← #0, #2, read 3 times
        #4 value     rolling rolling=avg period=50 quantile=0.5 ← #3, read 2 times
        #5 condition cross direction=up ← #3, #4
        #6 condition cross direction=down ← #3, #4
      entry 0 /strategyAst/strategy/entry: #5
      exit 0 /strategyAst/strategy/exits/0: #6
      buffers: 3 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 45 bytes (and up to 56 while a column is made) and 20 ns per bar, 0 bytes (and up to 40 while a column is made) and 1 ns per bar of NASDAQ:1d, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 163 from 1999-04-20T00:00 to 2018-12-14T00:00, together 1576.60"
    `);
  });

  it('leaves only what reads a position to the loop, and gates it with the rest', () => {
    const held = { kind: 'state', field: 'position_bars_since_entry' };
    const ast = strategy(cross(sma(10), 'cross_up', sma(30)), {
      exits: [exit(all(compare(market(), 'lt', sma(10)), compare(held, 'gte', 5)))],
    });
    expect(planAndResult(ast, spx)).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 6 steps
        #0 value     field field=close, read 3 times
        #1 value     sma(length=10).value ← #0, read 2 times
        #2 value     sma(length=30).value ← #0
        #3 condition cross direction=up ← #1, #2
        #4 condition compare compare=lt tolerance=0 ← #0, #1
        #5 value     const 5
      entry 0 /strategyAst/strategy/entry: #3
      exit 0 /strategyAst/strategy/exits/0: in the loop: position_bars_since_entry >= 5, gated by #4
      buffers: 2 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 33 bytes (and up to 48 while a column is made) and 60 ns per bar, 512 bytes per trade (admitted: one in 24 bars, at least 4096), 32 bytes of windows over state
      trades: 85 from 1999-02-26T00:00 to 2018-11-19T00:00, together 383.94"
    `);
  });

  it('runs a source of a node on the timeframe of the node', () => {
    const smooth = indicator(
      'sma',
      { length: 3 },
      { timeframe: '4h', source: { kind: 'math', op: 'sub', args: [market('high'), market('low')] } },
    );
    const ast = strategy(
      compare(smooth, 'gt', { kind: 'rolling', op: 'quantile', quantile: 0.9, period: 40, source: smooth }),
      {
        exits: [exit({ kind: 'session', name: 'new_york' })],
      },
    );
    expect(planAndResult(ast, eurusd)).toMatchInlineSnapshot(`
      "Plan on EURUSD:1h: 9 steps
        #0 value     field field=high on EURUSD:4h
        #1 value     field field=low on EURUSD:4h
        #2 value     math math=sub ← #0, #1 on EURUSD:4h
        #3 value     sma(length=3).value ← #2 on EURUSD:4h, read 2 times
        #4 value     align from=EURUSD:4h ← #3
        #5 value     rolling rolling=quantile period=40 quantile=0.9 ← #3 on EURUSD:4h
        #6 value     align from=EURUSD:4h ← #5
        #7 condition compare compare=gt tolerance=0 ← #4, #6
        #8 condition time_window window={"kind":"time_window","between":{"from":"08:00","to":"17:00"}} timezone=America/New_York
      entry 0 /strategyAst/strategy/entry: #7
      exit 0 /strategyAst/strategy/exits/0: #8
      buffers: 5 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 37 bytes (and up to 48 while a column is made) and 17 ns per bar, 24 bytes (and up to 56 while a column is made) and 17 ns per bar of EURUSD:4h, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 406 from 2017-01-11T20:00 to 2017-12-29T21:00, together 62.24"
    `);
  });

  it('finds a pattern as bits where only its sides are read, and as values where they are read later', () => {
    const pattern = (side: string, offset = 0): Json => ({ kind: 'pattern', name: 'engulfing', side, offset });
    const exits = [exit(pattern('bearish'))];
    const atOnce = planAndResult(strategy(pattern('bullish'), { exits }), spx);
    const later = planAndResult(strategy(pattern('bullish', 1), { exits }), spx);
    expect(atOnce).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 7 steps
        #0 value     field field=open
        #1 value     field field=high
        #2 value     field field=low
        #3 value     field field=close
        #4 value     pattern engulfing{} ← #0, #1, #2, #3, read 2 times
        #5 condition pattern_side side=bullish ← #4
        #6 condition pattern_side side=bearish ← #4
      entry 0 /strategyAst/strategy/entry: #5
      exit 0 /strategyAst/strategy/exits/0: #6
      buffers: 0 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 17 bytes (and up to 72 while a column is made) and 21 ns per bar, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 205 from 1999-01-11T00:00 to 2018-08-03T00:00, together -1129.85"
    `);
    expect(later).toMatchInlineSnapshot(`
      "Plan on SPX:1d: 8 steps
        #0 value     field field=open
        #1 value     field field=high
        #2 value     field field=low
        #3 value     field field=close
        #4 value     pattern engulfing{} ← #0, #1, #2, #3, read 2 times
        #5 value     shift by=1 ← #4
        #6 condition pattern_side side=bullish ← #5
        #7 condition pattern_side side=bearish ← #4
      entry 0 /strategyAst/strategy/entry: #6
      exit 0 /strategyAst/strategy/exits/0: #7
      buffers: 2 of 8 bytes per bar, 2 of 2 bits per bar
      at the peak: 33 bytes (and up to 72 while a column is made) and 22 ns per bar, 512 bytes per trade (admitted: one in 24 bars, at least 4096)
      trades: 208 from 1999-01-12T00:00 to 2018-08-06T00:00, together -1876.53"
    `);
  });
});
