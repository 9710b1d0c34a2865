// Warnings and diagnosis of portfolio runs: each code in a run that deserves it, and silence in one that does not.
import { describe, expect, it } from 'vitest';
import type { Market } from '../../../../src/engine/bars/bars.ts';
import { DAY_MS } from '../../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../../src/engine/bars/market.ts';
import { PORTFOLIO_WARNING_CODES } from '../../../../src/engine/definitions/issueCodes.ts';
import { PORTFOLIO_DIAGNOSIS_CODES } from '../../../../src/engine/report/diagnosisFindings.ts';
import type { PortfolioResult } from '../../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { BacktestTask } from '../../../../src/engine/task.ts';
import { makeSnapshot } from '../../../../src/market/snapshotFiles.ts';
import { astOf, compare, constant, entry, exit, market, sma, type Json } from '../../../support/builders.ts';
import { INSTRUMENT } from '../../../support/runs.ts';
import { separateAccounts } from '../../../support/separateAccounts.ts';

const DAYS = 120;
interface Series {
  readonly days?: readonly number[];
  readonly price?: (day: number) => number;
  readonly tradesAllDay?: boolean;
}

/** Daily bars that open at the last close. */
function daily(symbol: string, { days, price = wave, tradesAllDay = true }: Series = {}): Market {
  const opened = days ?? Array.from({ length: DAYS }, (_, day) => day);
  const column = (read: (day: number) => number) => Float64Array.from(opened, read);
  const columns = {
    time: column((day) => Date.UTC(2024, 0, 1) + day * DAY_MS),
    open: column(price),
    high: column((day) => price(day) + 1),
    low: column((day) => price(day) - 1),
    close: column(price),
    volume: column(() => 1),
    series: new Map<string, Float64Array>(),
  };
  const instrument = { ...INSTRUMENT, symbol, tradesAllDay };
  return createMarket([makeSnapshot(columns, { symbol, timeframe: '1d', instrument })], symbol, '1d');
}

const wave = (day: number): number => 100 + 5 * Math.sin(day / 3);
const rising = (day: number): number => 100 + day;
const few = (from: number, count: number): number[] => Array.from({ length: count }, (_, day) => from + day);

interface Case {
  readonly markets: readonly Market[];
  readonly trigger?: Json;
  readonly exits?: readonly Json[];
  readonly config?: Partial<BacktestTask['config']>;
  /** Percent of equity. */
  readonly size?: number;
  readonly changed?: (result: PortfolioResult) => PortfolioResult;
}

function run({ markets, trigger = compare(market(), 'gt', sma(3)), exits, config = {}, size = 90, changed }: Case) {
  const strategyAst = astOf({
    entry: entry(trigger, { action: { side: 'long', sizing: { mode: 'percent_equity', value: size } } }),
    exits: exits ?? [exit(compare(market(), 'lt', sma(3)))],
  });
  const task: BacktestTask = {
    id: 'run',
    strategyAst,
    settings: {},
    strategyHash: '',
    config: { timeframe: '1d', signalInstrument: { symbol: 'A' }, initialBalance: 10_000, ...config },
  };
  const { run: completed } = separateAccounts(task, markets, {
    ...(changed !== undefined && { changed }),
  });
  return {
    warnings: completed.warnings.filter(({ code }) => (PORTFOLIO_WARNING_CODES as readonly string[]).includes(code)),
    findings: completed.summary.strategyTrace!.diagnosis.filter(({ code }) =>
      (PORTFOLIO_DIAGNOSIS_CODES as readonly string[]).includes(code),
    ),
    diagnosis: completed.summary.strategyTrace!.diagnosis,
  };
}

