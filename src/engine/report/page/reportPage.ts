// The report: one HTML file that contains its style, scripts and data, and makes no network requests.
import type { ArtifactNotice, ReportHeading } from '../../task.ts';
import { ENGINE_VERSION } from '../../version.ts';
import { periodsPerYear, periodsPerYearReason } from '../../bars/periodsPerYear.ts';
import { isIntraday } from '../../bars/timeframes.ts';
import type { PortfolioRun } from '../reportInput.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { chartData } from './chartData.ts';
import { chartedInstruments } from './instrumentPrices.ts';
import { headingSection, marketOf, noticeSection, titleOf } from './headingSection.ts';
import { contributionSection, instrumentsSection, rankedOutSection } from './instrumentSections.ts';
import { exposureSection, turnoverSection, weightsSection } from './weightSections.ts';
import { html, htmlPage, NOTHING, section, table, type Html } from '../kit/html.ts';
import {
  day,
  minute,
  moneyDecimals,
  priceDecimals,
  quantityDecimals,
  fixed,
  percentWithSign,
  type Precision,
} from '../kit/numberText.ts';
import { drawdownsSection, monthsSection, spreadSection } from './returnsSections.ts';
import { bandSection, conditionsSection, diagnosisSection, funnelSection } from './signalSections.ts';
import { statisticsSection } from './statisticsSection.ts';
import { tradesSection } from './tradesSection.ts';

/** Most trades in the table and the chart: more are slow to sort and hide one another. The trades artifact has all. */
const MAX_TRADES = 2_000;
/** From this ratio of highest to lowest price, the charts start with a logarithmic scale. */
const WIDE_RATIO = 5;
const CHART_SITE = 'https://www.tradingview.com/';

/** The texts of a page other than its data. */
export interface PageAssets {
  /** lightweight-charts' standalone build (Apache 2.0; its attribution is kept on the page). */
  readonly chartLibrary: string;
  readonly style: string;
  readonly script: string;
}

export function reportPage(
  run: CompletedRun,
  assets: PageAssets,
  heading: ReportHeading | null,
  notice: ArtifactNotice | null,
): string {
  const precision = precisionOf(run);
  const title = `${titleOf(run, heading)}: backtest of ${marketOf(run)}`;
  return htmlPage({
    title,
    style: assets.style,
    body: html`<main>${noticeSection(notice)}${bodyOf(run, heading, precision)}</main>
      ${footer(run)}`,
    data: dataOf(run, precision),
    scripts: [assets.chartLibrary, assets.script],
  });
}

function bodyOf(run: CompletedRun, heading: ReportHeading | null, precision: Precision): Html {
  const { base, quote } = run.report.input.instrument;
  const units = { base: base ?? 'units', quote: quote ?? 'quote' };
  return html`${headingSection(run, heading, precision)}${diagnosisSection(run)}${chartsSection(run)}
    <div class="pair">
      ${weightsSection(run)}${contributionSection(run)}${exposureSection(run)}${turnoverSection(run)}
      ${rankedOutSection(run)} ${funnelSection(run)}${bandSection(run)}${conditionsSection(run)}
      ${spreadSection(run, units.quote, precision)}${drawdownsSection(run)}
    </div>
    ${instrumentsSection(run, units.quote, precision)} ${monthsSection(run)}
    ${statisticsSection(run, units.quote, precision)} ${dataSection(run, precision)}
    ${tradesSection(shownTrades(run), run.trades.length, units, precision)}`;
}

const chartsSection = (run: CompletedRun): Html =>
  section(
    { id: 'charts', title: 'Price, equity and drawdown' },
    html`<div class="tools">
        <div id="ranges"></div>
        ${instrumentChoice(run)}
        <label><input type="checkbox" id="log" /> Log scale</label>
      </div>
      <div id="chart"></div>
      <p id="legend" aria-live="off"></p>
      <noscript
        ><p class="lead">The charts need JavaScript; everything else on this page works without it.</p></noscript
      >`,
  );

/** Which instrument the price pane shows; nothing where there is one. */
function instrumentChoice({ report }: CompletedRun): Html {
  if (report.portfolio?.isNamed !== true) return NOTHING;
  const options = chartedInstruments(report.portfolio).map(
    (index, place) => html`<option value="${place}">${report.portfolio!.instruments[index].symbol}</option>`,
  );
  return html`<label
    >Price of
    <select id="instrument">
      ${options}
    </select></label
  >`;
}

