// Universes of robustness checks: histories drawn for all instruments at once, bars of which nothing is known after a
// cut, and the units that evidence counts and Monte Carlo draws.
import { describe, expect, it } from 'vitest';
import { DAY_MS, type Bars, type Market, type Universe } from '../../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../../src/engine/bars/timeAxis.ts';
import { createUniverse, type BacktestConfig, type StrategyAst } from '../../../src/engine/index.ts';
import { lookAheadAudit } from '../../../src/engine/robustness/analyses/lookAheadAudit.ts';
import { monteCarlo } from '../../../src/engine/robustness/analyses/monteCarlo.ts';
import { warmUpAudit } from '../../../src/engine/robustness/analyses/warmUpAudit.ts';
import { bootstrapMarket, bootstrapUniverse } from '../../../src/engine/robustness/analyses/blockBootstrap.ts';
import type { CheckRun } from '../../../src/engine/robustness/checkRuns.ts';
import { universeFrom, universeKnownAt } from '../../../src/engine/robustness/cutUniverse.ts';
import { evidenceOf } from '../../../src/engine/robustness/evidence.ts';
import { profitsOf, unitsOf } from '../../../src/engine/robustness/tradeUnits.ts';
import { randomSnapshot, START } from '../../support/bars.ts';
import { astOf, compare, cross, entry, exit, indicator, market as field, type Json } from '../../support/builders.ts';
import { diceOf } from '../../support/dice.ts';
import { listOf, openMarket, PORTFOLIO_CONFIG, ROTATION, SLOTTED, SYMBOLS } from '../../support/portfolioSweeps.ts';
import { baselineOf, robustnessContext } from '../../support/robustness.ts';
import { scaled } from '../../support/scale.ts';

const universe: Universe = { instruments: SYMBOLS.map((symbol) => openMarket(symbol)!) };
const axis = timeAxisOf(universe.instruments.map(({ base }) => base)).time;
const baseOf = ({ instruments }: Universe, symbol: string): Bars =>
  instruments.find(({ base }) => base.symbol === symbol)!.base;

describe('a drawn history of a universe', () => {
  const draw = { end: 650, blockBars: 20, seed: 5, sample: 3 };
  const made = bootstrapUniverse(universe, draw);
  /** The time of the bar that a drawn bar was made of, by its volume. */
  const sourceTimes = (symbol: string): Map<number, number> => {
    const [drawn, source] = [baseOf(made, symbol), baseOf(universe, symbol)];
    const timeOf = new Map(Array.from(source.volume, (volume, row) => [volume, source.time[row]]));
    expect(timeOf.size).toBe(source.length);
    return new Map(Array.from(drawn.time, (time, row) => [time, timeOf.get(drawn.volume[row])!]));
  };
  // MID has a bar at every instant.
  const sources = sourceTimes('MID');

  it('has at every instant the bars of one instant, of all instruments that have one there', () => {
    expect([...sources.keys()]).toEqual([...axis.subarray(0, 650)]);
    for (const symbol of SYMBOLS) {
      const own = sourceTimes(symbol);
      const [first, ...others] = baseOf(universe, symbol).time;
      // Its own first bar has no close before it, and is left out unless nothing precedes it.
      const expected = [...sources].filter(([, source]) => others.includes(source));
      expect([...own].filter(([, source]) => source !== first)).toEqual(expected);
      expect([...own.values()].filter((source) => source === first).length).toBeLessThanOrEqual(1);
    }
  });

  it('moves in blocks of consecutive instants', () => {
    const instants = [...sources.values()].map((time) => axis.indexOf(time));
    expect(instants[0]).toBe(0);
    for (let at = 2; at < instants.length; at++)
      if ((at - 1) % 20 !== 0) expect(instants[at]).toBe((instants[at - 1] % 649) + 1);
    expect(new Set(instants).size).toBeGreaterThan(300);
  });

  it('keeps the shape of every bar relative to the last close of its own instrument', () => {
    for (const symbol of SYMBOLS) {
      const [drawn, source] = [baseOf(made, symbol), baseOf(universe, symbol)];
      const rowOf = new Map(Array.from(source.volume, (volume, row) => [volume, row]));
      for (let row = 1; row < drawn.length; row++) {
        const from = rowOf.get(drawn.volume[row])!;
        for (const column of ['open', 'high', 'low', 'close'] as const)
          expect(drawn[column][row] / drawn.close[row - 1]).toBeCloseTo(
            source[column][from] / source.close[from - 1],
            9,
          );
      }
    }
  });

  it('is that of the market for a list of one, byte for byte', () => {
    const market = openMarket('ZIP')!;
    const [{ base }] = bootstrapUniverse({ instruments: [market] }, { ...draw, end: 400 }).instruments;
    expect(base).toEqual(bootstrapMarket(market, { ...draw, end: 400 }).base);
  });

  it('gives every instrument the same bars of another one, and none finer', () => {
    const hours = ['A', 'B'].map((symbol, at) => randomSnapshot({ symbol, timeframe: '4h', seed: at + 1, count: 600 }));
    const [a, b] = bootstrapUniverse(createUniverse(hours, ['A', 'B'], '4h'), { ...draw, end: 600 }).instruments;
    expect(a.bars('B', '4h')).toBe(b.base);
    expect(a.bars('B', '1d')).toBe(b.bars('B', '1d'));
    expect(b.bars('B', '1d')!.close[3]).toBe(b.base.close[4 * 6 - 1]);
    expect([a.fine, b.fine, a.bars('B', '1h')]).toEqual([undefined, undefined, undefined]);
  });
});

