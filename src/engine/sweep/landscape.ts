// The landscape of a sweep: what each parameter does to the objective, alone and in pairs, and whether the best row has
// good neighbors.
import { percentile, ROUNDING } from '../report/moments.ts';
import { fractionOf, isNumeric, levelCount, valueAt, type Dimension, type LevelValue, type Space } from './space.ts';

/** A continuous dimension, or one with more levels than this, is shown in this many bins. */
const MAX_BINS = 40;

/** Part of a dimension: its levels (or bins) and which of them each row is in. */
interface Binned {
  readonly labels: readonly LevelValue[];
  readonly isBinned: boolean;
  readonly binOf: (coordinate: number) => number;
}

export interface Marginal {
  readonly name: string;
  /** Whether a point stands for all values from its own up to that of the next. */
  readonly isBinned: boolean;
  readonly points: readonly {
    /** The level, or the lower end of the bin. */
    readonly value: LevelValue;
    readonly variants: number;
    /** Mean of the objective over the rows in which it is defined. */
    readonly mean: number | null;
    readonly median: number | null;
    readonly best: number | null;
  }[];
  /** The share of the objective's variance that lies between the points. */
  readonly influence: number | null;
}

interface Axis {
  readonly name: string;
  /** The levels, or the lower ends of the bins. */
  readonly values: readonly LevelValue[];
  readonly isBinned: boolean;
}

export interface Heatmap {
  readonly x: Axis;
  readonly y: Axis;
  /** Row by row of y: the mean and the best of the objective, and the number of variants per cell. */
  readonly mean: readonly (readonly (number | null)[])[];
  readonly best: readonly (readonly (number | null)[])[];
  readonly variants: readonly (readonly number[])[];
}

/**
 * The objective over one dimension of the space, over all rows that share its level or bin.
 * @param at the index of the dimension
 * @param coordinates of each row in that dimension
 * @param values the objective of each row; NaN where it is undefined
 * @param sign 1 if higher values are better, -1 if lower ones are
 */
export function marginalOf(
  space: Space,
  at: number,
  coordinates: Float64Array,
  values: Float64Array,
  sign: 1 | -1,
): Marginal {
  const dimension = space.dimensions[at];
  const { labels, isBinned, binOf } = binsOf(dimension, coordinates);
  const groups = labels.map((): number[] => []);
  const counts = labels.map(() => 0);
  for (let row = 0; row < values.length; row++) {
    const bin = binOf(coordinates[row]);
    counts[bin]++;
    if (values[row] === values[row]) groups[bin].push(values[row]);
  }
  const points = labels.map((value, bin) => {
    const ascending = Float64Array.from(groups[bin]).sort();
    return {
      value,
      variants: counts[bin],
      mean: averageOf(ascending),
      median: percentile(ascending, 50),
      best: (sign > 0 ? ascending.at(-1) : ascending[0]) ?? null,
    };
  });
  return { name: dimension.name, isBinned, points, influence: influenceOf(groups) };
}

const averageOf = (values: ArrayLike<number>): number | null => {
  if (values.length === 0) return null;
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index];
  return sum / values.length;
};

/** Variance between the groups over total variance (the correlation ratio); null where all values are equal. */
function influenceOf(groups: readonly (readonly number[])[]): number | null {
  const count = groups.reduce((sum, group) => sum + group.length, 0);
  if (count < 2) return null;
  const mean = groups.reduce((sum, group) => sum + (averageOf(group) ?? 0) * group.length, 0) / count;
  let between = 0;
  let total = 0;
  for (const group of groups) {
    between += group.length * ((averageOf(group) ?? mean) - mean) ** 2;
    for (const value of group) total += (value - mean) ** 2;
  }
  return Math.sqrt(total / count) > ROUNDING * Math.max(1, Math.abs(mean)) ? between / total : null;
}

/**
 * The objective over two dimensions of the space, averaged over all others.
 * @param coordinates per dimension, the coordinate of each row
 * @param values the objective of each row; NaN where it is undefined
 * @param sign 1 if higher values are better, -1 if lower ones are
 */
export function heatmapOf(
  space: Space,
  [xAt, yAt]: readonly [number, number],
  coordinates: readonly Float64Array[],
  values: Float64Array,
  sign: 1 | -1,
): Heatmap {
  const x = binsOf(space.dimensions[xAt], coordinates[xAt]);
  const y = binsOf(space.dimensions[yAt], coordinates[yAt]);
  const width = x.labels.length;
  const cells = width * y.labels.length;
  const sums = new Float64Array(cells);
  const defined = new Int32Array(cells);
  const counts = new Int32Array(cells);
  const best = new Float64Array(cells).fill(NaN);
  for (let row = 0; row < values.length; row++) {
    const cell = y.binOf(coordinates[yAt][row]) * width + x.binOf(coordinates[xAt][row]);
    counts[cell]++;
    const value = values[row];
    if (value !== value) continue;
    sums[cell] += value;
    defined[cell]++;
    if (!(sign * best[cell] >= sign * value)) best[cell] = value;
  }
  const grid = <T>(read: (cell: number) => T): T[][] =>
    y.labels.map((_, line) => x.labels.map((__, column) => read(line * width + column)));
  return {
    x: { name: space.dimensions[xAt].name, values: x.labels, isBinned: x.isBinned },
    y: { name: space.dimensions[yAt].name, values: y.labels, isBinned: y.isBinned },
    mean: grid((cell) => (defined[cell] === 0 ? null : sums[cell] / defined[cell])),
    best: grid((cell) => (defined[cell] === 0 ? null : best[cell])),
    variants: grid((cell) => counts[cell]),
  };
}

