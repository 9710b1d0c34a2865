// The equity preview: at most 500 points of the equity curve, and their JSON, written without making the points.
import { previewIndexes } from './preview.ts';
import type { ReportInput } from './reportInput.ts';

const PREVIEW_POINTS = 500;

type Marks = Pick<ReportInput, 'simulation' | 'input'>;

/** What the previews of one range share: the rows of the points, and the beginning of the JSON of each. */
interface Points {
  readonly start: number;
  readonly rows: number;
  readonly indexes: readonly number[];
  /** The time of each point. */
  readonly times: Float64Array;
  /** The JSON between the mark before and its own. */
  readonly texts: readonly string[];
}

/** Of the last range, because the runs of a batch share it; keyed by the time column, which is never written to. */
const pointsOf = new WeakMap<Float64Array, Points>();

function points({ simulation, input }: Marks): Points {
  const { start, bars } = input;
  const rows = simulation.equity.length;
  let known = pointsOf.get(bars.time);
  if (known === undefined || known.start !== start || known.rows !== rows) {
    const indexes = previewIndexes(rows, PREVIEW_POINTS);
    const times = Float64Array.from(indexes, (index) => bars.time[start + index]);
    const texts = Array.from(times, (time, point) => `${point === 0 ? '[' : '],'}[${JSON.stringify(time)},`);
    pointsOf.set(bars.time, (known = { start, rows, indexes, times, texts }));
  }
  return known;
}

export interface EquityPreview {
  readonly times: Float64Array;
  readonly marks: readonly number[];
  /** [time, equity] of the last mark of each of as many equal stretches. */
  points(): [number, number][];
  /** The points as JSON.stringify writes them, in half of the time: while flat every mark is the same. */
  readonly json: string;
}

/** Holds when the memory of the run is used again. */
export function equityPreview(report: Marks): EquityPreview {
  const { equity } = report.simulation;
  const { indexes, times, texts } = points(report);
  // Pushed, since `map` would allocate every number.
  const marks: number[] = [];
  for (let point = 0; point < indexes.length; point++) marks.push(equity[indexes[point]]);
  return {
    times,
    marks,
    points: () => marks.map((mark, point) => [times[point], mark]),
    json: jsonOf(marks, texts),
  };
}

function jsonOf(marks: readonly number[], texts: readonly string[]): string {
  if (marks.length === 0) return '[]';
  const changes: number[] = [];
  for (let point = 0; point < marks.length; point++) {
    if (point === 0 || marks[point] !== marks[point - 1]) changes.push(marks[point]);
  }
  const written = JSON.stringify(changes).slice(1, -1).split(',');
  let change = 0;
  let json = '';
  for (let point = 0; point < marks.length; point++) {
    if (point > 0 && marks[point] !== marks[point - 1]) change++;
    json += texts[point] + written[change];
  }
  return `${json}]]`;
}
