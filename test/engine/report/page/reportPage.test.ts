// The report page as text: precision, names, units and sections, read back from the HTML of real runs.
import { beforeAll, describe, expect, it } from 'vitest';
import { createMarket, strategyHash, type BacktestTask, type StrategyAst } from '../../../../src/engine/index.ts';
import { simulateTask } from '../../../../src/engine/backtest.ts';
import { pageAssets } from '../../../../src/engine/pool/pageAssets.ts';
import { chartData } from '../../../../src/engine/report/page/chartData.ts';
import { html, tone } from '../../../../src/engine/report/kit/html.ts';
import { fixed, percent, priceDecimals, quantityDecimals } from '../../../../src/engine/report/kit/numberText.ts';
import { reportPage } from '../../../../src/engine/report/page/reportPage.ts';
import { CompletedRun } from '../../../../src/engine/report/simulatedRun.ts';
import { shippedData } from '../../../support/shippedData.ts';
import * as write from '../../../support/builders.ts';

const HEADING = {
  strategyName: 'Both ways & back',
  strategyVersion: 3,
  backtestId: '019ab0f2-7c1e-7d0a-9c55-3d1f0a6b2c44',
};
const rsi = write.indicator('rsi', { length: 14 }, { id: 'strength' });
const average = write.sma(50, { id: 'average' });
const entry = (id: string, side: string, op: string, value: number) => ({
  kind: 'entry',
  id,
  trigger: write.cross(rsi, op, write.constant(value)),
  conflict: 'reverse',
  action: { side, sizing: { mode: 'percent_equity', value: 90 } },
});
const strategy = (stopPercent: number): StrategyAst =>
  ({
    protocol: 'svc.strategy',
    version: 1,
    strategy: {
      kind: 'strategy',
      entry: [entry('dip', 'long', 'cross_up', 45), entry('rally', 'short', 'cross_down', 55)],
      exits: [write.exit(write.compare(average, 'gt', 1e9))],
      risk: {
        stopLoss: { mode: 'percent', value: stopPercent },
        takeProfits: [{ triggerPercent: stopPercent, closePercent: 100 }],
      },
    },
  }) as unknown as StrategyAst;

async function simulated(symbol: string, timeframe: '1h' | '1d', stopPercent: number): Promise<CompletedRun> {
  const market = createMarket(await (await shippedData()).snapshots(symbol, timeframe), symbol, timeframe);
  const strategyAst = strategy(stopPercent);
  const task: BacktestTask = {
    id: 'report',
    strategyAst,
    settings: {},
    strategyHash: strategyHash(strategyAst, {}),
    config: {
      timeframe,
      signalInstrument: { symbol },
      initialBalance: 10_000,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.0005 }],
        },
        slippage: { kind: 'fixed', unit: 'bps', value: 1 },
      },
    },
  };
  const run = simulateTask(task, market, null, true);
  if (!run.ok) throw new Error(run.error.message);
  return run;
}

