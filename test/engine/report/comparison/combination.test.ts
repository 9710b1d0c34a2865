// Combinations and correlations of runs: the numbers of pandas (test/golden/combinations.py), and laws.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../../src/config.ts';
import {
  combine,
  REBALANCES,
  type Combination,
  type Rebalance,
} from '../../../../src/engine/report/comparison/combination.ts';
import { correlationsOf, pairReturns } from '../../../../src/engine/report/comparison/correlations.ts';
import { commonDays, type DailyEquity } from '../../../../src/engine/report/comparison/dailyEquity.ts';
import { diceOf } from '../../../support/dice.ts';

const DAY = 86_400_000;

interface GoldenCombination {
  readonly days: number;
  readonly begin: number;
  readonly end: number;
  readonly summary: Readonly<Record<string, number>>;
  readonly runs: readonly Readonly<Record<string, number>>[];
  readonly contributions: readonly number[];
  readonly finalWeights: readonly number[];
  readonly diversificationRatio: number;
  readonly joint: {
    readonly peak: number;
    readonly trough: number;
    readonly returns: readonly number[];
    readonly drawdowns: readonly number[];
    readonly deepest: readonly number[];
  };
}
interface Golden extends Readonly<Record<Rebalance, GoldenCombination>> {
  readonly runs: readonly { readonly initialBalance: number; readonly days: number[]; readonly equity: number[] }[];
  readonly weights: readonly number[];
  readonly periodsPerYear: number;
  readonly riskFree: number;
  readonly correlations: readonly (readonly number[])[];
  readonly counts: readonly (readonly number[])[];
}
const golden = JSON.parse(
  gunzipSync(readFileSync(join(ROOT, 'test', 'golden', 'combinations.json.gz'))).toString(),
) as Golden;

const equityOf = (
  days: readonly number[],
  equity: readonly number[],
  more: Partial<DailyEquity> = {},
): DailyEquity => ({
  start: days[0],
  end: days.at(-1)! + DAY,
  initialBalance: 1_000,
  periodsPerYear: 365,
  days: Float64Array.from(days),
  equity: Float64Array.from(equity),
  ...more,
});
const RUNS = golden.runs.map(({ days, equity, initialBalance }) =>
  equityOf(days, equity, { initialBalance, periodsPerYear: golden.periodsPerYear }),
);

/** Compares list by list, each number within a relative 1e-9. */
function expectClose(actual: readonly (number | null)[], expected: readonly number[], what: string): void {
  expect(actual.length, what).toBe(expected.length);
  for (const [at, value] of expected.entries())
    expect(Math.abs(actual[at]! - value), `${what} ${at}: ${actual[at]}, not ${value}`).toBeLessThanOrEqual(
      1e-9 * Math.max(1, Math.abs(value)),
    );
}

const OPTIONS = { rebalance: 'none', initialBalance: 10_000, riskFree: 0 } as const;
const combined = (
  equities: readonly DailyEquity[],
  weights: readonly number[],
  more: { readonly rebalance?: Rebalance; readonly riskFree?: number } = {},
): Combination =>
  combine(
    equities.map((equity, at) => ({ equity, weight: weights[at] })),
    { range: commonDays(equities)!, ...OPTIONS, ...more },
  );

