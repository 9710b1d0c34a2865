// Returns over time and per position: months and years, the deepest drawdowns, and the distribution of results.
import { exitReasonOf, type ExitReason } from '../../definitions/exitReasons/exitReasons.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { drawdowns } from '../drawdown.ts';
import { html, NOTHING, section, signedCell, table, trusted, type Html } from '../kit/html.ts';
import { count, day, fixed, percent, type Precision } from '../kit/numberText.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** A month of this return has the strongest color. */
const STRONG_MONTH = 0.1;
const LISTED_DRAWDOWNS = 5;

export function monthsSection(run: CompletedRun): Html {
  const years = new Map<string, (number | null)[]>();
  for (const { month, returnPct } of run.summary.byMonth) {
    const year = month.slice(0, 4);
    const months = years.get(year) ?? new Array<number | null>(12).fill(null);
    months[Number(month.slice(5)) - 1] = returnPct;
    years.set(year, months);
  }
  if (years.size === 0) return NOTHING;
  const rows = [...years].toReversed().map(([year, months]) => {
    const whole = months.reduce<number>((product, value) => product * (1 + (value ?? 0)), 1) - 1;
    return html`<tr>
      <th scope="row">${year}</th>
      ${months.map(heatCell)}${totalCell(whole)}
    </tr>`;
  });
  const headings = [
    { text: 'Year', isText: true },
    ...MONTHS.map((text) => ({ text })),
    { text: 'Year', isTotal: true },
  ];
  const note =
    'Return in percent of each month and year, by UTC days; a year in which the run starts or ends is partial.';
  return section({ id: 'months', title: 'Months', note }, table(headings, rows, trusted(' class="heat"')));
}

function heatCell(value: number | null): Html {
  if (value === null) return html`<td></td>`;
  const text = percent(value, 1);
  if (!/[1-9]/.test(text)) return html`<td>${text}</td>`;
  const strength = Math.min(1, Math.abs(value) / STRONG_MONTH);
  return html`<td class="${value > 0 ? 'gain' : 'loss'}" style="--h:${(100 * strength).toFixed(0)}%">${text}</td>`;
}

function totalCell(value: number | null): Html {
  const text = percent(value, 1);
  return html`<td class="total${/[1-9]/.test(text) ? (value! > 0 ? ' up' : ' down') : ''}">${text}</td>`;
}

/**
 * From the bar of a peak (-1: the initial balance) to the bar on which equity reaches it again; null: it never does.
 */
interface DrawdownSpan {
  readonly peak: number;
  bottom: number;
  end: number | null;
}

export function drawdownsSection({ report }: CompletedRun): Html {
  const { simulation, input } = report;
  const depth = drawdowns(simulation.equity, input.config.initialBalance);
  const deepest = drawdownSpans(depth)
    .sort((a, b) => depth[b.bottom] - depth[a.bottom])
    .slice(0, LISTED_DRAWDOWNS);
  if (deepest.length === 0) return NOTHING;
  const dayOf = (index: number): string => day(input.bars.time[input.start + Math.max(0, index)]);
  const rows = deepest.map(
    ({ peak, bottom, end }) =>
      html`<tr>
        <td class="down">${percent(-depth[bottom])}</td>
        <td>${dayOf(peak)}</td>
        <td>${dayOf(bottom)}</td>
        <td>${end === null ? 'not recovered' : dayOf(end)}</td>
        <td>${count((end ?? depth.length) - 1 - peak)}</td>
      </tr>`,
  );
  const headings = [
    { text: 'Depth', unit: '%' },
    { text: 'Peak' },
    { text: 'Bottom' },
    { text: 'Recovered' },
    { text: 'Bars' },
  ];
  return section({ id: 'drawdowns', title: 'Deepest drawdowns' }, table(headings, rows));
}

/** The drawdowns in the order of their peaks. @param depth the drawdown at each bar, as a fraction of the peak */
function drawdownSpans(depth: Float64Array): DrawdownSpan[] {
  const spans: DrawdownSpan[] = [];
  let open: DrawdownSpan | null = null;
  for (let index = 0; index < depth.length; index++) {
    if (depth[index] > 0) {
      if (open === null) spans.push((open = { peak: index - 1, bottom: index, end: null }));
      else if (depth[index] > depth[open.bottom]) open.bottom = index;
    } else if (open !== null) {
      open.end = index;
      open = null;
    }
  }
  return spans;
}

const BINS = 31;
const CHART = { width: 620, height: 190, left: 4, bottom: 22 };

