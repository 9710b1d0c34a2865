// Plots as SVG, which need no script: stacked areas, lines and bars over time, in the colors of the page.
import { html, trusted, type Html } from './html.ts';

const WIDTH = 620;
const LEFT = 4;
const RIGHT = 58;
const BOTTOM = 22;
const TOP = 8;
/** Colors of series; the stylesheet has as many. */
export const PLOT_COLORS = 9;

export interface Plot {
  /** What a screen reader says. */
  readonly label: string;
  readonly height: number;
  /** Texts under the left end, the middle and the right end. */
  readonly times: readonly [string, string, string];
  /** The range of the vertical axis, and how its numbers are written. */
  readonly low: number;
  readonly high: number;
  /** Where the axis has labels; absent: at its ends and at 0. */
  readonly ticks?: readonly number[];
  readonly text: (value: number) => string;
}

/** The range of an axis in round steps around these numbers, and a label at each step. */
export function axisOf(low: number, high: number, steps = 4): { low: number; high: number; ticks: number[] } {
  if (!(high > low)) return low === high ? axisOf(low - 0.5, high + 0.5, steps) : { low: 0, high: 1, ticks: [0, 1] };
  const size = 10 ** Math.floor(Math.log10((high - low) / steps));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => (high - low) / each <= steps)!;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  return { low: ticks[0], high: ticks[ticks.length - 1], ticks };
}

/** One value per point of time. */
export interface PlotSeries {
  readonly name: string;
  readonly values: readonly number[];
}

const xOf = (point: number, points: number): number =>
  LEFT + ((WIDTH - LEFT - RIGHT) * point) / Math.max(1, points - 1);

const yOf = (value: number, { low, high, height }: Plot): number => {
  const share = high > low ? (value - low) / (high - low) : 0;
  return height - BOTTOM - share * (height - BOTTOM - TOP);
};

const place = (x: number, y: number): string => `${x.toFixed(1)},${y.toFixed(1)}`;

/** Areas on top of one another: values above 0 rise from 0, values below 0 hang from it. */
export function stackedAreas(series: readonly PlotSeries[], plot: Plot): Html {
  const points = series[0]?.values.length ?? 0;
  const above = new Array<number>(points).fill(0);
  const below = new Array<number>(points).fill(0);
  const areas = series.flatMap(({ name, values }, index) =>
    ([above, below] as const).flatMap((base, side) => {
      const parts = values.map((value) => (side === 0 ? Math.max(0, value) : Math.min(0, value)));
      if (parts.every((part) => part === 0)) return [];
      const from = base.slice();
      parts.forEach((part, point) => (base[point] += part));
      const upper = base.map((value, point) => place(xOf(point, points), yOf(value, plot)));
      const lower = from.map((value, point) => place(xOf(point, points), yOf(value, plot))).toReversed();
      return [
        html`<polygon class="area c${index % PLOT_COLORS}" points="${[...upper, ...lower].join(' ')}">
          <title>${name}</title>
        </polygon>`,
      ];
    }),
  );
  return plotOf(plot, areas);
}

export const lines = (series: readonly PlotSeries[], plot: Plot): Html =>
  plotOf(
    plot,
    series.map(({ name, values }, index) => {
      // A missing value, NaN, is a gap in the line.
      const path = values
        .map((value, point) => {
          if (value !== value) return '';
          const isFirst = point === 0 || values[point - 1] !== values[point - 1];
          return (isFirst ? 'M' : 'L') + place(xOf(point, values.length), yOf(value, plot));
        })
        .join('');
      return html`<path class="line c${index % PLOT_COLORS}" d="${path}"><title>${name}</title></path>`;
    }),
  );

/** Bars from 0, each with a name and its value as a tooltip. */
export function bars(values: readonly { readonly name: string; readonly value: number }[], plot: Plot): Html {
  const width = (WIDTH - LEFT - RIGHT) / Math.max(1, values.length);
  return plotOf(
    plot,
    values.map(({ name, value }, index) => {
      const [top, foot] = [yOf(Math.max(0, value), plot), yOf(Math.min(0, value), plot)];
      return html`<rect
        class="bar"
        x="${(LEFT + index * width).toFixed(1)}"
        y="${top.toFixed(1)}"
        width="${Math.max(1, width - 2).toFixed(1)}"
        height="${Math.max(0, foot - top).toFixed(1)}"
        ><title>${name}: ${plot.text(value)}</title></rect
      >`;
    }),
  );
}

/** The frame: lines at the ends of the axis and at 0, with their values at the right, and the times below. */
function plotOf(plot: Plot, marks: readonly Html[]): Html {
  const { label, height, times, low, high, text } = plot;
  const ticks = plot.ticks ?? [...new Set([low, ...(low < 0 && high > 0 ? [0] : []), high])];
  const grid = ticks.map((value) => {
    const y = yOf(value, plot).toFixed(1);
    return html`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" />
      <text x="${WIDTH - RIGHT + 6}" y="${(Number(y) + 4).toFixed(1)}">${text(value)}</text>`;
  });
  const anchors = ['start', 'middle', 'end'];
  const places = [LEFT, (LEFT + WIDTH - RIGHT) / 2, WIDTH - RIGHT];
  const axis = times.map(
    (time, index) => html`<text x="${places[index]}" y="${height - 6}" text-anchor="${anchors[index]}">${time}</text>`,
  );
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
    ${grid}${marks}${axis}
  </svg>`;
}

/** The names of series beside their colors. */
export const plotLegend = (entries: readonly { readonly name: string; readonly note: string }[]): Html =>
  html`<ul class="key">
    ${entries.map(
      ({ name, note }, index) =>
        html`<li>
          <i class="c${index % PLOT_COLORS}"></i>${name} ${note === '' ? trusted('') : html`<b>${note}</b>`}
        </li>`,
    )}
  </ul>`;
