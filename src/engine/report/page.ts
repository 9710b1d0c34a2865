// The report: one HTML file with its scripts and data inside, that asks nothing of the network.
import type { CompletedRun } from './tables.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './pageAssets.ts';

/** A browser draws this many candles at once without stutter; longer runs are shown in buckets of bars, trades at their own times. */
const MAX_POINTS = 20_000;
/** Markers beyond this hide the candles; the trades artifact has every row. */
const MAX_MARKERS = 2_000;

/** @param chartLibrary the text of lightweight-charts' standalone build (Apache 2.0; its attribution is kept on the page). */
export function reportPage(run: CompletedRun, chartLibrary: string): string {
  const { config } = run.report;
  const title = `${config.signalInstrument.symbol} ${config.timeframe}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeHtml(title)} backtest</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header><h1>${escapeHtml(title)}</h1><p id="headline"></p></header>
<main>
<section id="diagnosis"></section>
<section><h2>Price and trades</h2><div id="price" class="chart tall"></div></section>
<section><h2>Equity and buy and hold</h2><div id="equity" class="chart"></div></section>
<section><h2>Drawdown</h2><div id="drawdown" class="chart"></div></section>
<section><h2>Months</h2><div id="months"></div></section>
<section><h2>Funnel</h2><div id="funnel"></div></section>
<section><h2>Statistics</h2><div id="statistics"></div></section>
<section><h2>Last trades</h2><div id="trades"></div></section>
</main>
<footer>Charts by <a href="https://www.tradingview.com/">TradingView</a> Lightweight Charts™, © TradingView, Inc., Apache License 2.0.</footer>
<script type="application/json" id="data">${embeddedJson(dataOf(run))}</script>
<script>${chartLibrary.replaceAll('</script', '<\\/script')}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

/** What the page shows: columns of numbers in lists, times in seconds as the chart library takes them. */
function dataOf({ report, summary, trades }: CompletedRun): object {
  const { input, simulation, config } = report;
  const { bars, start } = input;
  const rows = simulation.equity.length;
  const every = Math.max(1, Math.ceil(rows / MAX_POINTS));
  const points = Array.from({ length: Math.ceil(rows / every) }, (_, point) => {
    const first = point * every;
    const last = Math.min(rows, first + every) - 1;
    let high = -Infinity;
    let low = Infinity;
    for (let index = first; index <= last; index++) {
      high = Math.max(high, bars.high[start + index]);
      low = Math.min(low, bars.low[start + index]);
    }
    const time = bars.time[start + first] / 1000;
    return [time, bars.open[start + first], high, low, bars.close[start + last], simulation.equity[last]];
  });
  const { strategyTrace, ruleStatsSummary: _, equityPreview: __, byMonth, ...flat } = summary;
  return {
    points,
    barsPerPoint: every,
    initialBalance: config.initialBalance,
    firstOpen: rows > 0 ? bars.open[start] : null,
    trades: trades.slice(-MAX_MARKERS),
    tradeCount: trades.length,
    months: byMonth,
    funnel: strategyTrace?.funnel ?? null,
    diagnosis: strategyTrace?.diagnosis ?? [],
    statistics: Object.entries(flat).filter(([, value]) => value === null || typeof value === 'number'),
  };
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** JSON that cannot end its script element, whatever a strategy calls its nodes. */
const embeddedJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