describe('the correlation of instruments', () => {
  const returnsOf = ({ close }: Bars): number[] =>
    Array.from(close.subarray(1), (price, row) => price / close[row] - 1);
  function correlation(a: number[], b: number[]): number {
    const centered = (values: number[]): number[] => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return values.map((value) => value - mean);
    };
    const [x, y] = [centered(a), centered(b)];
    const dot = (p: number[], q: number[]): number => p.reduce((sum, value, at) => sum + value * q[at], 0);
    return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
  }
  const twin = randomSnapshot({ symbol: 'TWIN', timeframe: '1d', seed: 1, count: 600 });
  const same = randomSnapshot({ symbol: 'SAME', timeframe: '1d', seed: 1, count: 600 });
  const other = randomSnapshot({ symbol: 'OTHER', timeframe: '1d', seed: 2, count: 600 });
  const three = createUniverse([twin, same, other], ['TWIN', 'OTHER', 'SAME'], '1d');

  it('survives: equal instruments stay equal, and unrelated ones unrelated', () => {
    const [a, c, b] = three.instruments.map(({ base }) => base);
    const original = correlation(returnsOf(a), returnsOf(c));
    for (let sample = 0; sample < 20; sample++) {
      const drawn = bootstrapUniverse(three, { end: 600, blockBars: 24, seed: 1, sample });
      const [x, z, y] = drawn.instruments.map(({ base }) => base);
      expect(y.close).toEqual(x.close);
      expect(x.close).not.toEqual(a.close);
      expect(correlation(returnsOf(x), returnsOf(y))).toBeCloseTo(1, 12);
      expect(Math.abs(correlation(returnsOf(x), returnsOf(z)) - original)).toBeLessThan(0.2);
    }
    expect(b.close).toEqual(a.close);
  });

  it('keeps a hedge: two equal legs in one pair earn nothing but their costs', () => {
    const pair = astOf({
      entry: entry(compare(field(), 'gt', 0), {
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 20 } },
      }),
      exits: [],
    });
    const context = robustnessContext(pair as StrategyAst, three, {
      config: { ...PORTFOLIO_CONFIG, instruments: listOf(['TWIN', 'SAME']), execution: undefined },
    });
    const drawn = bootstrapUniverse(
      { instruments: [three.instruments[0], three.instruments[2]] },
      { end: 600, blockBars: 24, seed: 1, sample: 7 },
    );
    const run = baselineOf({ ...context, market: drawn });
    const [one, two] = run.simulation.trades;
    expect(one.pnl).toBe(two.pnl);
  });
});

