// The time axis of a universe: the instants at which any of its instruments has a base bar.
import type { Bars } from './bars.ts';

export interface TimeAxis {
  /** The instants, ascending: bar open times, ms UTC. */
  readonly time: Float64Array;
  /** Per instrument, in the order of the list: the instant (an index into `time`) of each of its rows. */
  readonly instants: readonly Int32Array[];
}

interface Kept {
  readonly of: readonly Bars[];
  readonly axis: TimeAxis;
}
/** A universe of five-day and all-day instruments has two axes: its own, and that of the days that schedules follow. */
const MOST_AXES = 2;
const axes = new WeakMap<Bars, Kept[]>();

/** The axis of these bars, of one timeframe; kept for the last universes with the same first bars. */
export function timeAxisOf(universe: readonly Bars[]): TimeAxis {
  const kept = axes.get(universe[0]) ?? [];
  const known = kept.find(({ of }) => isSame(of, universe));
  if (known !== undefined) return known.axis;
  const axis = makeAxis(universe);
  axes.set(universe[0], [{ of: [...universe], axis }, ...kept].slice(0, MOST_AXES));
  return axis;
}

const isSame = (a: readonly Bars[], b: readonly Bars[]): boolean =>
  a.length === b.length && a.every((bars, at) => bars === b[at]);

/** Instruments with the same times, as most of one market have, share their instants. */
function makeAxis(universe: readonly Bars[]): TimeAxis {
  const times = sharedTimes(universe);
  const distinct = [...new Set(times)];
  const time = mergedTimes(distinct);
  const instants = new Map(distinct.map((each) => [each, instantsOf(each, time)]));
  return { time, instants: times.map((each) => instants.get(each)!) };
}

/** The times of each instrument, the same array where another instrument has equal ones. */
function sharedTimes(universe: readonly Bars[]): Float64Array[] {
  const known = new Map<string, Float64Array>();
  return universe.map(({ time }) => {
    const key = `${time.length} ${time[0]} ${time.at(-1)}`;
    const other = known.get(key);
    if (other === undefined) known.set(key, time);
    return other !== undefined && isEqual(other, time) ? other : time;
  });
}

/** Byte by byte, which is five times as fast as number by number; no time is -0 or NaN. */
const isEqual = (a: Float64Array, b: Float64Array): boolean => bytesOf(a).equals(bytesOf(b));

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function mergedTimes(times: readonly Float64Array[]): Float64Array {
  let [merged] = times;
  for (const time of times.slice(1)) if (!isSubset(time, merged)) merged = unionOf(merged, time);
  return merged;
}

function isSubset(part: Float64Array, whole: Float64Array): boolean {
  let at = 0;
  for (const time of part) {
    while (at < whole.length && whole[at] < time) at++;
    if (at === whole.length || whole[at] !== time) return false;
  }
  return true;
}

function unionOf(a: Float64Array, b: Float64Array): Float64Array {
  const union = new Float64Array(a.length + b.length);
  let length = 0;
  for (let left = 0, right = 0; left < a.length || right < b.length;) {
    const next = Math.min(left < a.length ? a[left] : Infinity, right < b.length ? b[right] : Infinity);
    if (a[left] === next) left++;
    if (b[right] === next) right++;
    union[length++] = next;
  }
  return union.slice(0, length);
}

function instantsOf(time: Float64Array, axis: Float64Array): Int32Array {
  const instants = new Int32Array(time.length);
  let at = 0;
  for (let row = 0; row < time.length; row++) {
    while (axis[at] < time[row]) at++;
    instants[row] = at;
  }
  return instants;
}
