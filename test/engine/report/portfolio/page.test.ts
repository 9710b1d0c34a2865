// The report page of a portfolio: its plots, tables and prices against the numbers of the run.
import { beforeAll, describe, expect, it } from 'vitest';
import { createMarket } from '../../../../src/engine/bars/market.ts';
import { pageAssets } from '../../../../src/engine/pool/pageAssets.ts';
import { chartData } from '../../../../src/engine/report/page/chartData.ts';
import { reportPage } from '../../../../src/engine/report/page/reportPage.ts';
import { turnoverByPeriod, weightSeries } from '../../../../src/engine/report/page/weightSections.ts';
import type { BacktestTask } from '../../../../src/engine/task.ts';
import { randomSnapshot } from '../../../support/bars.ts';
import { astOf, compare, entry, exit, market, sma } from '../../../support/builders.ts';
import { separateAccounts, type SeparateAccounts } from '../../../support/separateAccounts.ts';

const SYMBOLS = Array.from({ length: 12 }, (_, index) => `S${String(index).padStart(2, '0')}`);
const MARKETS = SYMBOLS.map((symbol, seed) =>
  createMarket([randomSnapshot({ symbol, seed: seed + 1, count: 400 - 10 * seed })], symbol, '1h'),
);
const TASK: BacktestTask = {
  id: 'run',
  strategyAst: astOf({
    entry: entry(compare(market(), 'gt', sma(20))),
    exits: [exit(compare(market(), 'lt', sma(20)))],
  }),
  settings: {},
  strategyHash: '',
  config: { timeframe: '1h', signalInstrument: { symbol: 'S00' }, initialBalance: 120_000 },
};

let accounts: SeparateAccounts;
let page: string;
beforeAll(() => {
  accounts = separateAccounts(TASK, MARKETS, {
    changed: (result) => ({
      ...result,
      rankedOut: {
        count: 5,
        atClose: 3,
        atFill: 2,
        mostAtOnce: 2,
        largestLost: 3,
        smallestTaken: 4,
        isUnranked: false,
      },
      byInstrument: result.byInstrument.map((each, index) => ({ ...each, rankedOut: index === 3 ? 5 : 0 })),
    }),
  });
  page = reportPage(accounts.run, pageAssets(), null, null);
});
const sectionOf = (id: string): string =>
  new RegExp(`<section class="card" id="${id}">.*?</section>`, 's').exec(page)![0];

describe('the report of a portfolio', () => {
  it('stacks the weights of the largest instruments and the sum of the others', () => {
    const { run, result, values } = accounts;
    const points = [10, 200, 379];
    const series = weightSeries(run.report.portfolio!, points);
    expect(series).toHaveLength(9);
    expect(series.at(-1)!.name).toBe('4 others');
    points.forEach((point, at) => {
      const gross = values.reduce((sum, column) => sum + column[point], 0) / result.equity[point];
      expect(series.reduce((sum, each) => sum + each.values[at], 0)).toBeCloseTo(gross, 12);
    });
    const areas = sectionOf('weights');
    expect(areas.match(/<polygon/g)).toHaveLength(9);
    expect(areas).toMatch(/role="img" aria-label="Weights over time; on average S\d\d \d+ %/);
  });

  it('turns over all that was traded', () => {
    const { run } = accounts;
    const periods = turnoverByPeriod(run);
    expect(periods.map(({ name }) => name)).toEqual(['2024-01']);
    const mean = run.summary.totalNotional / run.summary.turnover!;
    expect(periods[0].value * mean).toBeCloseTo(run.summary.totalNotional, 4);
  });

  it('lists every instrument with its contribution, and what the rank left out', () => {
    const rows = sectionOf('instruments');
    for (const symbol of SYMBOLS) {
      expect(rows).toContain(`<th scope="row">${symbol}</th>`);
      expect(sectionOf('contribution')).toContain(`<span>${symbol}</span>`);
    }
    expect(sectionOf('ranked-out')).toContain(
      '5 signals found no free slot, 2 of them when their order would have filled, at most',
    );
    expect(sectionOf('funnel')).toContain('<li>No free slot in the account <b>5</b></li>');
    expect(sectionOf('ranked-out').match(/<th scope="row">/g)).toHaveLength(1);
    expect(sectionOf('exposure')).toContain('Number of positions over time');
  });

  it('offers the prices of each instrument, with gaps where it has no bar, and its trades at their instants', () => {
    const { run, start } = accounts;
    const chart = chartData(run, run.trades);
    expect(chart.instruments!.map(({ symbol }) => symbol)).toEqual(SYMBOLS);
    expect(chart.barsPerPoint).toBe(1);
    const [first, last] = [chart.instruments![0], chart.instruments![11]];
    const { base } = MARKETS[0];
    expect(first.close[5]).toBe(base.close[start + 5]);
    expect(last.close.at(-1)).toBeNull();
    expect(last.close.filter((close) => close !== null)).toHaveLength(400 - 110 - start);
    run.trades.forEach(({ symbol, entryTime, exitTime }, index) => {
      const [entered, , left, , , , place] = chart.trades[index];
      expect(chart.time[entered]).toBe(entryTime / 1000);
      expect(chart.time[left]).toBe(exitTime / 1000);
      expect(SYMBOLS[place]).toBe(symbol);
    });
    expect(page).toContain('<option value="11">S11</option>');
  });

  it('names twelve instruments by their number, and each trade by its symbol', () => {
    expect(page).toContain('12 instruments 1h');
    const trades = sectionOf('trades');
    expect(trades).toContain('<td class="text">S03</td>');
  });
});
