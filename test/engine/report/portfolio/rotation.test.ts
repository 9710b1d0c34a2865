// What the report says of an allocation: its conditions, its funnel from rebalances to fills, and its diagnosis.
import { beforeAll, describe, expect, it } from 'vitest';
import { runBacktest } from '../../../../src/engine/backtest.ts';
import { createUniverse, type BacktestConfig } from '../../../../src/engine/index.ts';
import { DAY_MS } from '../../../../src/engine/bars/bars.ts';
import { pageAssets } from '../../../../src/engine/pool/pageAssets.ts';
import { reportPage } from '../../../../src/engine/report/page/reportPage.ts';
import type { CompletedRun } from '../../../../src/engine/report/simulatedRun.ts';
import { randomSnapshot, START } from '../../../support/bars.ts';
import { astOf, compare, constant, indicator, market, sma, type Json } from '../../../support/builders.ts';

const DAYS = 400;
const SYMBOLS = ['AAA', 'BBB', 'CCC', 'DDD'];
const UNIVERSE = SYMBOLS.map((symbol, at) =>
  randomSnapshot({
    symbol,
    times: Array.from({ length: DAYS }, (_, day) => START + day * DAY_MS),
    timeframe: '1d',
    seed: at + 3,
  }),
);
const monthly: Json = { kind: 'schedule', every: 'month', on: 'first' };
const roc = indicator('roc', { length: 20 });
const never = compare(market(), 'lt', constant(0));

