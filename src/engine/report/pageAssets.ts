// What the report page looks like and does, as text: it is written into the page and runs in a browser, never here.

export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1d2433; --faint: #667085; --line: #d9dee7; --paper: #ffffff; --up: #0b8f6b; --down: #c8374a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --faint: #98a2b3; --line: #30394a; --paper: #131822; } }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main, footer { max-width: 1100px; margin: 0 auto; padding: 16px; }
h1 { margin: 0; font-size: 24px; } h2 { font-size: 16px; margin: 24px 0 8px; }
#headline { margin: 4px 0 0; color: var(--faint); }
.chart { height: 240px; border: 1px solid var(--line); } .chart.tall { height: 380px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: 3px 8px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 0 24px; }
.grid div { display: flex; justify-content: space-between; border-bottom: 1px solid var(--line); padding: 2px 0; }
.up { color: var(--up); } .down { color: var(--down); }
.note { border-left: 4px solid var(--line); padding: 4px 12px; margin: 8px 0; } .error { border-color: var(--down); } .warning { border-color: #d9952b; }
footer { color: var(--faint); font-size: 12px; } a { color: inherit; }
`;

export const PAGE_SCRIPT = `
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const percent = (value) => (value === null ? '–' : (100 * value).toFixed(2) + ' %');
const number = (value) => (value === null ? '–' : Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(5)).toString());
const day = (ms) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
const tone = (value) => (value > 0 ? 'up' : value < 0 ? 'down' : '');
const statistics = Object.fromEntries(data.statistics);

byId('headline').textContent =
  'return ' + percent(statistics.returnPct) + ', buy and hold ' + percent(statistics.buyHoldReturnPct) + ', Sharpe ' +
  number(statistics.sharpeRatio) + ', max drawdown ' + percent(statistics.maxDrawdown) + ', ' + statistics.totalPositions + ' positions';

for (const { code, severity, message, suggestion } of data.diagnosis) {
  const note = element('div', undefined, 'note ' + severity);
  note.append(element('strong', code + ': '), message + ' ', element('em', suggestion));
  byId('diagnosis').append(note);
}

const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
const options = {
  autoSize: true,
  layout: { background: { color: 'transparent' }, textColor: isDark ? '#e6e9ef' : '#1d2433', attributionLogo: true },
  grid: { vertLines: { visible: false }, horzLines: { color: isDark ? '#30394a' : '#eef1f5' } },
  timeScale: { timeVisible: true, secondsVisible: false, minBarSpacing: 0.001 },
};
const charts = ['price', 'equity', 'drawdown'].map((id) => LightweightCharts.createChart(byId(id), options));
const [price, equity, drawdown] = charts;

const candles = price.addSeries(LightweightCharts.CandlestickSeries, { upColor: '#0b8f6b', downColor: '#c8374a', borderVisible: false });
candles.setData(data.points.map(([time, open, high, low, close]) => ({ time, open, high, low, close })));
const times = data.points.map(([time]) => time);
const pointAt = (ms) => {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] * 1000 <= ms) low = middle;
    else high = middle - 1;
  }
  return times[low];
};
const markers = data.trades.flatMap((trade) => [
  { time: pointAt(trade.entryTime), position: trade.side === 'long' ? 'belowBar' : 'aboveBar', shape: trade.side === 'long' ? 'arrowUp' : 'arrowDown', color: '#2f6fde', text: '' },
  { time: pointAt(trade.exitTime), position: trade.side === 'long' ? 'aboveBar' : 'belowBar', shape: 'circle', color: trade.pnl > 0 ? '#0b8f6b' : '#c8374a', text: '' },
]);
LightweightCharts.createSeriesMarkers(candles, markers.sort((a, b) => a.time - b.time));

equity.addSeries(LightweightCharts.LineSeries, { color: '#2f6fde', lineWidth: 2, title: 'equity' })
  .setData(data.points.map(([time, , , , , value]) => ({ time, value })));
