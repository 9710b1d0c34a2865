// Summaries of portfolio runs: that of one instrument is the single run's, and every number of several is computed
// again from trades, equity and holdings.
import { beforeAll, describe, expect, it } from 'vitest';
import { simulateTask } from '../../../../src/engine/backtest.ts';
import { DAY_MS, type Market } from '../../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../../src/engine/bars/market.ts';
import { timeAxisOf } from '../../../../src/engine/bars/timeAxis.ts';
import { hasBit } from '../../../../src/engine/kernels/bits.ts';
import type { Summary } from '../../../../src/engine/report/summary.ts';
import type { BacktestTask } from '../../../../src/engine/task.ts';
import { randomSnapshot, START } from '../../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../../support/builders.ts';
import { separateAccounts, type SeparateAccounts } from '../../../support/separateAccounts.ts';
import { writtenText } from '../../../support/summaries.ts';

const marketOf = (symbol: string, seed: number, times: readonly number[]): Market =>
  createMarket([randomSnapshot({ symbol, seed, times, timeframe: '1h' })], symbol, '1h');
const hours = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, hour) => START + (first + hour) * 3_600_000);

/** One that begins later, one with gaps, and one whose data ends early, not in the order of their symbols. */
const MARKETS = [
  marketOf('MID', 3, hours(0, 900)),
  marketOf('ADD', 4, hours(200, 700)),
  marketOf(
    'ZIP',
    5,
    hours(0, 900).filter((_, hour) => hour % 5 !== 0),
  ),
  marketOf('END', 6, hours(0, 500)),
];

const STRATEGY = astOf({
  entry: entry(compare(market(), 'gt', sma(20, { id: 'slow' })), {
    filters: [compare(market(), 'lt', sma(5, { id: 'fast' }))],
    action: { side: 'long', sizing: { mode: 'percent_equity', value: 60 } },
  }),
  exits: [exit(compare(market(), 'lt', sma(20)))],
  risk: { stopLoss: { mode: 'percent', value: 3 }, takeProfits: [{ triggerPercent: 2, closePercent: 50 }] },
});
const TASK: BacktestTask = {
  id: 'run',
  strategyAst: STRATEGY,
  settings: {},
  strategyHash: '',
  config: {
    timeframe: '1h',
    signalInstrument: { symbol: 'MID' },
    initialBalance: 40_000,
    fundingRate: 0.0001,
    execution: {
      feeModel: {
        kind: 'tiered_maker_taker',
        tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.0005 }],
      },
      slippage: { kind: 'fixed', unit: 'bps', value: 2 },
    },
  },
};

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const average = (values: readonly number[]): number => total(values) / values.length;
const near = (ours: number | null | undefined, expected: number): void =>
  expect(Math.abs(ours! - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));

describe('a portfolio of one instrument', () => {
  it('has the summary, trades and result hash of the single run', () => {
    const single = simulateTask(TASK, MARKETS[0], null, false);
    if (!single.ok) throw new Error(single.error.message);
    const { run } = separateAccounts(TASK, MARKETS.slice(0, 1));
    expect(run.trades.length).toBeGreaterThan(20);
    expect(writtenText(run.written)).toBe(writtenText(single.written));
    expect(run.trades).toEqual(single.trades);
    expect(run.resultHash).toBe(single.resultHash);
    expect(run.reproducibility.dataHash).toBe(single.reproducibility.dataHash);
    expect(run.warnings).toEqual(single.warnings);
  });

  it('differs under an allocation only in names and added blocks', () => {
    const single = simulateTask(TASK, MARKETS[0], null, false);
    if (!single.ok) throw new Error(single.error.message);
    const { run } = separateAccounts(TASK, MARKETS.slice(0, 1), { isRotation: true });
    const { instruments, portfolio, ...others } = run.summary;
    expect(instruments!.map(({ symbol }) => symbol)).toEqual(['MID']);
    expect(portfolio!.instruments).toBe(1);
    const { ambiguity, strategyTrace, ...rest } = others;
    const { ambiguity: singleAmbiguity, strategyTrace: singleTrace, ...singleRest } = single.summary;
    const benchmark = 'equal money in each instrument from its first evaluated open, held';
    expect(rest).toEqual({ ...singleRest, conventions: { ...singleRest.conventions, benchmark } });
    expect(ambiguity).toEqual({ ...singleAmbiguity, contestedFunds: 0 });
    expect(strategyTrace!.samples.map(({ symbol: _symbol, ...sample }) => sample)).toEqual(singleTrace!.samples);
    expect(strategyTrace!.nearMisses.map(({ symbol: _symbol, ...miss }) => miss)).toEqual(singleTrace!.nearMisses);
    expect(run.resultHash).not.toBe(single.resultHash);
  });
});