interface Report {
  readonly run: CompletedRun;
  readonly page: string;
  /** The page without its scripts and style, tags out. */
  readonly text: string;
}
const reportOf = (run: CompletedRun): Report => {
  const page = reportPage(run, pageAssets(), HEADING, null);
  const body = page.replaceAll(/<(script|style)\b.*?<\/\1>/gs, '');
  return { run, page, text: body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ') };
};
const cellsOf = (markup: string): string[] =>
  [...markup.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell.replaceAll(/<[^>]*>/g, '').trim());
const tradeRows = ({ page }: Report): string[][] =>
  [...page.matchAll(/<tr data-trade.*?<\/tr>/gs)].map(([row]) => cellsOf(row));
const namedTables = ({ page }: Report): { title: string; unit: string; cells: string[] }[] =>
  [...page.matchAll(/<table class="names">.*?<\/table>/gs)].map(([table]) => {
    const [, title, unit] = /<caption>\s*(.*?)\s*<small>(.*?)<\/small>/s.exec(table)!;
    return { title, unit, cells: cellsOf(table) };
  });

/** A failure must not print the whole page. */
const includes = ({ page, text }: Report, part: string): void =>
  expect(page.includes(part) || text.includes(part), part).toBe(true);

let euro: Report;
let index: Report;
beforeAll(async () => {
  euro = reportOf(await simulated('EURUSD', '1h', 0.15));
  index = reportOf(await simulated('SPX', '1d', 2));
});

describe('a price', () => {
  it('shows the five decimals of EURUSD in the table and on the axis', () => {
    const [first] = tradeRows(euro);
    const last = euro.run.trades.at(-1)!;
    expect(first[6]).toBe(last.entryPrice.toFixed(5));
    expect(first[7]).toBe(last.exitPrice.toFixed(5));
    includes(euro, '"priceDecimals":5');
  });

  it('keeps its decimals from 1,000 on', () => {
    const [first] = tradeRows(index);
    expect(first[6]).toMatch(/^2,\d{3}\.\d\d$/);
    expect(first[6].replace(',', '')).toBe(index.run.trades.at(-1)!.entryPrice.toFixed(2));
    includes(index, '"priceDecimals":2');
  });

  it.each([
    [0.01, [100], 2],
    [0.00001, [1], 5],
    [null, [1.08543, 1.08541, 1.0855], 5],
    [null, [1455.219971, 1400.02002], 2],
    [null, [150.123, 150.124], 3],
    [null, [0.00012345, 0.0001235], 8],
    [null, [12_000, 13_000], 2],
    [null, [], 2],
  ])('has, with a tick of %s and closes of %j, %i decimals', (tick, closes, expected) => {
    expect(priceDecimals(tick, Float64Array.from(closes))).toBe(expected);
  });

  it('does not gain decimals from a few prices in sixteenths', () => {
    const closes = Float64Array.from({ length: 100 }, (_, row) => (row < 10 ? 26.6875 : 26 + row / 100));
    expect(priceDecimals(null, closes)).toBe(2);
  });
});

describe('the section on the data of a run', () => {
  it('says over how many periods it annualizes, and why', () => {
    includes(index, 'Ratios are annualized over 252 periods per year, stated for the instrument.');
  });

  it('lists the outliers of the bars, and is left out if there are none', async () => {
    const apple = reportOf(await simulated('AAPL', '1d', 2));
    expect(apple.run.summary.dataQuality.outlierCount).toBe(2);
    includes(apple, 'Outliers in the bars');
    includes(apple, '2000-09-29 open 14.10 26.75 \u221247.31 % the close before it');
    includes(apple, '2010-05-06 low 199.25 225.21 \u221211.53 % the bars beside it');
    expect(index.page).not.toContain('Outliers in the bars');
  });
});

describe('a number', () => {
  it('is never a negative zero, and has no color if it rounds to zero', () => {
    for (const value of [-0.00001, -0, 0]) expect(fixed(value, 1)).toBe('0.0');
    expect(percent(-0.0004, 1)).toBe('0.0');
    expect(html`<td${tone(percent(-0.0004, 1))}></td>`.markup).toBe('<td></td>');
    expect(html`<td${tone(percent(-0.04, 1))}></td>`.markup).toBe('<td class="down"></td>');
    for (const { page } of [euro, index]) {
      expect(/>\s*[-−]0(\.0+)?\s*</.exec(page)?.[0]).toBeUndefined();
      expect(/class="(?:[^"]* )?(?:up|down|gain|loss)[^"]*"[^>]*>\s*0(\.0+)?\s*</.exec(page)?.[0]).toBeUndefined();
    }
  });

  it('is grouped, with a real minus sign, or a dash if it is missing', () => {
    expect([fixed(1234567.891, 2), fixed(-1234.5, 0), fixed(null, 2), fixed(Infinity, 2)]).toEqual([
      '1,234,567.89', '−1,235', '–', '–',
    ]); // prettier-ignore
  });

  it('shows a quantity with the decimals of its step, within six digits', () => {
    expect([quantityDecimals(1, 50), quantityDecimals(1e-8, 0.5), quantityDecimals(1e-8, 4912.2)]).toEqual([0, 6, 2]);
  });
});

describe('the heading', () => {
  it('names the strategy, the market, the dates, the costs and the run', () => {
    const { text, page } = euro;
    expect(page.includes('<title>Both ways &amp; back: backtest of EURUSD</title>')).toBe(true);
    for (const part of [
      'Both ways &amp; back version 3',
      'EURUSD 1h',
      'maker 0.02 %, taker 0.05 %, slippage 1 bps',
      'at the next open; pessimistic inside a bar',
      HEADING.backtestId,
    ])
      expect(text.includes(part), part).toBe(true);
    expect(/2017-01-\d\d to 2017-12-29, [\d,]+ bars/.test(text)).toBe(true);
  });

  it('falls back to the market when the strategy has no name', () => {
    const page = reportPage(index.run, pageAssets(), null, null);
    expect(/<h1>\s*SPX 1d\s*<\/h1>/.test(page)).toBe(true);
  });
});

describe('the list of statistics', () => {
  it('names every statistic, so that no key of the summary is on the page', () => {
    const keys = Object.entries(euro.run.summary).flatMap(([key, value]) =>
      (typeof value === 'number' || value === null) && /[A-Z]/.test(key) ? [key] : [],
    );
    expect(keys.length).toBeGreaterThan(40);
    expect(keys.filter((key) => euro.text.includes(key))).toEqual([]);
    expect(/Start\d{4}-/.test(euro.text)).toBe(false);
  });

  it('uses one unit per table, in its heading and in no cell', () => {
    const units = Object.fromEntries(namedTables(euro).map(({ title, unit }) => [title, unit]));
    expect(units).toEqual({
      Return: '%',
      'Risk and exposure': '%',
      Ratios: 'no unit',
      'Per position': '%',
      Edge: 'no unit',
      Money: 'USD',
      Counts: 'as named',
      Dates: 'UTC',
    });
    for (const { title, cells } of namedTables(euro)) {
      const form = title === 'Dates' ? /^(\d{4}-\d\d-\d\d( \d\d:\d\d)?|–)$/ : /^(−?[\d,]+(\.\d+)?|–)$/;
      expect(cells.length, title).toBeGreaterThan(2);
      for (const cell of cells) expect(cell, title).toMatch(form);
    }
  });
});