describe('correlations', () => {
  it('are those of pandas for markets with different holidays, weekends and bars', () => {
    const { returns, days } = correlationsOf(RUNS);
    expect(days).toEqual(golden.counts);
    for (const [row, line] of returns.entries()) expectClose(line, golden.correlations[row], `row ${row}`);
    // The weekly run is compared week by week, not on the few days on which its weeks end.
    expect(golden.counts[0][3]).toBeLessThan(golden.counts[0][2] / 4);
    expect(golden.correlations[0][3]).toBeGreaterThan(0.3);
  });

  it('are of returns between the same days, the first one from the day before the common period', () => {
    const stocks = equityOf(
      [0, 3, 4].map((day) => day * DAY),
      [1_100, 1_100, 1_210],
    );
    const always = equityOf(
      [-1, 0, 1, 2, 3, 4].map((day) => day * DAY),
      [500, 550, 600, 700, 1_100, 2_200],
    );
    expect(pairReturns(stocks, always)).toEqual([
      [0.10000000000000009, 0, 0.10000000000000009],
      [0.10000000000000009, 1, 1],
    ]);
  });

  it('do not depend on the other runs, and are null without variance or with too few returns', () => {
    const [first, second] = RUNS;
    expect(correlationsOf([first, second]).returns[0][1]).toBe(correlationsOf(RUNS).returns[0][1]);
    const flat = { ...second, equity: second.equity.map(() => second.initialBalance) };
    expect(correlationsOf([first, flat]).returns).toEqual([
      [1, null],
      [null, null],
    ]);
    const short = equityOf([0, DAY], [1_001, 1_003]);
    expect(correlationsOf([short, short])).toEqual({
      returns: [
        [null, null],
        [null, null],
      ],
      days: [
        [2, 2],
        [2, 2],
      ],
    });
  });

  it('are 1 of a run with itself, and -1 of opposite returns', () => {
    const [run] = RUNS;
    expect(
      correlationsOf([run, run])
        .returns.flat()
        .every((value) => value! > 1 - 1e-12),
    ).toBe(true);
    const opposite = [];
    let mark = 1_000;
    let before = run.initialBalance;
    for (const equity of run.equity) {
      opposite.push((mark *= 2 - equity / before));
      before = equity;
    }
    expect(
      correlationsOf([run, { ...run, initialBalance: 1_000, equity: Float64Array.from(opposite) }]).returns[0][1],
    ).toBeCloseTo(-1, 9);
  });
});

describe.each(REBALANCES)('a combination with the rebalance "%s"', (rebalance) => {
  const made = combined(RUNS, golden.weights, { rebalance, riskFree: golden.riskFree });
  const wanted = golden[rebalance];

  it('has the statistics of pandas', () => {
    expect([made.start, made.end, made.days.length]).toEqual([wanted.begin, wanted.end + DAY, wanted.days]);
    const keys = Object.keys(wanted.summary);
    expectClose(
      keys.map((key) => made.summary[key as 'cagr']),
      Object.values(wanted.summary),
      keys.join(),
    );
    for (const [at, part] of made.parts.entries()) {
      const own = Object.entries(wanted.runs[at]);
      expectClose(
        own.map(([key]) => part.summary[key as 'cagr']),
        own.map(([, value]) => value),
        `run ${at}`,
      );
    }
    expectClose([made.diversificationRatio], [wanted.diversificationRatio], 'diversification ratio');
  });

  it('has the contributions, the weights at the end and the joint drawdown of pandas', () => {
    expectClose(
      made.parts.map(({ contribution }) => contribution),
      wanted.contributions,
      'contributions',
    );
    expectClose(
      made.parts.map(({ finalWeight }) => finalWeight),
      wanted.finalWeights,
      'weights',
    );
    const { peak, trough, depth, runs } = made.drawdown!;
    expect([peak, trough]).toEqual([wanted.joint.peak, wanted.joint.trough]);
    expectClose([depth], [wanted.summary.maxDrawdown], 'depth');
    expectClose(
      runs.map(({ returnPct }) => returnPct),
      wanted.joint.returns,
      'returns',
    );
    expectClose(
      runs.map(({ drawdown }) => drawdown),
      wanted.joint.drawdowns,
      'drawdowns',
    );
    expectClose(
      runs.map(({ maxDrawdown }) => maxDrawdown),
      wanted.joint.deepest,
      'deepest',
    );
  });

  it('earns what its runs contribute', () => {
    const sum = made.parts.reduce((total, { contribution }) => total + contribution, 0);
    expectClose([sum], [made.summary.returnPct!], 'sum');
  });

  it('of one run is that run, to the last digit', () => {
    const [run] = RUNS;
    const alone = combine([{ equity: run, weight: 1 }], {
      ...OPTIONS,
      range: commonDays([run])!,
      rebalance,
      initialBalance: run.initialBalance,
    });
    expect(alone.equity).toEqual(run.equity);
    expect(alone.summary).toEqual(alone.parts[0].summary);
    expect([alone.diversificationRatio, alone.parts[0].finalWeight]).toEqual([1, 1]);
  });

  it('does not depend on the order of the runs, nor on how a weight is divided among equal runs', () => {
    const order = [2, 0, 3, 1];
    const other = combined(
      order.map((at) => RUNS[at]),
      order.map((at) => golden.weights[at]),
      { rebalance },
    );
    const same = combined(RUNS, golden.weights, { rebalance });
    expectClose([...other.equity], [...same.equity], 'equity');
    const split = combined([...RUNS, RUNS[0]], [0.15, 0.3, 0.2, 0.1, 0.25], { rebalance });
    expectClose([...split.equity], [...same.equity], 'split');
  });
});