/** The levels that rows take, or equal bins if there are too many. */
function binsOf(dimension: Dimension, coordinates: Float64Array): Binned {
  const levels = levelCount(dimension);
  if (levels <= MAX_BINS)
    return {
      labels: Array.from({ length: levels }, (_, at) => valueAt(dimension, at)),
      isBinned: false,
      binOf: (coordinate) => coordinate,
    };
  const taken = new Set<number>();
  for (const coordinate of coordinates) {
    taken.add(coordinate);
    if (taken.size > MAX_BINS) return equalBins(dimension);
  }
  const listed = [...taken].sort((a, b) => a - b);
  const places = new Map(listed.map((coordinate, bin) => [coordinate, bin]));
  return {
    labels: listed.map((coordinate) => valueAt(dimension, coordinate)),
    isBinned: false,
    binOf: (coordinate) => places.get(coordinate)!,
  };
}

function equalBins(dimension: Dimension): Binned {
  if (dimension.kind !== 'continuous') {
    const levels = levelCount(dimension);
    return {
      labels: Array.from({ length: MAX_BINS }, (_, bin) => valueAt(dimension, Math.ceil((bin * levels) / MAX_BINS))),
      isBinned: true,
      binOf: (coordinate) => Math.floor((coordinate * MAX_BINS) / levels),
    };
  }
  const { min, max, log } = dimension;
  const lowerEnd = (bin: number): number => {
    const fraction = bin / MAX_BINS;
    return Number((log ? min * (max / min) ** fraction : min + (max - min) * fraction).toPrecision(6));
  };
  return {
    labels: Array.from({ length: MAX_BINS }, (_, bin) => lowerEnd(bin)),
    isBinned: true,
    binOf: (coordinate) => Math.min(MAX_BINS - 1, Math.floor(fractionOf(dimension, coordinate) * MAX_BINS)),
  };
}

export interface Plateau {
  /**
   * How much of the row's lead over the median row its neighbors keep, from 0 to 1: 1 where each of them is at least as
   * good, 0 where they are on average no better than the median. null without neighbors or without a lead.
   */
  readonly score: number | null;
  readonly neighbors: number;
  readonly isCliff: boolean;
}

/** Below this, most of the lead is gone one step away. */
const CLIFF_BELOW = 0.5;

/**
 * Neighbors: the nearest rows in the space, two per dimension, with the same value of every unordered dimension.
 * @param scores higher is better, also where a low objective is; NaN: the row cannot win, and is no neighbor
 * @param median of the scores
 */
export function plateauOf(
  space: Space,
  row: number,
  coordinates: readonly Float64Array[],
  scores: Float64Array,
  median: number,
): Plateau {
  const { dimensions } = space;
  const numeric = dimensions.map(isNumeric);
  const wanted = 2 * numeric.filter(Boolean).length;
  const nearest: { readonly distance: number; readonly score: number }[] = [];
  const last = wanted === 0 ? 0 : scores.length;
  for (let other = 0; other < last; other++) {
    if (other === row || scores[other] !== scores[other]) continue;
    let distance = 0;
    for (let at = 0; at < dimensions.length && distance < Infinity; at++) {
      const [a, b] = [coordinates[at][row], coordinates[at][other]];
      if (a === b) continue;
      if (!numeric[at]) distance = Infinity;
      else distance += stepsBetween(dimensions[at], a, b);
    }
    const worst = nearest.length < wanted ? Infinity : nearest[nearest.length - 1].distance;
    if (distance >= worst || distance === Infinity) continue;
    const place = nearest.findIndex((each) => each.distance > distance);
    nearest.splice(place === -1 ? nearest.length : place, 0, { distance, score: scores[other] });
    if (nearest.length > wanted) nearest.pop();
  }
  const score = keptLead(
    scores[row],
    nearest.map((each) => each.score),
    median,
  );
  return { score, neighbors: nearest.length, isCliff: score !== null && nearest.length >= 2 && score < CLIFF_BELOW };
}

/** The mean share of a lead that neighbors keep, none of them more than all of it; null where the lead is rounding. */
function keptLead(own: number, neighbors: readonly number[], median: number): number | null {
  const lead = own - median;
  const isRounding = lead <= ROUNDING * Math.max(Math.abs(own), Math.abs(median));
  if (!(lead > 0) || isRounding || !Number.isFinite(lead)) return null;
  const average = averageOf(neighbors.map((score) => Math.min(1, (score - median) / lead)));
  return average === null ? null : Math.max(0, average);
}

/** One step of a continuous dimension is a twentieth of its range. */
const stepsBetween = (dimension: Dimension, a: number, b: number): number =>
  dimension.kind === 'continuous'
    ? 20 * Math.abs(fractionOf(dimension, a) - fractionOf(dimension, b))
    : Math.abs(a - b);