describe('the body of the page', () => {
  it('shows the quantity and fees of every trade', () => {
    const rows = tradeRows(euro);
    expect(rows.length).toBe(euro.run.trades.length);
    for (const [row, trade] of rows.map((cells, at) => [cells, euro.run.trades.at(-1 - at)!] as const)) {
      expect(Number(row[8].replaceAll(',', ''))).toBeCloseTo(trade.quantity, 1);
      expect(Number(row[9])).toBeCloseTo(trade.entryFee + trade.exitFee, 2);
    }
    expect(/Quantity <small>EUR<\/small>/.test(euro.page)).toBe(true);
  });

  it('shows the band between the readings if a bar left the outcome open', () => {
    const { band, simulation } = euro.run.report;
    expect(simulation.ambiguity.fallbackBars).toBeGreaterThan(0);
    expect(band.high).toBeGreaterThan(band.low);
    const { undecidedBars, fallbackBars } = simulation.ambiguity;
    includes(euro, `The order of prices inside the bar was open in ${undecidedBars} bars.`);
    includes(
      euro,
      `In ${undecidedBars - fallbackBars} of them finer bars decided or every order gave the same outcome;`,
    );
    includes(euro, `Pessimistic ${percent(band.pessimistic)} %`);
    includes(euro, `Optimistic ${percent(band.optimistic)} %`);
  });

  it('counts the bars of a drawdown as the summary does', () => {
    const [, table] = /<section[^>]* id="drawdowns"[^>]*>(.*?)<\/section>/s.exec(index.page)!;
    const bars = [...table.matchAll(/<td>([\d,]+)<\/td>\s*<\/tr>/g)].map(([, cell]) =>
      Number(cell.replaceAll(',', '')),
    );
    expect(bars.length).toBe(5);
    expect(Math.max(...bars)).toBe(index.run.summary.maxDrawdownDurationBars);
  });

  it('says that nothing was left open if no bar was ambiguous', () => {
    const { report, written, tradeTable, configJson, reproducibility, warnings, memory } = index.run;
    const { simulation } = report;
    const ambiguity = { ...simulation.ambiguity, undecidedBars: 0, fallbackBars: 0 };
    const changed: typeof simulation = { ...simulation, trades: simulation.trades, ambiguity };
    const rest = { written, tradeTable, configJson, reproducibility, warnings, memory };
    const run = new CompletedRun({ report: { ...report, simulation: changed }, ...rest });
    includes(reportOf(run), 'In no bar did the result depend on the order of prices inside it.');
  });

  it('shows the funnel of each entry and the diagnosis', () => {
    const { funnel, diagnosis } = euro.run.summary.strategyTrace!;
    includes(euro, `Entry dip Trigger true ${funnel.entries[0].triggerTrue} `);
    includes(euro, `Entries filled ${funnel.entriesFilled} `);
    for (const { message } of diagnosis) includes(euro, message);
  });
});

describe('a chart', () => {
  it('keeps the extremes of drawdown and equity for every width of bucket', () => {
    const { run } = index;
    const { equity } = run.report.simulation;
    for (const points of [20_000, 1_000, 333, 50, 7]) {
      const data = chartData(run, run.trades, points);
      expect(data.time.length).toBeLessThanOrEqual(points);
      expect(-Math.min(...data.drawdown) / 100).toBeCloseTo(run.summary.maxDrawdown, 8);
      expect(Math.max(...data.high)).toBeCloseTo(
        Math.max(...run.report.input.bars.high.subarray(run.report.input.start)),
        4,
      );
      if (points >= 50) {
        expect(Math.max(...data.equity)).toBeCloseTo(Math.max(...equity), 4);
        expect(Math.min(...data.equity)).toBeCloseTo(Math.min(...equity), 4);
      }
    }
  });

  it('places trades at their bars, between points if a point holds several', () => {
    const { run } = index;
    const offset = run.report.input.start - run.report.firstRow;
    const [each] = chartData(run, run.trades).trades;
    expect(each[0]).toBe(run.trades[0].entryBar - offset);
    const [bucketed] = chartData(run, run.trades, 500).trades;
    const every = Math.ceil(run.report.simulation.equity.length / 500);
    expect(Math.round(bucketed[0])).toBe(Math.floor((run.trades[0].entryBar - offset) / every));
  });

  it('draws a node on the scale of the price over the price, and others in a pane of their own', () => {
    const data = chartData(index.run, index.run.trades);
    expect(data.lines.map(({ name, pane }) => [name, pane])).toEqual([
      ['strength', 1],
      ['average', 0],
    ]);
    expect(data.thresholds).toEqual([[45, 55]]);
    expect(data.notDrawn).toEqual([]);
  });
});