const A = daily('A');
const B = daily('B', { price: (day) => 100 + 5 * Math.cos(day / 3) });
const lost = (rankedOut: Partial<PortfolioResult['rankedOut']>) => (result: PortfolioResult) => ({
  ...result,
  rankedOut: { ...result.rankedOut, ...rankedOut },
});
const NO_SLIPPAGE = { kind: 'none' as const };
const atClose = { execution: { orderTiming: 'bar_close' as const, feeModel: fees(0), slippage: NO_SLIPPAGE } };
function fees(rate: number) {
  const tier = { minCumulativeNotional: 0, makerRate: rate, takerRate: rate };
  return { kind: 'tiered_maker_taker' as const, tiers: [tier] };
}

const HELD: Case = {
  markets: [A, B],
  trigger: compare(market(), 'gt', constant(1)),
  exits: [exit(compare(market(), 'lt', constant(1)))],
};

describe('warnings of a portfolio', () => {
  it('are absent where nothing deserves one', () => {
    expect(run({ markets: [A, B] })).toMatchObject({ warnings: [], findings: [] });
  });

  const cases: readonly (readonly [string, Case, string, string])[] = [
    [
      'INSTRUMENT_WITHOUT_BARS',
      {
        markets: [A, daily('LATE', { days: few(400, 5) }), daily('BRIEF', { days: [0] })],
        config: { range: { end: '2024-05-01' } },
      },
      '/config/instruments',
      'There are no bars in the range of LATE.',
    ],
    [
      'DATA_ENDS_EARLY',
      { markets: [A, daily('GONE', { days: few(0, 100) }), daily('NEAR', { days: few(0, 113) })] },
      '/config/instruments',
      'The data of GONE (2024-04-09) ends before the run does (2024-04-29); positions are closed there.',
    ],
    [
      'SIGNALS_WITHOUT_RANK',
      { markets: [A, B], changed: lost({ count: 3, mostAtOnce: 1, isUnranked: true }) },
      '/config/portfolio/slots',
      'More entries signaled at one close than there were slots, and the order of the list decided.',
    ],
    [
      'SPLIT_WHILE_HELD',
      {
        markets: [
          A,
          daily('CUT', { price: (day) => (day < 50 ? 400 : 100) * (1 + day / 10_000) }),
          daily('FALL', { price: (day) => (day < 50 ? 400 : 150) }),
        ],
        trigger: compare(market(), 'gt', constant(1)),
        exits: [exit(compare(market(), 'lt', constant(1)))],
      },
      '/config/instruments',
      'While held, the price jumped by the ratio of a split: CUT on 2024-02-20 (4:1).',
    ],
    [
      'SESSIONS_DIFFER',
      { markets: [A, daily('HALF', { days: few(0, 120).filter((day) => day % 2 === 0) })], config: atClose },
      '/config/execution/orderTiming',
      'Under bar_close the instruments decide at the same close, but their sessions differ: HALF. A market that has ' +
        'closed cannot know the closes of one that is still open.',
    ],
    [
      'SESSIONS_DIFFER of calendars',
      { markets: [A, daily('STOCK', { tradesAllDay: false })], config: atClose },
      '/config/execution/orderTiming',
      'Under bar_close the instruments decide at the same close, but their sessions differ. A market that has ' +
        'closed cannot know the closes of one that is still open.',
    ],
  ];
  it.each(cases)('include %s', (name, given, path, message) => {
    const [code] = name.split(' ');
    const found = run(given).warnings.find((warning) => warning.code === code);
    expect(found).toMatchObject({ code, path, field: 'config', severity: 'warning', message });
    expect(found!.suggestion).not.toBe('');
  });

  it('leave out a split of an instrument that was not held, and sessions under next_open', () => {
    const cut = daily('CUT', { price: (day) => (day < 50 ? 400 : 100) });
    expect(run({ markets: [A, cut], trigger: compare(market(), 'gt', constant(1_000)) }).warnings).toEqual([]);
    expect(run({ markets: [A, daily('STOCK', { tradesAllDay: false })] }).warnings).toEqual([]);
  });

  it('include CROSS_SECTION_OF_ONE in a run of one instrument, and in no other', () => {
    const trigger = compare({ kind: 'cross_section', op: 'rank', source: market() }, 'lt', constant(2));
    const [only, ...others] = run({ markets: [A], trigger }).warnings;
    expect(only).toMatchObject({ code: 'CROSS_SECTION_OF_ONE', path: '/config/signalInstrument', severity: 'warning' });
    expect(only.suggestion).toContain('config.instruments');
    expect(others).toEqual([]);
    expect(run({ markets: [A, B], trigger }).warnings).toEqual([]);
  });

  it('are all tested above but that of an allocation', () => {
    const tested = new Set(['CROSS_SECTION_OF_ONE', ...cases.map(([name]) => name.split(' ')[0])]);
    expect(PORTFOLIO_WARNING_CODES.filter((code) => !tested.has(code))).toEqual(['PLACES_WITHOUT_INSTRUMENTS']);
  });
});

