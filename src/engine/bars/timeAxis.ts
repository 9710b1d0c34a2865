// The time axis of a universe: the instants at which any of its instruments has a base bar.
import type { Bars } from './bars.ts';

export interface TimeAxis {
  /** The instants, ascending: bar open times, ms UTC. */
  readonly time: Float64Array;
  /** Per instrument, in the order of the list: the instant (an index into `time`) of each of its rows. */
  readonly instants: readonly Int32Array[];
}

const axes = new WeakMap<Bars, { readonly of: readonly Bars[]; readonly axis: TimeAxis }>();

/** The axis of these bars, of one timeframe; kept for the universe that was asked for last with the same first bars. */
export function timeAxisOf(universe: readonly Bars[]): TimeAxis {
  const known = axes.get(universe[0]);
  if (known && isSame(known.of, universe)) return known.axis;
  const time = mergedTimes(universe);
  const axis: TimeAxis = { time, instants: universe.map((bars) => instantsOf(bars, time)) };
  axes.set(universe[0], { of: [...universe], axis });
  return axis;
}

const isSame = (a: readonly Bars[], b: readonly Bars[]): boolean =>
  a.length === b.length && a.every((bars, at) => bars === b[at]);

function mergedTimes(universe: readonly Bars[]): Float64Array {
  let merged = universe[0].time;
  for (const { time } of universe.slice(1)) if (!isSubset(time, merged)) merged = unionOf(merged, time);
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

function instantsOf({ time }: Bars, axis: Float64Array): Int32Array {
  const instants = new Int32Array(time.length);
  let at = 0;
  for (let row = 0; row < time.length; row++) {
    while (axis[at] < time[row]) at++;
    instants[row] = at;
  }
  return instants;
}