describe('a portfolio of several instruments', () => {
  let accounts: SeparateAccounts;
  let summary: Summary;
  let equity: number[];
  let time: Float64Array;
  beforeAll(() => {
    accounts = separateAccounts(TASK, MARKETS);
    summary = accounts.run.summary;
    equity = [...accounts.result.equity];
    time = timeAxisOf(MARKETS.map(({ base }) => base)).time.subarray(accounts.start, accounts.end);
  });
  const trades = () => accounts.run.trades;

  it('is written as JSON.stringify writes it', () => {
    expect(writtenText(accounts.run.written)).toBe(JSON.stringify(summary));
  });

  it('names the instrument of every trade, in the order of execution', () => {
    expect(new Set(trades().map(({ symbol }) => symbol)).size).toBe(4);
    const bars = new Map(MARKETS.map(({ base }) => [base.symbol, base]));
    for (const { symbol, entryTime, entryBar, exitTime, exitBar, barsHeld } of trades()) {
      expect(bars.get(symbol!)!.time[entryBar]).toBe(entryTime);
      expect(bars.get(symbol!)!.time[exitBar]).toBe(exitTime);
      expect(barsHeld).toBe(exitBar - entryBar);
    }
    const exits = trades().map(({ exitTime }) => exitTime);
    expect(exits).toEqual(exits.toSorted((a, b) => a - b));
  });

  it('has money and returns on the axis', () => {
    near(summary.netProfit, total(trades().map(({ pnl }) => pnl)));
    near(summary.finalEquity, equity.at(-1)!);
    near(summary.totalFees, total(trades().map(({ entryFee, exitFee }) => entryFee + exitFee)));
    const days = Map.groupBy(equity, (_, at) => Math.floor(time[at] / DAY_MS));
    const marks = [...days.values()].map((marksOfDay) => marksOfDay.at(-1)!);
    const returns = marks.map((mark, day) => mark / (day === 0 ? 40_000 : marks[day - 1]) - 1);
    const deviation = Math.sqrt(total(returns.map((r) => (r - average(returns)) ** 2)) / (returns.length - 1));
    near(summary.sharpeRatio, (average(returns) / deviation) * Math.sqrt(365));
    near(summary.exposurePct, average(equity.map((_, at) => +hasBit(accounts.result.inPosition, at))));
    near(summary.turnover, summary.totalNotional / average(equity));
  });

  it('counts a position that closes in parts once, by the instant of its last exit', () => {
    const positions = [...Map.groupBy(trades(), ({ positionId }) => positionId).values()];
    expect(positions.length).toBeLessThan(trades().length);
    expect(summary.totalPositions).toBe(positions.length);
    near(summary.avgBarsHeld, average(positions.map((parts) => parts.at(-1)!.barsHeld)));
    const first = new Map(
      trades()
        .map(({ positionId }, index) => [positionId, index] as const)
        .toReversed(),
    );
    const byExit = positions.toSorted(
      (a, b) => a.at(-1)!.exitTime - b.at(-1)!.exitTime || first.get(a[0].positionId)! - first.get(b[0].positionId)!,
    );
    const signs = byExit.map((parts) => (total(parts.map(({ pnl }) => pnl)) > 0 ? 'w' : 'l')).join('');
    expect(summary.maxConsecutiveWins).toBe(Math.max(...signs.split('l').map((streak) => streak.length)));
    expect(summary.maxConsecutiveLosses).toBe(Math.max(...signs.split('w').map((streak) => streak.length)));
  });

  it('has a benchmark of equal money in each from its first evaluated open', () => {
    const reports = accounts.run.report.portfolio!.instruments;
    const valueAt = (instant: number): number =>
      average(
        reports.map(({ input: { bars, start, end } }) => {
          let last = -1;
          for (let row = start; row < end; row++) if (bars.time[row] <= time[instant]) last = row;
          return last < 0 ? 1 : bars.close[last] / bars.open[start];
        }),
      );
    near(summary.buyHoldReturnPct, valueAt(time.length - 1) - 1);
    const { bars, start } = accounts.run.report.input;
    for (const instant of [0, 1, 150, 200, 201, 500, 501, 800]) near(bars.close[start + instant], valueAt(instant));
    expect(summary.conventions).toMatchObject({ periodsPerYear: 365 });
  });

  it('has a row per instrument whose contributions add up to the return', () => {
    const rows = summary.instruments!;
    near(total(rows.map(({ contribution }) => contribution)), summary.returnPct);
    near(total(rows.map(({ netPnl }) => netPnl)), summary.netProfit);
    near(total(rows.map(({ averageWeightPct }) => averageWeightPct!)), summary.portfolio!.averageGrossExposurePct!);
    const contributions = rows.map(({ contribution }) => contribution);
    expect(contributions).toEqual(contributions.toSorted((a, b) => b - a));
    for (const row of rows) {
      const own = trades().filter(({ symbol }) => symbol === row.symbol);
      const index = MARKETS.findIndex(({ base }) => base.symbol === row.symbol);
      const { start, end, bars } = accounts.run.report.portfolio!.instruments[index].input;
      expect([row.trades, row.bars]).toEqual([own.length, end - start]);
      expect([row.firstBarTime, row.lastBarTime]).toEqual([bars.time[start], bars.time[end - 1]]);
      near(row.winRate, own.filter(({ pnl }) => pnl > 0).length / own.length);
      near(row.netPnl, total(own.map(({ pnl }) => pnl)));
      near(row.fees, total(own.map(({ entryFee, exitFee }) => entryFee + exitFee)));
      near(row.slippage, total(own.map(({ slippage }) => slippage)));
      near(row.grossPnl, row.netPnl + row.fees + row.slippage + row.funding);
      const weights = [...accounts.values[index]].map((value, at) => Math.abs(value) / equity[at]);
      near(row.averageWeightPct, average(weights));
      near(row.maxWeightPct, Math.max(...weights));
      near(row.timeHeldPct, weights.filter((weight) => weight > 0).length / weights.length);
    }
    near(total(rows.map(({ fees }) => fees)), summary.totalFees);
    near(total(rows.map(({ funding }) => funding)), summary.fundingPaid);
  });

  it('says how much of the account was at work', () => {
    const { values } = accounts;
    const block = summary.portfolio!;
    const gross = equity.map((mark, at) => total(values.map((column) => Math.abs(column[at]) / mark)));
    const counts = equity.map((_, at) => values.filter((column) => column[at] !== 0).length);
    near(block.averageGrossExposurePct, average(gross));
    near(block.maxGrossExposurePct, Math.max(...gross));
    near(block.averageNetExposurePct, average(gross));
    near(block.averagePositions, average(counts));
    expect(block.maxPositions).toBe(Math.max(...counts));
    near(
      block.concentration,
      average(equity.map((mark, at) => total(values.map((column) => (column[at] / mark) ** 2)))),
    );
    const years = (time.at(-1)! + 3_600_000 - time[0]) / (365.25 * DAY_MS);
    near(block.turnoverPerYear, summary.turnover! / years);
    const held = new Set(
      equity.flatMap((_, at) => (hasBit(accounts.result.inPosition, at) ? [Math.floor(time[at] / DAY_MS)] : [])),
    );
    const days = new Set([...time].map((ms) => Math.floor(ms / DAY_MS)));
    expect(block.daysInCash).toBe(days.size - held.size);
    expect([block.instruments, block.instrumentsTraded]).toEqual([4, 4]);
  });

  it('sums funnel, conditions and data quality over the instruments', () => {
    const singles = MARKETS.map((own) => {
      const config = { ...TASK.config, signalInstrument: { symbol: own.base.symbol }, initialBalance: 10_000 };
      const run = simulateTask({ ...TASK, config }, own, null, false);
      if (!run.ok) throw new Error(run.error.message);
      return run.summary;
    });
    const sumOf = (read: (each: Summary) => number): number => total(singles.map(read));
    const funnel = summary.strategyTrace!.funnel;
    for (const key of [
      'barsTotal',
      'barsWarmup',
      'barsUnknown',
      'triggerTrue',
      'entrySignals',
      'entriesFilled',
    ] as const)
      expect(funnel[key]).toBe(sumOf((each) => each.strategyTrace!.funnel[key]));
    expect(funnel.afterFilter[0].count).toBe(sumOf((each) => each.strategyTrace!.funnel.afterFilter[0].count));
    expect(funnel.rankedOut).toMatchObject({ count: 0 });
    summary.ruleStatsSummary!.rules.forEach((rule, index) => {
      for (const key of ['evaluated', 'trueCount', 'falseCount', 'unknownCount', 'transitions'] as const)
        expect(rule[key]).toBe(sumOf((each) => each.ruleStatsSummary!.rules[index][key]));
      const lefts = singles.map((each) => each.ruleStatsSummary!.rules[index].leftStats!);
      expect(rule.leftStats!.min).toBe(Math.min(...lefts.map(({ min }) => min!)));
      expect(rule.firstTrueAt).toBe(
        Math.min(...singles.map((each) => each.ruleStatsSummary!.rules[index].firstTrueAt!)),
      );
      near(
        rule.leftStats!.mean,
        total(lefts.map((side) => side.mean! * side.sampled)) / total(lefts.map((s) => s.sampled)),
      );
    });
    for (const key of ['bars', 'gaps', 'flatBars', 'outlierCount'] as const)
      expect(summary.dataQuality[key]).toBe(sumOf((each) => each.dataQuality[key]));
    const [rule] = summary.ruleStatsSummary!.tradesByRule;
    expect(rule.positions).toBe(sumOf((each) => each.ruleStatsSummary!.tradesByRule[0].positions));
    near(rule.pnl, summary.netProfit);
  });

  it('names the instruments of samples and near misses, whose values are those of their own columns', () => {
    const { samples, nearMisses } = summary.strategyTrace!;
    expect(new Set(samples.map(({ kind }) => kind))).toEqual(
      new Set(['first_trigger', 'entry', 'exit', 'near_miss', 'last_bar']),
    );
    for (const { symbol, bar, time: opened, values } of samples) {
      const { base } = MARKETS.find((own) => own.base.symbol === symbol)!;
      expect(base.time[bar]).toBe(opened);
      near(values.slow as number, average([...base.close.subarray(bar - 19, bar + 1)]));
    }
    const gaps = nearMisses.map(({ left, right }) => Math.abs(left! - right!) / Math.max(left!, right!));
    expect(gaps).toEqual(gaps.toSorted((a, b) => a - b));
    expect(nearMisses).toHaveLength(10);
  });

  it('is the same in any order of the list, but for ties', () => {
    const { run } = separateAccounts(TASK, MARKETS.toReversed());
    expect(run.summary.instruments).toEqual(summary.instruments);
    expect(run.summary.buyHoldReturnPct).toBe(summary.buyHoldReturnPct);
    expect(run.summary.strategyTrace!.nearMisses).toEqual(summary.strategyTrace!.nearMisses);
    expect(run.summary.ruleStatsSummary!.rules).toEqual(summary.ruleStatsSummary!.rules);
    expect(run.summary.dataQuality).toEqual(summary.dataQuality);
  });
});

it('compares a run with the symbol of config.benchmark, in cash until its first bar', () => {
  const benchmark = marketOf('BENCH', 9, hours(300, 400)).base;
  const { run } = separateAccounts(TASK, MARKETS, { benchmark });
  const { bars, start } = run.report.input;
  near(run.summary.buyHoldReturnPct, benchmark.close.at(-1)! / benchmark.open[0] - 1);
  expect(bars.close[start]).toBe(benchmark.open[0]);
  expect(bars.close[400]).toBe(benchmark.close[100]);
  expect(run.summary.conventions).toMatchObject({ benchmark: 'buy and hold of BENCH from its first open' });
});
