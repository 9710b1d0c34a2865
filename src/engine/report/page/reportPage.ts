// The report: one HTML file that contains its style, scripts and data, and makes no network requests.
import type { ArtifactNotice, ReportHeading } from '../../task.ts';
import { ENGINE_VERSION } from '../../version.ts';
import { benchmarkName } from '../buyAndHold.ts';
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
  count,
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
import { strategySection, type SentStrategy } from './strategySection.ts';
import { tradesSection } from './tradesSection.ts';
import { rollingSection, yearsSection } from './yearSections.ts';

/** Most trades in the table and the chart: more are slow to sort and hide one another. The trades artifact has all. */
const MAX_TRADES = 2_000;
const CHART_SITE = 'https://www.tradingview.com/';

/** The texts of a page other than its data. */
export interface PageAssets {
  /** lightweight-charts' standalone build (Apache 2.0; its attribution is kept on the page). */
  readonly chartLibrary: string;
  readonly style: string;
  /** In the order in which they run. */
  readonly scripts: readonly string[];
}

export function reportPage(
  run: CompletedRun,
  assets: PageAssets,
  heading: ReportHeading | null,
  notice: ArtifactNotice | null,
  sent: SentStrategy | null = null,
): string {
  const precision = precisionOf(run);
  const title = `${titleOf(run, heading)}: backtest of ${marketOf(run)}`;
  const data = dataOf(run, precision);
  return htmlPage({
    title,
    style: assets.style,
    body: html`<main>${noticeSection(notice)}${bodyOf(run, heading, precision, sent, data)}</main>
      ${footer(run)}`,
    data,
    scripts: [assets.chartLibrary, ...assets.scripts],
  });
}

function bodyOf(
  run: CompletedRun,
  heading: ReportHeading | null,
  precision: Precision,
  sent: SentStrategy | null,
  data: ReturnType<typeof dataOf>,
): Html {
  const { base, quote } = run.report.input.instrument;
  const units = { base: base ?? 'units', quote: quote ?? 'quote' };
  return html`${headingSection(run, heading, precision)}${diagnosisSection(run)}${chartsSection(run, data)}
    ${strategySection(run, sent)}
    <div class="pair">
      ${weightsSection(run)}${contributionSection(run)}${exposureSection(run)}${turnoverSection(run)}
      ${rankedOutSection(run)} ${funnelSection(run)}${bandSection(run)}${conditionsSection(run)}
      ${spreadSection(run, units.quote, precision)}${rollingSection(run)}${drawdownsSection(run)}
    </div>
    ${instrumentsSection(run, units.quote, precision)} ${yearsSection(run)} ${monthsSection(run)}
    ${statisticsSection(run, units.quote, precision)} ${dataSection(run, precision)}
    ${tradesSection(shownTrades(run), run.trades.length, units, precision)}`;
}

const chartsSection = (run: CompletedRun, data: ReturnType<typeof dataOf>): Html =>
  section(
    { id: 'charts', title: 'Price, equity and drawdown', note: chartNote(data) },
    html`<div class="tools">
        <div id="ranges"></div>
        ${instrumentChoice(run)}
        <label><input type="checkbox" id="log" /> Log scale</label>
        <button type="button" id="save-equity">Save equity as CSV</button>
      </div>
      <div id="chart"></div>
      <p id="legend" aria-live="off"></p>
      <noscript
        ><p class="lead">The charts need JavaScript; everything else on this page works without it.</p></noscript
      >`,
  );

/** What the colors and lines mean, and what is left out of the charts. */
function chartNote({ barsPerPoint, notDrawn, levels, trades, tradeCount }: ReturnType<typeof dataOf>): string {
  const hasLevels = Object.keys(levels).length > 0;
  const parts = [
    'Triangles are entries, dots exits, in the color of the result. Where there is no room, a count stands for ' +
      'several trades: zoom in with the wheel or two fingers.',
    ...(hasLevels ? ['Dashed: the stop in force (red) and the targets (green) of each trade.'] : []),
    'The strip at the bottom shows when each condition was true.',
    ...(barsPerPoint > 1 ? [`Each point stands for ${count(barsPerPoint)} bars.`] : []),
    ...(trades.length < tradeCount ? [`The last ${count(trades.length)} trades are drawn.`] : []),
    ...(notDrawn.length > 0 ? [`Not drawn, for lack of room: ${notDrawn.join(', ')}.`] : []),
  ];
  return parts.join(' ');
}

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
function dataOf(run: CompletedRun, precision: Precision) {
  const { config } = run.report.input;
  return {
    ...chartData(run, shownTrades(run)),
    initialBalance: config.initialBalance,
    symbol: marketOf(run),
    benchmarkText: benchmarkName(config, run.report.portfolio?.isNamed === true),
    isDaily: !isIntraday(config.timeframe),
    priceDecimals: precision.price,
    moneyDecimals: precision.money,
    tradeCount: run.trades.length,
  };
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