describe('the diagnosis of a portfolio', () => {
  const cases: readonly (readonly [(typeof PORTFOLIO_DIAGNOSIS_CODES)[number], Case, RegExp])[] = [
    [
      'SIGNALS_LOST',
      { markets: [A, B], changed: lost({ count: 7, mostAtOnce: 2, largestLost: 1.5, smallestTaken: 2 }) },
      /^7 of \d+ .* no free slot\. At most 2 signals were lost at the same close\. .* lost was 1\.5, .* got in 2\.$/,
    ],
    [
      'ONE_INSTRUMENT_DOMINATES',
      { markets: [daily('UP', { price: rising }), daily('FLAT', { price: (day) => 100 + (day % 5) / 50 }), B] },
      /^UP made [\d.]+, \d+\.\d\d % of the net profit of [\d.]+\.$/,
    ],
    [
      'FUNDING_OF_CLOSED_MARKETS',
      { markets: [A, daily('STOCK', { tradesAllDay: false })], config: { fundingRate: 0.0001 } },
      /^STOCK does not trade all week and still paid or received funding\.$/,
    ],
    [
      'HOLDS_ITS_BENCHMARK',
      { ...HELD, size: 98 },
      /^Every instrument was held nearly all the time, in nearly equal parts: what the benchmark holds\.$/,
    ],
  ];
  it.each(cases)('names %s', (code, given, message) => {
    const { findings } = run(given);
    expect(findings.find((finding) => finding.code === code)).toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  it('does not say of equal parts beside 10 % of cash that they are the benchmark', () => {
    expect(run(HELD).findings).toEqual([]);
  });

  it.each([
    ['signals that were lost at fills alone', { count: 3, mostAtOnce: 0 }, 0, /^3 of \d+ .* each when its order/],
    [
      'fills that lacked what was freed',
      { count: 1, mostAtOnce: 1 },
      2,
      /^1 of .* close\. 2 fills lacked cash or a slot/,
    ],
  ])('says of SIGNALS_LOST: %s', (_, ranks, contestedFunds, message) => {
    const ranked = lost({ ...ranks, largestLost: null, smallestTaken: null });
    const changed = (result: PortfolioResult): PortfolioResult => Object.assign(ranked(result), { contestedFunds });
    const { findings } = run({ markets: [A, B], changed });
    expect(findings.find(({ code }) => code === 'SIGNALS_LOST')!.message).toMatch(message);
  });

  it('says how often the account was turned over where costs exceed the profit before them', () => {
    const config = { execution: { feeModel: fees(0.04), slippage: NO_SLIPPAGE } };
    const { diagnosis } = run({ markets: [A, B], config });
    const costs = diagnosis.find(({ code }) => code === 'FEES_EXCEED_EDGE');
    expect(costs!.message).toMatch(/The account was turned over [\d.]+ times a year\.$/);
  });

  it('has a case above for every code but that of an allocation', () => {
    const tested = new Set(cases.map(([code]) => code));
    expect(PORTFOLIO_DIAGNOSIS_CODES.filter((code) => !tested.has(code))).toEqual(['NEVER_HELD']);
  });
});