describe('a universe of which nothing is known after an instant', () => {
  const instant = 300;
  const known = universeKnownAt(universe, instant);

  it('has every bar that had closed, and after it the times alone', () => {
    for (const symbol of SYMBOLS) {
      const [cut, whole] = [baseOf(known, symbol), baseOf(universe, symbol)];
      const rows = whole.time.filter((time) => time <= axis[instant]).length;
      expect(cut.time).toEqual(whole.time.subarray(0, cut.length));
      for (const column of ['open', 'high', 'low', 'close', 'volume'] as const)
        expect(cut[column].subarray(0, rows)).toEqual(whole[column].subarray(0, rows));
      for (const column of ['open', 'high', 'low', 'close'] as const)
        expect(new Set(cut[column].subarray(rows))).toEqual(new Set([whole.close[rows - 1]]));
      // Eight days later, when it is known whether an instrument without a bar has ended early.
      const last = Math.max(...whole.time.filter((time) => time <= axis[instant] + 8 * DAY_MS));
      expect(cut.time.at(-1)).toBe(last);
    }
  });

  it('has the next bar of an instrument that pauses, and no price of one that has not begun', () => {
    const times = [0, 1, 2, 30, 31].map((day) => START + day * DAY_MS);
    const late = [40, 41].map((day) => START + day * DAY_MS);
    const daily = Array.from({ length: 60 }, (_, day) => START + day * DAY_MS);
    const snapshots = Object.entries({ PAUSE: times, LATE: late, ALL: daily }).map(([symbol, given]) =>
      randomSnapshot({ symbol, times: given, timeframe: '1d' }),
    );
    const [pause, begun, all] = universeKnownAt(
      createUniverse(snapshots, ['PAUSE', 'LATE', 'ALL'], '1d'),
      5,
    ).instruments.map(({ base }) => base);
    expect([...pause.time]).toEqual(times.slice(0, 4));
    expect([...begun.close]).toEqual([1]);
    expect(all.length).toBe(14);
  });
});

describe('a universe whose instruments begin at rows of their own', () => {
  it('cuts each at its row, and other series at the earliest of them', () => {
    const rows = universe.instruments.map((_, index) => 10 * index);
    const cut = universeFrom(universe, rows);
    cut.instruments.forEach(({ base }, index) => {
      const whole = universe.instruments[index].base;
      expect(base.time).toEqual(whole.time.subarray(rows[index]));
      expect(base.close).toEqual(whole.close.subarray(rows[index]));
    });
    const [first, second] = cut.instruments;
    expect(second.bars(first.base.symbol, '1d')).toBe(first.base);
    const other = { ...openMarket('MID')!.base, symbol: 'INDEX' };
    const withIndex = (market: Market): Market => ({
      ...market,
      bars: (symbol, timeframe) => (symbol === 'INDEX' ? other : market.bars(symbol, timeframe)),
    });
    const [later] = universeFrom(
      { instruments: universe.instruments.map(withIndex) },
      rows.map((row) => row + 5),
    ).instruments;
    expect(later.bars('INDEX', '1d')!.length).toBe(695);
  });
});

/** Daily bars of four instruments that begin, pause and end at different times, of five days a week or of seven. */
function randomUniverse(seed: number): Universe {
  const dice = diceOf(seed);
  const symbols = ['DD', 'AA', 'CC', 'BB'];
  const snapshots = symbols.map((symbol, at) => {
    const [isFiveDay, from, pause] = [dice.chance(0.5), dice.pick([0, 0, 40]), dice.whole(40, 130)];
    const [to, length] = [160 - dice.pick([0, 0, 5, 12, 60]), dice.pick([0, 3, 8, 15])];
    const days = Array.from({ length: 160 }, (_, day) => day).filter((day) => {
      const weekday = new Date(START + day * DAY_MS).getUTCDay();
      const trades = !isFiveDay || (weekday !== 0 && weekday !== 6);
      return trades && day >= from && day < to && (day < pause || day >= pause + length) && !dice.chance(0.02);
    });
    return randomSnapshot({
      symbol,
      times: days.map((day) => START + day * DAY_MS),
      timeframe: '1d',
      seed: seed * 10 + at,
      instrument: { tradesAllDay: !isFiveDay },
    });
  });
  return createUniverse(snapshots, symbols, '1d');
}