/** The returns of closing fills as a histogram, and the results by exit reason and by side. */
export function spreadSection({ trades, summary }: CompletedRun, quote: string, precision: Precision): Html {
  if (trades.length === 0) return NOTHING;
  const reasons = Object.entries(summary.byExitReason).sort((a, b) => b[1].trades - a[1].trades);
  const rows = reasons.map(
    ([reason, { trades, pnl, winRate }]) =>
      html`<tr>
        <td class="text">${exitReasonOf(reason as ExitReason).shown}</td>
        <td>${count(trades)}</td>
        <td>${percent(winRate, 1)}</td>
        ${signedCell(fixed(pnl, precision.money))}
      </tr>`,
  );
  const sides = (['long', 'short'] as const).filter((side) => summary.bySide[side].positions > 0);
  const sideRows = sides.map((side) => {
    const { positions, pnl, winRate } = summary.bySide[side];
    return html`<tr>
      <td class="text">${side === 'long' ? 'Long' : 'Short'}</td>
      <td>${count(positions)}</td>
      <td>${percent(winRate, 1)}</td>
      ${signedCell(fixed(pnl, precision.money))}
    </tr>`;
  });
  const headings = (what: string, counted: string) => [
    { text: what, isText: true },
    { text: counted },
    { text: 'Won', unit: '%' },
    { text: 'Profit', unit: quote },
  ];
  const note = 'Return of each closing fill after costs, in percent.';
  const body = html`${histogram(trades.map(({ returnPct }) => returnPct))}
  ${table(headings('Exit', 'Fills'), rows)}${table(headings('Side', 'Positions'), sideRows)}`;
  return section({ id: 'spread', title: 'Distribution of results', note }, body);
}

/**
 * A histogram, as SVG. One bin always begins at zero, so that none mixes gains and losses. The outermost bins hold
 * everything beyond them.
 */
function histogram(returns: readonly number[]): Html {
  const sorted = returns.toSorted((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.round(share * (sorted.length - 1))];
  const span = Math.max(quantile(0.98) - quantile(0.02), Math.abs(quantile(0.5)), 1e-6);
  const step = span / (BINS - 5);
  const first = Math.floor(Math.min(0, quantile(0.02)) / step);
  const bins = new Array<number>(BINS).fill(0);
  for (const value of returns) {
    const bin = Math.floor(value / step) - first;
    bins[Math.min(BINS - 1, Math.max(0, bin))]++;
  }
  const { width, height, left, bottom } = CHART;
  const edge = (bin: number): string => percent((first + bin) * step, step < 0.005 ? 2 : 1);
  /** The outermost bins hold everything beyond them, and say so. */
  const spanOf = (bin: number): string =>
    bin === 0 ? `≤ ${edge(1)} %` : bin === BINS - 1 ? `≥ ${edge(bin)} %` : `${edge(bin)} to ${edge(bin + 1)} %`;
  const tallest = bins.reduce((most, size) => Math.max(most, size), 0);
  const barWidth = (width - 2 * left) / BINS;
  const x = (bin: number): string => (left + bin * barWidth).toFixed(1);
  const bars = bins.flatMap((size, bin) => {
    if (size === 0) return [];
    const tall = Math.max(2, ((height - bottom - 16) * size) / tallest);
    const label = `${spanOf(bin)}: ${count(size)}`;
    return [
      html`<rect
        class="${first + bin >= 0 ? 'gain' : 'loss'}"
        x="${x(bin)}"
        y="${(height - bottom - tall).toFixed(1)}"
        width="${(barWidth - 2).toFixed(1)}"
        height="${tall.toFixed(1)}"
        rx="1.5"
        ><title>${label}</title></rect
      >`,
    ];
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * BINS));
  const labelOf = (bin: number): string => (bin === 0 ? spanOf(0) : bin === BINS ? spanOf(BINS - 1) : `${edge(bin)} %`);
  const labels = [...new Set([...ticks, -first])]
    .filter((bin) => bin >= 0 && bin <= BINS && isClear(bin, -first))
    .map((bin) => {
      const anchor = bin === 0 ? 'start' : bin === BINS ? 'end' : 'middle';
      return html`<text x="${x(bin)}" y="${height - 6}" text-anchor="${anchor}">${labelOf(bin)}</text>`;
    });
  return html`<svg class="histogram" viewBox="0 0 ${width} ${height}" role="img" aria-label="Histogram of returns">
    <line x1="0" x2="${width}" y1="${height - bottom}" y2="${height - bottom}" />
    ${bars}
    <line class="zero" x1="${x(-first)}" x2="${x(-first)}" y1="8" y2="${height - bottom}" />
    ${labels}
  </svg>`;
}

/** Labels near the one at zero would overlap it. */
const isClear = (bin: number, zero: number): boolean => bin === zero || Math.abs(bin - zero) > 4;