function run(allocation: object, more: Partial<BacktestConfig> = {}, risk?: object): CompletedRun {
  const strategyAst = astOf({
    allocation: { kind: 'allocation', when: monthly, ...allocation },
    ...(risk !== undefined && { risk }),
  });
  const config = {
    timeframe: '1d' as const,
    initialBalance: 10_000,
    instruments: SYMBOLS.map((symbol) => ({ symbol })),
    ...more,
  };
  const task = { id: 'rotation', strategyAst, settings: {}, config, strategyHash: 'hash' };
  const outcome = runBacktest(task, createUniverse(UNIVERSE, SYMBOLS, '1d'), null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome;
}

describe('the report of a rotation', () => {
  let outcome: CompletedRun;
  beforeAll(() => {
    outcome = run({
      long: { by: roc, top: 2, where: compare(market(), 'gt', sma(10)), require: compare(roc, 'gt', constant(0)) },
      short: { by: roc, bottom: 1, require: compare(roc, 'lt', constant(0)) },
    });
  });

  it('has statistics of when, where and require over the bars of all instruments', () => {
    const { rules } = outcome.summary.ruleStatsSummary!;
    const leaves = rules.map(({ role, path }) => [role, path.replace('/strategyAst/strategy/allocation', '')]);
    expect(leaves).toEqual([
      ['when', '/when'],
      ['where', '/long/where'],
      ['require', '/long/require'],
      ['require', '/short/require'],
    ]);
    const counts = { when: 0, where: 0, rising: 0, falling: 0 };
    for (const { input } of outcome.report.portfolio!.instruments) {
      const { close, time } = input.bars;
      for (let row = input.start; row < input.end; row++) {
        const average = close.subarray(row - 9, row + 1).reduce((sum, value) => sum + value, 0) / 10;
        const monthOf = (at: number): number => new Date(time[at]).getUTCMonth();
        counts.when += +(monthOf(row) !== monthOf(row - 1));
        counts.where += +(close[row] > average);
        counts.rising += +(close[row] > close[row - 20]);
        counts.falling += +(close[row] < close[row - 20]);
      }
    }
    expect(rules.map(({ trueCount }) => trueCount)).toEqual(Object.values(counts));
    expect(Object.values(counts).every((count) => count > 0)).toBe(true);
  });

  it('has a funnel of rebalances, places, orders and fills in place of signals', () => {
    const { allocation, entrySignals } = outcome.summary.strategyTrace!.funnel;
    const { whenTrue, rebalances, withinBand, undecided, orders } = allocation!;
    expect(entrySignals).toBe(0);
    expect(whenTrue).toBe(outcome.summary.ruleStatsSummary!.rules[0].trueCount / SYMBOLS.length);
    expect(whenTrue).toBe(rebalances + withinBand + undecided);
    // Two places of the long leg and one of the short, each selected, failed or empty.
    expect(allocation!.selected + allocation!.failedRequire + allocation!.emptyPlaces).toBe(3 * whenTrue);
    const { ordersFilled, ordersCancelled, ordersExpired, ordersRejected, ordersUnneeded } = allocation!;
    expect(ordersFilled + ordersCancelled + ordersExpired + ordersRejected + ordersUnneeded).toBe(orders);
    expect(ordersFilled).toBeGreaterThan(10);
  });

  it('shows both on the page', () => {
    const page = reportPage(outcome, pageAssets(), null, null);
    const sectionOf = (id: string): string =>
      new RegExp(`<section class="card" id="${id}">.*?</section>`, 's').exec(page)![0];
    const stage = (name: string, count: number): RegExp =>
      new RegExp(`<li><span>${name}</span><i style="[^"]*"></i><b>${count}</b>`);
    const { allocation } = outcome.summary.strategyTrace!.funnel;
    const funnel = sectionOf('funnel');
    expect(funnel).toMatch(stage('Rebalance due', allocation!.whenTrue));
    expect(funnel).toMatch(stage('Failed require', allocation!.failedRequire));
    expect(funnel).toMatch(stage('Orders filled', allocation!.ordersFilled));
    expect(funnel).not.toContain('signals');
    const conditions = sectionOf('conditions');
    for (const role of ['When', 'Where, long', 'Require, long', 'Require, short'])
      expect(conditions).toContain(`<td class="text">${role}</td>`);
  });

  it('is compared with equal money in each instrument, or with the symbol of the config', () => {
    const texts = (given: CompletedRun) => {
      const page = reportPage(given, pageAssets(), null, null).replace(/<script[^]*?<\/script>/g, '');
      return [...new Set(page.match(/buy and hold|equal money in each|CCC held/gi))];
    };
    expect(texts(outcome)).toEqual(['equal money in each', 'Equal money in each']);
    expect(texts(run({ long: {} }, { benchmark: { symbol: 'CCC' } }))).toEqual(['CCC held']);
  });

  it('samples the first rebalance, with what the legs rank by', () => {
    const [first] = outcome.summary.strategyTrace!.samples;
    expect(first.kind).toBe('first_trigger');
    expect(new Date(first.time).getUTCDate()).toBe(1);
    expect(Object.keys(first.values)).toContain('roc(close, 20)');
  });
});

describe('the warnings of a rotation', () => {
  const above = compare(market(), 'gt', sma(10));
  const warned = (given: CompletedRun) =>
    given.warnings
      .filter(({ code }) => code === 'INSTRUMENTS_MAY_DISAGREE')
      .map(({ path, message }) => [path, message]);
  const ALLOCATION = '/strategyAst/strategy/allocation';

  it('count the instants at which the instruments answered differently', () => {
    const given = run({ when: above, long: {}, weights: { mode: 'equal', grossPercent: sma(10) } });
    const { instruments } = given.report.portfolio!;
    let [due, apart] = [0, 0];
    for (let row = instruments[0].input.start; row < DAYS; row++) {
      const answers = instruments.map(({ input: { bars } }) => {
        const average = bars.close.subarray(row - 9, row + 1).reduce((sum, value) => sum + value, 0) / 10;
        return bars.close[row] > average;
      });
      due += +answers.includes(true);
      apart += +(answers.includes(true) && answers.includes(false));
    }
    expect(apart).toBeGreaterThan(50);
    expect(warned(given)).toEqual([
      [
        `${ALLOCATION}/when`,
        expect.stringMatching(`^At ${apart} of the ${due} instants at which a rebalance was due, `),
      ],
      [
        `${ALLOCATION}/weights/grossPercent`,
        expect.stringMatching(`^At ${due} of the ${due} instants .* by symbol counted`),
      ],
    ]);
  });

  it('are absent where one answer was asked for', () => {
    const ofOne = compare(market('close', { instrument: { symbol: 'AAA' } }), 'gt', constant(0));
    expect(warned(run({ when: ofOne, long: {} }))).toEqual([]);
    expect(warned(run({ long: { by: roc, top: 1 } }))).toEqual([]);
  });
});

describe('places without instruments', () => {
  const found = (given: CompletedRun) =>
    given.warnings.filter(({ code }) => code === 'PLACES_WITHOUT_INSTRUMENTS').map(({ message }) => message);
  const daily: Json = { kind: 'schedule', everyBars: 1 };

  it('are named with the share of the gross that stayed in cash, and the run does not hold its benchmark', () => {
    const given = run({ when: daily, long: { by: roc, top: 9 } });
    expect(found(given)).toEqual([
      'The allocation has 9 places for 4 instruments: 55.56 % of the gross or more stayed in cash at every rebalance.',
    ]);
    const [{ path, suggestion }] = given.warnings.filter(({ code }) => code === 'PLACES_WITHOUT_INSTRUMENTS');
    expect(path).toBe('/config/instruments');
    expect(suggestion).toMatch(/^Use at most 4 places .* omit top .* or add instruments to config\.instruments\.$/);
    expect(given.summary.portfolio!.averageGrossExposurePct).toBeCloseTo(4 / 9, 2);
    const codes = given.summary.strategyTrace!.diagnosis.map(({ code }) => code);
    expect(codes).not.toContain('HOLDS_ITS_BENCHMARK');
  });

  it('go to the fallback, which takes no other place', () => {
    const given = run({ when: daily, long: { by: roc, top: 4 }, fallback: 'DDD' });
    expect(found(given)).toEqual([
      'The allocation has 4 places for 3 instruments besides the fallback DDD: DDD took 25.00 % of the gross or more ' +
        'at every rebalance.',
    ]);
    expect(found(run({ when: daily, long: { by: roc, top: 3 }, fallback: 'DDD' }))).toEqual([]);
  });

  it('are counted over both legs', () => {
    const legs = (bottom: number) => ({ long: { by: roc, top: 2 }, short: { by: roc, bottom } });
    expect(found(run(legs(3)))).toEqual([expect.stringMatching(/^The allocation has 5 places for 4 .* 20\.00 % of/)]);
    expect(found(run(legs(2)))).toEqual([]);
  });

  it.each([
    ['places for every instrument', { long: { by: roc, top: 4 } }],
    ['a share of them', { long: { by: roc, topPercent: 100 } }],
    ['fixed weights', { long: { by: roc, top: 9 }, weights: { mode: 'fixed', values: { AAA: 60, BBB: 40 } } }],
  ])('are none with %s', (_, allocation) => {
    expect(found(run({ when: daily, ...allocation }))).toEqual([]);
  });

  it('leave alone that a rotation into all of them holds its benchmark', () => {
    const { diagnosis } = run({ when: daily, long: { by: roc, top: 4 } }).summary.strategyTrace!;
    expect(diagnosis.map(({ code }) => code)).toContain('HOLDS_ITS_BENCHMARK');
  });
});

describe('the diagnosis of a rotation', () => {
  const findingOf = (code: string, given: CompletedRun) =>
    given.summary.strategyTrace!.diagnosis.find((finding) => finding.code === code);

  const quarterly: Json = { kind: 'schedule', every: 'quarter', on: 'first' };
  const weekly: Json = { kind: 'schedule', every: 'week', on: 'first' };
  it.each([
    [
      'a condition that rarely fires',
      { when: quarterly, long: { by: roc, top: 1 } },
      {},
      /when was true at only \d+ instants/,
      /when/,
    ],
    [
      'a require that fails',
      { when: weekly, long: { by: roc, top: 1, require: compare(roc, 'gt', constant(9)) } },
      {},
      /require failed on \d\d\.\d\d % of the places/,
      /^Loosen require/,
    ],
    [
      'legs that hold nearly everything',
      { when: weekly, long: { by: roc, top: 4 }, weights: { mode: 'equal', grossPercent: 90 } },
      { timeStop: { maxBars: 60 } },
      /places for nearly all eligible instruments/,
      /smaller top/,
    ],
    [
      'anything else',
      { when: weekly, long: { by: roc, top: 1, keepWithin: 4 } },
      { timeStop: { maxBars: 60 } },
      /^\d+ holdings are too few to tell skill from luck\.$/,
      /longer range, or rebalance more often/,
    ],
  ])('advises a rotation with too few holdings on %s', (_, allocation, risk, message, suggestion) => {
    const finding = findingOf('TOO_FEW_TRADES', run(allocation, {}, risk));
    expect(finding).toMatchObject({ severity: 'warning', message: expect.stringMatching(message) });
    expect(finding!.suggestion).toMatch(suggestion);
    expect(finding!.suggestion).not.toContain('entry');
  });

  it.each([
    ['when', { when: never, long: {} }, {}, /when was true at no instant of the run\.$/],
    [
      'an unknown gross',
      {
        long: {},
        weights: { mode: 'equal', grossPercent: { kind: 'math', op: 'div', args: [constant(1), constant(0)] } },
      },
      {},
      /grossPercent was missing on every instrument at all \d+ instants/,
    ],
    ['where', { long: { where: never } }, {}, /no instrument was eligible at all \d+ instants/],
    ['require', { long: { by: roc, top: 2, require: never } }, {}, /require failed on each of the \d+ places/],
    [
      'small targets',
      { long: {} },
      { initialBalance: 1e-9 },
      /every target at all \d+ instants was below the smallest/,
    ],
    [
      'a range that ends at the rebalance',
      { long: {} },
      { range: { start: '2024-01-15', end: '2024-02-02' } },
      /of 4 orders none was filled: 4 left over at the last bar\.$/,
    ],
  ])('says that nothing was held because of %s', (_, allocation, config, message) => {
    const given = run(allocation, config);
    expect(given.trades).toEqual([]);
    const finding = findingOf('NEVER_HELD', given);
    expect(finding).toMatchObject({ severity: 'error', message: expect.stringMatching(message) });
    expect(finding!.message).toMatch(/^The allocation never bought or sold anything: /);
  });

  it('tells a rotation that nothing closes to rebalance more often', () => {
    const held = run({
      when: compare({ kind: 'time', field: 'year' }, 'gt', constant(2024)),
      long: {},
      bandPercent: 50,
    });
    expect(findingOf('NEVER_EXITS', held)!.suggestion).toMatch(/^Let allocation\.when come true more often/);
  });
});