describe('the look-ahead audit of portfolios', () => {
  const linked = { slots: 3, linked: [['AA', 'DD']] };
  const quick = { ...PORTFOLIO_CONFIG, instruments: listOf(['DD', 'AA', 'CC', 'BB']) };
  const signals = { ...quick, params: { fast: 2, slow: 5, stop: 3 } };
  const atClose = { ...PORTFOLIO_CONFIG.execution!, orderTiming: 'bar_close' } as const;
  const kinds: Readonly<Record<string, readonly [ast: StrategyAst, config: BacktestConfig]>> = {
    slots: [SLOTTED, { ...signals, portfolio: { slots: 2 } }],
    'slots at the close': [SLOTTED, { ...signals, portfolio: { slots: 2 }, execution: atClose }],
    'linked instruments': [SLOTTED, { ...signals, portfolio: linked }],
    rotations: [ROTATION, { ...quick, params: { lookback: 10 } }],
    'rotations at the close': [ROTATION, { ...quick, params: { lookback: 10 }, execution: atClose }],
  };

  it.each(Object.entries(kinds))('passes %s, wherever instruments pause and end', (_name, [ast, config]) => {
    let trades = 0;
    for (let seed = 1; seed <= scaled(60); seed++) {
      const context = robustnessContext(ast, randomUniverse(seed), { config });
      const audit = lookAheadAudit(context, baselineOf(context));
      expect(audit, `seed ${seed}`).toMatchObject({ passed: true });
      trades += audit.tradesCompared;
    }
    expect(trades).toBeGreaterThan(100);
  });

  /** A column beside the bars of each instrument that knows its next close. */
  const peeking = ({ instruments }: Universe): Universe => ({
    instruments: instruments.map((market) => {
      const { base } = market;
      const next = base.close.map((_, row) => base.close[row + 1] ?? NaN);
      const planted: Bars = { ...base, series: new Map([['next', next]]), sha256: `${base.sha256} planted` };
      return { ...market, base: planted, bars: (symbol) => (symbol === base.symbol ? planted : undefined) };
    }),
  });
  const next: Json = { kind: 'series', name: 'next' };
  const cutOf = (market: Market | Universe, rows: number): Universe =>
    peeking(universeKnownAt(market as Universe, rows - 1));

  it('catches an entry that reads the next close, and names the instrument', () => {
    const ast = astOf({
      entry: entry(compare(next, 'gt', field()), {
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } },
      }),
      exits: [exit(compare(next, 'lt', field()))],
    });
    const context = robustnessContext(ast as StrategyAst, peeking(universe), { config: PORTFOLIO_CONFIG });
    const audit = lookAheadAudit(context, baselineOf(context), cutOf);
    expect(audit.passed).toBe(false);
    expect(audit.signalsDiffering).toBeGreaterThan(12);
    expect(SYMBOLS).toContain(audit.first!.symbol);
  });

  it.each([
    ['ranks', { long: { by: { kind: 'math', op: 'div', args: [next, field()] }, top: 2 } }, 'long by'],
    ['requires', { long: { require: compare(next, 'gt', field()) } }, 'long require'],
    ['weighs', { long: {}, weights: { mode: 'inverse', by: next } }, 'weights by'],
  ])('catches a rotation that %s by the next close', (_name, sections, rule) => {
    const when = { kind: 'schedule', everyBars: 5 };
    const ast = astOf({ allocation: { kind: 'allocation', when, ...sections } });
    const context = robustnessContext(ast as StrategyAst, peeking(universe), { config: PORTFOLIO_CONFIG });
    const audit = lookAheadAudit(context, baselineOf(context), cutOf);
    expect(audit.passed).toBe(false);
    expect(audit.first).toMatchObject({ rule });
  });
});

describe('the warm-up audit of portfolios', () => {
  const audited = (name: string) => {
    const average = indicator(name, { length: 30 });
    const ast = astOf({
      entry: entry(cross(field(), 'cross_up', average), {
        action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } },
      }),
      exits: [exit(cross(field(), 'cross_down', average))],
    });
    const context = robustnessContext(ast as StrategyAst, universe, {
      config: PORTFOLIO_CONFIG,
      settings: { warmupPeriod: 31 },
    });
    return warmUpAudit(context, baselineOf(context));
  };

  it('finds that an exponential average still remembers its seed, and that a simple one does not', () => {
    const exponential = audited('ema');
    expect(exponential).toMatchObject({ passed: false, warmupBars: 31 });
    expect(exponential.byMultiple[0].signalsDiffering).toBeGreaterThan(0);
    expect(audited('sma')).toMatchObject({ passed: true, enoughBars: 31 });
  });
});