equity.addSeries(LightweightCharts.LineSeries, { color: '#98a2b3', lineWidth: 1, title: 'buy and hold' })
  .setData(data.points.map(([time, , , , close]) => ({ time, value: (data.initialBalance * close) / data.firstOpen })));
let peak = data.initialBalance;
drawdown.addSeries(LightweightCharts.AreaSeries, { lineColor: '#c8374a', topColor: 'rgba(200,55,74,0.05)', bottomColor: 'rgba(200,55,74,0.4)', lineWidth: 1 })
  .setData(data.points.map(([time, , , , , value]) => {
    peak = Math.max(peak, value);
    return { time, value: 100 * (value / peak - 1) };
  }));
for (const chart of charts) {
  chart.timeScale().fitContent();
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range) for (const other of charts) if (other !== chart) other.timeScale().setVisibleLogicalRange(range);
  });
}

const table = (head, rows) => {
  const made = element('table');
  const line = (cells, name) => {
    const row = element('tr');
    for (const cell of cells) row.append(cell instanceof Node ? cell : element(name, cell));
    made.append(row);
  };
  line(head, 'th');
  for (const row of rows) line(row, 'td');
  const scroll = element('div', undefined, 'scroll');
  scroll.append(made);
  return scroll;
};

const years = new Map();
for (const { month, returnPct } of data.months) {
  const [year, index] = [month.slice(0, 4), Number(month.slice(5)) - 1];
  if (!years.has(year)) years.set(year, new Array(12).fill(null));
  years.get(year)[index] = returnPct;
}
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
byId('months').append(table(['', ...monthNames, 'year'], [...years].map(([year, months]) => {
  const known = months.filter((value) => value !== null);
  const whole = known.reduce((product, value) => product * (1 + value), 1) - 1;
  return [year, ...[...months, whole].map((value) => element('td', value === null ? '' : (100 * value).toFixed(1), value === null ? '' : tone(value)))];
})));

if (data.funnel) {
  const { barsTotal, barsWarmup, barsUnknown, setupTrue, triggerTrue, setupAndTrigger, afterFilter, entrySignals, entriesFilled } = data.funnel;
  const steps = [['bars', barsTotal], ['warm-up', barsWarmup], ['unknown', barsUnknown]];
  if (setupTrue !== null) steps.push(['setup true', setupTrue]);
  steps.push(['trigger true', triggerTrue], ['setup and trigger', setupAndTrigger]);
  for (const { nodeId, count } of afterFilter) steps.push(['after ' + nodeId, count]);
  steps.push(['entry signals', entrySignals], ['entries filled', entriesFilled]);
  byId('funnel').append(table(['step', 'count'], steps.map(([name, count]) => [name, String(count)])));
}

const grid = element('div', undefined, 'grid');
for (const [name, value] of data.statistics) {
  const line = element('div');
  line.append(element('span', name), element('span', /(Start|End|At)$/.test(name) ? (value === null ? '–' : day(value)) : /Pct$|Drawdown$|cagr|winRate|Volatility$/.test(name) ? percent(value) : number(value)));
  grid.append(line);
}
byId('statistics').append(grid);

byId('trades').append(table(
  ['entry', 'side', 'price', 'exit', 'price', 'reason', 'return', 'pnl'],
  data.trades.slice(-50).reverse().map((trade) => [
    day(trade.entryTime), trade.side, number(trade.entryPrice), day(trade.exitTime), number(trade.exitPrice), trade.exitReason,
    element('td', percent(trade.returnPct), tone(trade.returnPct)), element('td', number(trade.pnl), tone(trade.pnl)),
  ]),
));
if (data.tradeCount > 50) byId('trades').append(element('p', 'The last 50 of ' + data.tradeCount + ' rows; the trades artifact has all.'));
document.body.dataset.ready = 'yes';
`;
