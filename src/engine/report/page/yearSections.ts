// Returns by year beside the benchmark, and over rolling windows of half a year and a year.
import { periodsPerYear } from '../../bars/periodsPerYear.ts';
import { asHeading, benchmarkName } from '../buyAndHold.ts';
import { drawdowns } from '../drawdown.ts';
import { previewIndexes } from '../equityPreview.ts';
import { dailyOf } from '../flatSummary.ts';
import { mean, percentileOf, ROUNDING, standardDeviation } from '../moments.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, signedCell, table, type Html } from '../kit/html.ts';
import { count, day, fixed, percent } from '../kit/numberText.ts';
import { axisOf, lines, plotLegend } from '../kit/plot.ts';

interface YearRow {
  readonly year: string;
  readonly returned: number;
  /** The deepest drawdown on any bar of the year, from the highest equity of the run so far; at most 0. */
  readonly drawdown: number;
  readonly benchmark: number;
  /** Positions and parts of positions that were closed. */
  readonly fills: number;
}

/** Years that have bars: from the end of the year before to the last bar; the first from the initial balance. */
export function yearRows({ report, trades }: Pick<CompletedRun, 'report' | 'trades'>): YearRow[] {
  const { input, simulation } = report;
  const { bars, start, end, config } = input;
  const { open, close } = report.benchmark ?? bars;
  const depth = drawdowns(simulation.equity, config.initialBalance);
  const yearOf = (ms: number): string => String(new Date(ms).getUTCFullYear());
  const fills = Map.groupBy(trades, ({ exitTime }) => yearOf(exitTime));
  const rows: YearRow[] = [];
  let equityBefore = config.initialBalance;
  let priceBefore = open[start];
  let deepest = 0;
  for (let row = start; row < end; row++) {
    const year = yearOf(bars.time[row]);
    deepest = Math.max(deepest, depth[row - start]);
    if (row + 1 < end && yearOf(bars.time[row + 1]) === year) continue;
    const equity = simulation.equity[row - start];
    rows.push({
      year,
      returned: equity / equityBefore - 1,
      drawdown: -deepest,
      benchmark: close[row] / priceBefore - 1,
      fills: fills.get(year)?.length ?? 0,
    });
    equityBefore = equity;
    priceBefore = close[row];
    deepest = 0;
  }
  return rows;
}

export function yearsSection(run: CompletedRun): Html {
  const rows = yearRows(run);
  if (rows.length === 0) return NOTHING;
  const benchmark = asHeading(benchmarkName(run.report.input.config, run.report.portfolio?.isNamed === true));
  const cells = rows.toReversed().map(
    ({ year, returned, drawdown, benchmark: held, fills }) =>
      html`<tr>
        <th scope="row">${year}</th>
        ${signedCell(percent(returned))}${signedCell(percent(held))}${signedCell(percent(returned - held))}
        ${signedCell(percent(drawdown))}
        <td>${count(fills)}</td>
      </tr>`,
  );
  const headings = [
    { text: 'Year', isText: true },
    { text: 'Return', unit: '%' },
    { text: benchmark, unit: '%' },
    { text: 'Excess', unit: 'points' },
    { text: 'Drawdown', unit: '%' },
    { text: 'Closing fills' },
  ];
  const better = rows.filter(({ returned, benchmark: held }) => returned > held).length;
  const note =
    `Better than ${benchmarkName(run.report.input.config, run.report.portfolio?.isNamed === true)} in ` +
    `${better} of ${rows.length} years. The drawdown of a year is the deepest on any of its bars.`;
  return section({ id: 'years', title: 'Years', note }, table(headings, cells));
}

/** More points are narrower than a pixel of a phone. */
const MOST_POINTS = 240;
const HEIGHT = 170;

/** The windows that end on each day from the first whole one on. */
interface RollingWindow {
  readonly name: string;
  readonly days: number;
  readonly returned: Float64Array;
  readonly volatility: Float64Array;
  /** NaN where the returns do not vary. */
  readonly sharpe: Float64Array;
}

