// The equity preview: at most 500 points of the equity curve, and their JSON, written without making the points.
import { numbersBetween, NumberTexts } from '../kernels/simd/decimals.ts';
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
  readonly texts: NumberTexts;
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
    const texts = new NumberTexts(
      Array.from(times, (time, point) => `${point === 0 ? '[' : '],'}[${JSON.stringify(time)},`),
    );
    pointsOf.set(bars.time, (known = { start, rows, indexes, times, texts }));
  }
  return known;
}

export interface EquityPreview {
  readonly times: Float64Array;
  readonly marks: Float64Array;
  /** [time, equity] of the last mark of each of as many equal stretches. */
  points(): [number, number][];
  /** The points as JSON.stringify writes them, in pieces. */
  readonly json: readonly (string | Uint8Array)[];
}

/** Holds when the memory of the run is used again. */
export function equityPreview(report: Marks): EquityPreview {
  const { equity } = report.simulation;
  const { indexes, times, texts } = points(report);
  // By a loop, since `map` would allocate every number, and a list is copied while it grows.
  const marks = new Float64Array(indexes.length);
  for (let point = 0; point < marks.length; point++) marks[point] = equity[indexes[point]];
  return {
    times,
    marks,
    points: () => Array.from(marks, (mark, point) => [times[point], mark]),
    json: marks.length === 0 ? ['[]'] : [numbersBetween(texts, marks), ']]'],
  };
}