const shownTrades = ({ trades }: CompletedRun) => trades.slice(-MAX_TRADES);

function precisionOf({ report, trades }: CompletedRun): Precision {
  const { input } = report;
  const { bars, instrument, start, end } = input;
  const prices = bars.close.subarray(start, Math.max(start, end));
  return {
    price: report.portfolio === undefined ? priceDecimals(instrument.tickSize, prices) : mostDecimals(report.portfolio),
    money: moneyDecimals(input.config.initialBalance),
    quantity: quantityDecimals(
      instrument.qtyStep,
      trades.reduce((most, { quantity }) => Math.max(most, quantity), 0),
    ),
    time: isIntraday(bars.timeframe) ? minute : day,
  };
}

/** The decimals that the prices of any instrument need. */
const mostDecimals = ({ instruments }: PortfolioRun): number =>
  instruments.reduce((most, { input: { bars, instrument, start, end } }) => {
    const prices = bars.close.subarray(start, Math.max(start, end));
    return Math.max(most, priceDecimals(instrument.tickSize, prices));
  }, 0);

/** What the script draws. */
function dataOf(run: CompletedRun, precision: Precision): object {
  const { config } = run.report.input;
  return {
    ...chartData(run, shownTrades(run)),
    initialBalance: config.initialBalance,
    symbol: marketOf(run),
    isDaily: !isIntraday(config.timeframe),
    isWide: isWide(run),
    priceDecimals: precision.price,
    moneyDecimals: precision.money,
    tradeCount: run.trades.length,
  };
}

/** Whether the price moved so far that a linear scale would flatten most of it. */
function isWide({ report }: CompletedRun): boolean {
  const { bars, start, end } = report.input;
  let lowest = Infinity;
  let highest = 0;
  for (let row = start; row < end; row++) {
    lowest = Math.min(lowest, bars.low[row]);
    highest = Math.max(highest, bars.high[row]);
  }
  return lowest > 0 && highest > WIDE_RATIO * lowest;
}

function footer({ report, resultHash, reproducibility }: CompletedRun): Html {
  const { bars, instrument } = report.input;
  // A portfolio has bars of several instruments, which its data hash covers.
  const data = report.portfolio === undefined ? bars.sha256 : reproducibility.dataHash;
  const periods = `${periodsPerYear(instrument)} periods per year, ${periodsPerYearReason(instrument)}`;
  return html`<footer>
    <p>
      Daily equity is the last mark of each UTC day that has bars; the risk-free rate is 0. Ratios are annualized over
      ${periods}. All times are UTC.
    </p>
    <p>Engine ${ENGINE_VERSION} · result <code>${resultHash}</code> · data <code>${data}</code></p>
    <p>
      Charts by <a href="${CHART_SITE}">TradingView</a> Lightweight Charts™, © TradingView, Inc., Apache License 2.0.
    </p>
  </footer>`;
}

function dataSection({ summary }: CompletedRun, precision: Precision): Html {
  const { outlierCount, outliers } = summary.dataQuality;
  if (outlierCount === 0) return NOTHING;
  const rows = outliers.map(
    ({ symbol, time, kind, column, price, neighbor }) =>
      html`<tr>
        <th scope="row">${symbol === undefined ? NOTHING : `${symbol} `}${precision.time(time)}</th>
        <td class="text">${column}</td>
        <td>${fixed(price, precision.price)}</td>
        <td>${fixed(neighbor, precision.price)}</td>
        <td>${percentWithSign(price / neighbor - 1)}</td>
        <td class="text">${kind === 'spike' ? 'the bars beside it' : 'the close before it'}</td>
      </tr>`,
  );
  const headings = [
    { text: 'Bar', isText: true },
    { text: 'Price', isText: true },
    { text: 'Value' },
    { text: 'Neighbor' },
    { text: 'Difference' },
    { text: 'Compared with', isText: true },
  ];
  const shown = outliers.length < outlierCount ? ` The first ${outliers.length} of ${outlierCount} are shown.` : '';
  const note =
    `Prices that the bars around them contradict: bad ticks, unadjusted splits or crashes.${shown} Trades ` +
    `near them deserve a closer look.`;
  return section({ id: 'data-quality', title: 'Outliers in the bars', note }, table(headings, rows));
}
