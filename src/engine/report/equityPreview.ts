// The equity preview: at most 500 points of the equity curve, and which points of any long series a short one shows.
import { newNumbers } from '../kernels/sharedBuffer.ts';
import { KeptByRange } from '../bars/keptByRange.ts';
import type { ReportedSimulation } from './reportInput.ts';

const PREVIEW_POINTS = 500;

/** What the previews of one range share. */
interface Points {
  readonly rows: Int32Array;
  /** The time of each point. */
  readonly times: Float64Array;
}

const kept = new KeptByRange<Float64Array, Points>();

function pointsOf({ start, end, bars: { time } }: ReportedSimulation['input']): Points {
  return kept.get(time, start, end, () => {
    const rows = Int32Array.from(previewIndexes(Math.max(0, end - start), PREVIEW_POINTS));
    for (let point = 0; point < rows.length; point++) rows[point] += start;
    const times = new Float64Array(rows.length);
    for (let point = 0; point < times.length; point++) times[point] = time[rows[point]];
    return { rows, times };
  });
}

/** The rows of the points. */
export const previewRows = (input: ReportedSimulation['input']): Int32Array => pointsOf(input).rows;

/** The marks at these rows. A loop, since `map` would allocate every number. */
function marksAt(rows: Int32Array, { simulation: { equity }, input: { start } }: ReportedSimulation): Float64Array {
  const marks = newNumbers(rows.length);
  for (let point = 0; point < marks.length; point++) marks[point] = equity[rows[point] - start];
  return marks;
}

interface EquityPreview {
  readonly times: Float64Array;
  readonly marks: Float64Array;
  /** [time, equity] of each point, which is the last mark of its part of the range. */
  points(): [number, number][];
}

/** A copy, which stays valid when the memory of the run is used again. */
export function equityPreview(reported: ReportedSimulation): EquityPreview {
  const { rows, times } = pointsOf(reported.input);
  const marks = reported.simulation.streamed?.preview ?? marksAt(rows, reported);
  return {
    times,
    marks,
    points: () => Array.from(marks, (mark, point) => [times[point], mark]),
  };
}

/** At most `most` evenly spaced indexes of `length` points: the last one of each interval. */
export function previewIndexes(length: number, most: number): number[] {
  const count = Math.min(most, length);
  const indexes: number[] = [];
  // A loop, because `Array.from` with a function takes ten times as long.
  for (let point = 0; point < count; point++) indexes.push(Math.floor(((point + 1) * length) / count) - 1);
  return indexes;
}