describe('the units of a portfolio', () => {
  it('are the periods between rebalances of a rotation, without those in cash', () => {
    const times = Array.from({ length: 45 }, (_, day) => START + day * DAY_MS);
    const held = (from: number, to: number): number[] => times.map((_, day) => (day >= from && day < to ? 1 : 0));
    const snapshots = Object.entries({ A: held(5, 15), B: held(15, 25), C: held(30, 99) }).map(([symbol, flags], at) =>
      randomSnapshot({ symbol, times, timeframe: '1d', seed: at + 1, series: { held: flags } }),
    );
    const ast = astOf({
      allocation: {
        kind: 'allocation',
        when: { kind: 'schedule', everyBars: 5 },
        long: { where: compare({ kind: 'series', name: 'held' }, 'gt', 0) },
      },
    });
    const context = robustnessContext(ast as StrategyAst, createUniverse(snapshots, ['A', 'B', 'C'], '1d'), {
      config: { ...PORTFOLIO_CONFIG, instruments: listOf(['A', 'B', 'C']), execution: undefined },
    });
    const run = baselineOf(context);
    const equityAt = (instant: number): number => run.simulation.equity[instant - run.input.start];
    // A until 15, B until 25 with cash until 30, C until the end.
    expect(unitsOf(run)).toEqual([
      { entryRow: 5, exitRow: 15, pnl: equityAt(15) - equityAt(5), isOpen: false },
      { entryRow: 15, exitRow: 30, pnl: expect.closeTo(equityAt(30) - equityAt(15), 9), isOpen: false },
      { entryRow: 30, exitRow: 44, pnl: equityAt(44) - equityAt(30), isOpen: true },
    ]);
    expect(evidenceOf(run, { sharpeRatio: 1 } as never)).toMatchObject({
      unit: 'period',
      closedPositions: 2,
      independentTrades: 2,
      firstSignalBars: 5 - run.input.start,
    });
    const found = monteCarlo(run, 1)!;
    expect(found).toMatchObject({ positions: 3, basis: 'rebalances' });
    expect(found.actual.returnPct).toBeCloseTo(equityAt(44) / 10_000 - 1, 12);
  });

  const reference = (run: CheckRun, keyOf: (symbol: string, decided: number, position: number) => string) => {
    const { simulation, axis: own, instruments } = run.portfolio!;
    const units = new Map<string, { pnl: number; exit: number }>();
    simulation.trades.forEach((trade, at) => {
      const index = simulation.tradeInstruments[at];
      const instantOf = (row: number): number => own.instants[index][row];
      const key = keyOf(instruments[index].symbol, instantOf(trade.entryDecisionRow), trade.positionId);
      const unit = units.get(key) ?? { pnl: 0, exit: 0 };
      units.set(key, { pnl: unit.pnl + trade.pnl, exit: Math.max(unit.exit, instantOf(trade.exitRow)) });
    });
    return [...units.values()];
  };

  it('are the positions of an account with slots, in the order of the instants of their exits', () => {
    const config = { ...PORTFOLIO_CONFIG, portfolio: { slots: 3 } };
    const run = baselineOf(robustnessContext(SLOTTED, universe, { config }));
    const expected = reference(run, (_symbol, _decided, position) => String(position)).sort((a, b) => a.exit - b.exit);
    const profits = [...profitsOf(run)];
    expect(profits).toHaveLength(expected.length);
    profits.forEach((pnl, at) => expect(pnl).toBeCloseTo(expected[at].pnl, 9));
  });

  it('are the legs of a linked group together, where they were entered at one close', () => {
    const linked = [['MID', 'YET']];
    const run = baselineOf(
      robustnessContext(SLOTTED, universe, { config: { ...PORTFOLIO_CONFIG, portfolio: { linked, slots: 9 } } }),
    );
    const isLeg = (symbol: string): boolean => linked[0].includes(symbol);
    const expected = reference(run, (symbol, decided, position) =>
      isLeg(symbol) ? `pair ${decided}` : String(position),
    );
    const legs = run.simulation.trades.length;
    expect(expected.length).toBeLessThan(legs);
    const sorted = (values: number[]): number[] => values.toSorted((a, b) => a - b);
    const [found, wanted] = [sorted([...profitsOf(run)]), sorted(expected.map(({ pnl }) => pnl))];
    expect(found).toHaveLength(wanted.length);
    found.forEach((pnl, at) => expect(pnl).toBeCloseTo(wanted[at], 9));
  });
});
