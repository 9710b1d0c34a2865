// Boxes as SVG: how a number is distributed in each of several rows, with the original marked.
import { html, NOTHING, type Html } from './html.ts';
import { axisOf } from './plot.ts';

const WIDTH = 620;
const SIDES = 14;
const ROW = 44;
const TOP = 4;
const AXIS = 26;

/** One row: five percentiles, or single runs, or both. */
export interface BoxRow {
  readonly name: string;
  /** The 5th, 25th, 50th, 75th and 95th percentile, ascending. */
  readonly percentiles?: readonly [number, number, number, number, number];
  readonly runs?: readonly { readonly name: string; readonly value: number }[];
  /** What was varied; null: it is not known. */
  readonly original: number | null;
}

/** @param label what a screen reader says @param text how numbers are written */
export function boxes(rows: readonly BoxRow[], label: string, text: (value: number) => string): Html {
  const all = rows.flatMap(({ percentiles = [], runs = [], original }) => [
    ...percentiles,
    ...runs.map(({ value }) => value),
    ...(original === null ? [] : [original]),
  ]);
  if (all.length === 0) return NOTHING;
  const axis = axisOf(
    all.reduce((a, b) => Math.min(a, b)),
    all.reduce((a, b) => Math.max(a, b)),
    5,
  );
  const x = (value: number): string =>
    (SIDES + ((WIDTH - 2 * SIDES) * (value - axis.low)) / (axis.high - axis.low)).toFixed(1);
  const height = TOP + rows.length * ROW + AXIS;
  const bottom = height - AXIS;
  const grid = axis.ticks.map(
    (value, at) =>
      html`<line class="${value === 0 ? 'zero' : ''}" x1="${x(value)}" x2="${x(value)}" y1="${TOP}" y2="${bottom}" />
        <text x="${x(value)}" y="${height - 8}" text-anchor="${anchorOf(at, axis.ticks.length)}">${text(value)}</text>`,
  );
  const marks = rows.map((row, at) => rowMarks(row, TOP + at * ROW, x, text));
  return html`<svg class="plot boxes" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
    ${grid}${marks}
  </svg>`;
}

/** Labels at the ends stay inside. */
const anchorOf = (at: number, ticks: number): string => (at === 0 ? 'start' : at === ticks - 1 ? 'end' : 'middle');

function rowMarks(
  { name, percentiles, runs = [], original }: BoxRow,
  top: number,
  x: (value: number) => string,
  text: (value: number) => string,
): Html {
  const middle = top + 29;
  const span = (from: number, to: number): string => Math.max(1, Number(x(to)) - Number(x(from))).toFixed(1);
  const box =
    percentiles === undefined
      ? NOTHING
      : html`<g>
          <title>
            ${name}: 5 % are below ${text(percentiles[0])}, half below ${text(percentiles[2])}, 95 % below
            ${text(percentiles[4])}
          </title>
          <line class="whisker" x1="${x(percentiles[0])}" x2="${x(percentiles[4])}" y1="${middle}" y2="${middle}" />
          <rect
            class="box"
            x="${x(percentiles[1])}"
            y="${middle - 8}"
            width="${span(percentiles[1], percentiles[3])}"
            height="16"
            rx="2"
          />
          <line
            class="median"
            x1="${x(percentiles[2])}"
            x2="${x(percentiles[2])}"
            y1="${middle - 8}"
            y2="${middle + 8}"
          />
        </g>`;
  const dots = runs.map(
    (run) =>
      html`<circle class="run" cx="${x(run.value)}" cy="${middle}" r="4.5"
        ><title>${run.name}: ${text(run.value)}</title></circle
      >`,
  );
  const mark =
    original === null
      ? NOTHING
      : html`<path class="original" transform="translate(${x(original)} ${middle})" d="M0-8 6 0 0 8-6 0z"
          ><title>${name}: the original, ${text(original)}</title></path
        >`;
  return html`<text class="name" x="0" y="${top + 14}">${name}</text>${box}${dots}${mark}`;
}