/** Every window by itself: slow, and nothing to get wrong. */
export function rollingWindow(
  name: string,
  days: number,
  returns: Float64Array,
  { periods, riskFree }: { readonly periods: number; readonly riskFree: number },
): RollingWindow {
  const windows = Math.max(0, returns.length - days + 1);
  const made = { returned: columnOf(windows), volatility: columnOf(windows), sharpe: columnOf(windows) };
  for (let at = 0; at < windows; at++) {
    const part = returns.subarray(at, at + days);
    const average = mean(part)!;
    const deviation = standardDeviation(part, 1, average)!;
    made.returned[at] = part.reduce((product, value) => product * (1 + value), 1) - 1;
    made.volatility[at] = deviation * Math.sqrt(periods);
    made.sharpe[at] =
      deviation > ROUNDING ? ((average - riskFree / periods) / deviation) * Math.sqrt(periods) : Number.NaN;
  }
  return { name, days, ...made };
}

const columnOf = (length: number): Float64Array => new Float64Array(length);

export function rollingSection({ report }: CompletedRun): Html {
  const { input } = report;
  const daily = dailyOf(report);
  const returns = daily.returns.slice();
  const ends = daily.day.slice();
  const periods = periodsPerYear(input.instrument);
  const terms = { periods, riskFree: input.config.riskFreeRatePerYear ?? 0 };
  const windows = [
    rollingWindow('6 months', Math.round(periods / 2), returns, terms),
    rollingWindow('12 months', periods, returns, terms),
  ].filter(({ returned }) => returned.length > 1);
  if (windows.length === 0) return NOTHING;
  const [shortest] = windows;
  const points = previewIndexes(shortest.returned.length, MOST_POINTS);
  const times = [0, points.length >> 1, points.length - 1].map((at) => day(ends[points[at] + shortest.days - 1]));
  const plot = (key: 'sharpe' | 'volatility', text: (value: number) => string): Html => {
    const series = windows.map((window) => ({
      name: window.name,
      // A window that ends on the same day as the shortest one; none before its first whole one.
      values: points.map((point) => window[key][point - (window.days - shortest.days)] ?? Number.NaN),
    }));
    const values = series.flatMap((each) => each.values.filter((value) => value === value));
    const axis = axisOf(
      values.reduce((low, value) => Math.min(low, value), 0),
      values.reduce((high, value) => Math.max(high, value), 0),
    );
    const notes = windows.map((window) => ({ name: window.name, note: text(window[key].at(-1)!) }));
    const label = `${NAMES[key]} over rolling windows; ${notes.map(({ name, note }) => `${name}: ${note}`).join(', ')}`;
    const of = { label, height: HEIGHT, times: [times[0], times[1], times[2]] as const, text, ...axis };
    return html`<h3>${NAMES[key]}</h3>
      ${lines(series, of)}${plotLegend(notes)}`;
  };
  const note =
    `From daily returns, over ${windows.map(({ name, days }) => `${count(days)} days (${name})`).join(' and ')}, ` +
    'each named by its last day; the legends give the latest.';
  return section(
    { id: 'rolling', title: 'Rolling windows', note },
    html`${plot('sharpe', (value) => fixed(value, 1))}${plot('volatility', (value) => `${percent(value, 0)} %`)}
    ${rollingTable(windows)}`,
  );
}

const NAMES = { returned: 'Return', sharpe: 'Sharpe ratio', volatility: 'Volatility per year' } as const;

function rollingTable(windows: readonly RollingWindow[]): Html {
  const rows = windows.flatMap((window) =>
    (['returned', 'sharpe', 'volatility'] as const).map((key) => {
      const values = window[key].filter((value) => value === value);
      const write = (value: number | null): string => (key === 'sharpe' ? fixed(value, 2) : percent(value));
      const at = (share: number): string => write(values.length === 0 ? null : percentileOf(values, share));
      return html`<tr>
        <th scope="row">${NAMES[key]} <small>${key === 'sharpe' ? '' : '%, '}${window.name}</small></th>
        <td>${write(window[key].at(-1)!)}</td>
        <td>${at(0)}</td>
        <td>${at(50)}</td>
        <td>${at(100)}</td>
      </tr>`;
    }),
  );
  const headings = ['Latest', 'Lowest', 'Median', 'Highest'].map((text) => ({ text }));
  return table([{ text: 'Window', isText: true }, ...headings], rows);
}