describe('a combination', () => {
  it('follows its definition day by day, written as a loop over returns', () => {
    const dice = diceOf(36);
    for (let round = 0; round < 8; round++) {
      const count = dice.whole(1, 4);
      const curves = Array.from({ length: count }, () => {
        const days = Array.from({ length: 80 }, (_, day) => day).filter(() => dice.chance(0.7));
        let mark = 1_000;
        return equityOf(
          days.map((day) => day * DAY),
          days.map(() => (mark *= 0.9 + 0.2 * dice.number(0, 1))),
        );
      });
      const raw = curves.map(() => 0.1 + dice.number(0, 1));
      const weights = raw.map((weight) => weight / raw.reduce((sum, each) => sum + each, 0));
      const range = commonDays(curves)!;
      for (const rebalance of REBALANCES) {
        const made = combined(curves, weights, { rebalance });
        // Parts of money, each of which earns the return of its run on each day.
        let parts = weights.map((weight) => 10_000 * weight);
        const account: number[] = [];
        const markOf = ({ days, equity, initialBalance }: DailyEquity, day: number): number =>
          equity[days.findLastIndex((each) => each <= day)] ?? initialBalance;
        for (let day = range.first, before = -1; day <= range.last; day += DAY) {
          if (!curves.some(({ days }) => days.includes(day))) continue;
          const isNewMonth = new Date(day).getUTCMonth() !== new Date(before).getUTCMonth();
          const total = parts.reduce((sum, part) => sum + part, 0);
          if (before >= 0 && (rebalance === 'daily' || (rebalance === 'monthly' && isNewMonth)))
            parts = weights.map((weight) => total * weight);
          parts = parts.map(
            (part, at) =>
              (part * markOf(curves[at], day)) / markOf(curves[at], before < 0 ? range.first - DAY : before),
          );
          account.push(parts.reduce((sum, part) => sum + part, 0));
          before = day;
        }
        expectClose([...made.equity], account, `round ${round}, ${rebalance}`);
      }
    }
  });

  it('keeps the part of a run with nothing left in cash when the parts are set again', () => {
    const days = [0, 1, 2, 3].map((day) => day * DAY);
    const lost = equityOf(days, [0, 0, 0, 0]);
    const steady = equityOf(days, [1_000, 2_000, 2_000, 4_000]);
    // The first day loses half; then only the steady half of the account earns.
    expect([...combined([lost, steady], [0.5, 0.5], { rebalance: 'daily' }).equity]).toEqual([
      5_000, 7_500, 7_500, 11_250,
    ]);
    expect([...combined([lost, steady], [0.5, 0.5]).equity]).toEqual([5_000, 10_000, 10_000, 20_000]);
  });

  it('has no drawdown when it only rises, and says when one has recovered', () => {
    const days = [0, 1, 2, 3].map((day) => day * DAY);
    expect(combined([equityOf(days, [1_001, 1_002, 1_003, 1_004])], [1]).drawdown).toBeNull();
    expect(combined([equityOf(days, [900, 800, 1_000, 1_100])], [1]).drawdown).toEqual({
      depth: 0.19999999999999996,
      peak: 0,
      trough: DAY,
      recovered: 2 * DAY,
      runs: [{ returnPct: -0.19999999999999996, drawdown: 0.19999999999999996, maxDrawdown: 0.19999999999999996 }],
    });
  });
});
