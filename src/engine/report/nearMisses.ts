// Near misses: the bars on which a single condition kept an entry from being true, the nearest ones first.
import { countBits, hasBit, popcount, trailingZeros } from '../kernels/bits.ts';
import type { ConditionNode } from '../plan/plan.ts';
import { constantJson, type JsonWriter, type WrittenText } from './jsonWriter.ts';
import type { ReportInput } from './reportInput.ts';
import { conjunctsOf, type ConditionBits, type Window } from './conditionBits.ts';
import { SAMPLED_ROWS } from './conditionStatistics.ts';

/** A bar on which a single condition kept an entry from being true, and how far it was from passing. */
export interface NearMiss {
  /** Whose bar it is; absent in runs of one instrument. */
  readonly symbol?: string;
  readonly rule: string;
  readonly nodeId: string;
  /** The place of the condition in the payload as sent. */
  readonly path: string;
  readonly text: string;
  readonly bar: number;
  readonly time: number;
  readonly left: number | null;
  readonly right: number | null;
  /** |left - right|; null for conditions without two sides. */
  readonly distance: number | null;
}

/** A conjunct of an entry, and the bars on which it alone was false. */
interface Condition {
  /** The id of the entry. */
  readonly rule: string;
  readonly node: ConditionNode;
  readonly words: Uint32Array;
}

export const MAX_NEAR_MISSES = 10;

type TracedRun = Pick<ReportInput, 'evaluated' | 'boundRules' | 'input' | 'firstRow'>;

/** The nearest of at most SAMPLED_ROWS bars on which one condition alone was false, nearest first. */
export function nearMissesOf(
  report: TracedRun,
  bits: readonly ConditionBits[],
  blockers: ReadonlyMap<ConditionBits, Uint32Array>,
): NearMiss[] {
  const conditions: Condition[] = [];
  for (const [index, entry] of report.boundRules.entries.entries()) {
    for (const condition of conjunctsOf(bits, 'entry', index))
      conditions.push({ rule: entry.id, node: condition.node, words: blockers.get(condition)! });
  }
  keepNearest(report, conditions);
  const misses: NearMiss[] = [];
  for (let at = 0; at < NEAREST.count; at++) {
    const place = NEAREST.places[at];
    const { rule, node } = conditions[NEAREST.conditions[place]];
    const row = NEAREST.rows[place];
    const left = NEAREST.left[place];
    const right = NEAREST.right[place];
    const distance = Math.abs(left - right);
    misses.push({
      rule,
      nodeId: node.nodeId,
      path: node.path,
      text: node.text,
      bar: row - report.firstRow,
      time: report.input.bars.time[row],
      left: left === left ? left : null,
      right: right === right ? right : null,
      distance: distance === distance ? distance : null,
    });
  }
  return misses;
}

/** The values of each side; NaN where it is missing. */
const LEFT_VALUES = new Float64Array(SAMPLED_ROWS);
const RIGHT_VALUES = new Float64Array(SAMPLED_ROWS);

/** Values nearer to 0 than this count as this large. */
const SMALLEST = 1e-12;

/** How far apart both values are, as a share of the larger; Infinity where one is missing. */
export function relativeGap(left: number, right: number): number {
  const a = Math.abs(left);
  const b = Math.abs(right);
  const larger = a > b ? a : b;
  const ratio = Math.abs(left - right) / (larger > SMALLEST ? larger : SMALLEST);
  return ratio === ratio ? ratio : Infinity;
}

/**
 * The values of one side on these rows, or on every row of the window, NaN where missing; what is not a whole column is
 * written to `out`.
 */
function sideOf(
  { evaluated, input }: TracedRun,
  slot: number | null,
  rows: Int32Array | null,
  out: Float64Array,
): Float64Array {
  const count = rows === null ? input.end - input.start : rows.length;
  if (slot === null) return out.fill(NaN, 0, count).subarray(0, count);
  const column = rows === null ? evaluated.columnAt(slot) : null;
  if (column !== null) return column.values.subarray(input.start, input.end);
  evaluated.readRows(slot, rows ?? everyRow(input), out);
  return out.subarray(0, count);
}

/** From one run to the next, the distance of the farthest near miss rarely grows by more than this factor. */
const GUESSED_FACTOR = 4;
/**
 * A guess, from the run before, of the distance of the farthest near miss. A wrong guess costs time and changes no
 * result.
 */
let guessedBound = Infinity;

/** Keeps the nearest rows. With a good guess, only a fifth of the rows need a closer look. */
function keepNearest(report: TracedRun, conditions: readonly Condition[]): void {
  keepNearestWithin(guessedBound, report, conditions);
  if (guessedBound < Infinity && NEAREST.count < MAX_NEAR_MISSES) keepNearestWithin(Infinity, report, conditions);
  guessedBound = NEAREST.count < MAX_NEAR_MISSES ? Infinity : GUESSED_FACTOR * farthestKept();
}

function keepNearestWithin(bound: number, report: TracedRun, conditions: readonly Condition[]): void {
  NEAREST.count = 0;
  NEAREST.bound = bound;
  const { input } = report;
  const isSampled = input.end - input.start > SAMPLED_ROWS;
  for (let index = 0; index < conditions.length; index++) {
    const { node, words } = conditions[index];
    const rows = isSampled ? rowsOf(words, input) : null;
    const left = sideOf(report, node.left, rows, LEFT_VALUES);
    const right = sideOf(report, node.right, rows, RIGHT_VALUES);
    const rowAt =
      rows === null
        ? (at: number): number | null => (hasBit(words, input.start + at) ? input.start + at : null)
        : (at: number): number | null => rows[at];
    keepNearestRows(left, right, rowAt, index);
  }
}

/**
 * Keeps the nearest rows of those that have these values.
 * @param rowAt the row of a value; null: the condition did not block there
 */
function keepNearestRows(
  left: Float64Array,
  right: Float64Array,
  rowAt: (at: number) => number | null,
  condition: number,
): void {
  let limit = limitOf(farthestKept());
  for (let at = 0; at < left.length; at++) {
    // False where a side is missing, too: such a row is kept while there are too few others.
    if (limit < Infinity && !(Math.abs(left[at] - right[at]) <= limit * (Math.abs(left[at]) + SMALLEST))) continue;
    const row = rowAt(at);
    if (row !== null && keepIfNearest(left, right, at, row, condition)) limit = limitOf(farthestKept());
  }
}

/**
 * A bound on |a - b| / |a|: where it is exceeded, `relativeGap` exceeds `farthest` too, since b is no larger than
 * |a| + |a - b|. It allows for rounding, and rejects most rows without a division.
 */
const limitOf = (farthest: number): number => (farthest < 1 ? (farthest / (1 - farthest)) * (1 + 1e-9) : Infinity);

/**
 * The MAX_NEAR_MISSES closest so far, closest first; ties keep the earlier one. Columns of numbers, because objects for
 * what is soon replaced would cost more.
 */
const NEAREST = {
  count: 0,
  /** Nothing farther than this is kept. */
  bound: Infinity,
  /** `relativeGap` of each. */
  gaps: new Float64Array(MAX_NEAR_MISSES),
  /** The place of each in the columns below, which are not moved when a closer one comes. */
  places: new Int32Array(MAX_NEAR_MISSES),
  rows: new Int32Array(MAX_NEAR_MISSES),
  left: new Float64Array(MAX_NEAR_MISSES),
  right: new Float64Array(MAX_NEAR_MISSES),
  /** The index of the condition. */
  conditions: new Int32Array(MAX_NEAR_MISSES),
};

/** Another row must be nearer than this to be kept. */
const farthestKept = (): number =>
  NEAREST.count === MAX_NEAR_MISSES ? NEAREST.gaps[MAX_NEAR_MISSES - 1] : NEAREST.bound;

/**
 * Keeps a row if it is among the nearest so far. Values are read from their lists, since V8 would allocate an object
 * for a number in an argument.
 */
function keepIfNearest(
  leftValues: Float64Array,
  rightValues: Float64Array,
  valueAt: number,
  row: number,
  condition: number,
): boolean {
  const { gaps, places } = NEAREST;
  const left = leftValues[valueAt];
  const right = rightValues[valueAt];
  const gap = relativeGap(left, right);
  const isFull = NEAREST.count === MAX_NEAR_MISSES;
  if (isFull ? gap >= gaps[MAX_NEAR_MISSES - 1] : gap > NEAREST.bound) return false;
  const place = isFull ? places[MAX_NEAR_MISSES - 1] : NEAREST.count++;
  let at = NEAREST.count - 1;
  for (; at > 0 && gaps[at - 1] > gap; at--) {
    gaps[at] = gaps[at - 1];
    places[at] = places[at - 1];
  }
  gaps[at] = gap;
  places[at] = place;
  NEAREST.rows[place] = row;
  NEAREST.left[place] = left;
  NEAREST.right[place] = right;
  NEAREST.conditions[place] = condition;
  return true;
}

const SAMPLE = new Int32Array(SAMPLED_ROWS);

/** The rows of a window of at most SAMPLED_ROWS. Valid until the next call. */
function everyRow({ start, end }: Window): Int32Array {
  // `Int32Array.from` takes a hundred times as long.
  for (let at = 0; at < end - start; at++) SAMPLE[at] = start + at;
  return SAMPLE.subarray(0, Math.max(0, end - start));
}

/**
 * Rows of the 1 bits in the window, thinned evenly to SAMPLED_ROWS: every word is read as its runs of ones. Valid until
 * the next call.
 */
function rowsOf(words: Uint32Array, { start, end }: Window): Int32Array {
  const total = countBits(words, start, end);
  const every = Math.max(1, Math.ceil(total / SAMPLED_ROWS));
  let count = 0;
  /** How many ones come before the next row that is taken. */
  let skip = 0;
  for (let w = start >>> 5; w < words.length && w * 32 < end; w++) {
    let word = words[w];
    if (w * 32 < start) word &= -1 << (start & 31);
    if (end - w * 32 < 32) word &= (1 << (end & 31)) - 1;
    // None of its ones is taken.
    if (skip >= 32) {
      skip -= popcount(word);
      continue;
    }
    let left = word >>> 0;
    let row = w * 32;
    while (left !== 0) {
      const zeros = trailingZeros(left);
      left >>>= zeros;
      row += zeros;
      const ones = left === 0xffff_ffff ? 32 : trailingZeros(~left);
      for (; skip < ones; skip += every) SAMPLE[count++] = row + skip;
      skip -= ones;
      left = ones === 32 ? 0 : left >>> ones;
      row += ones;
    }
  }
  return SAMPLE.subarray(0, count);
}

const TEXTS = {
  begin: constantJson('['),
  bar: constantJson(',"bar":'),
  time: constantJson(',"time":'),
  left: constantJson(',"left":'),
  right: constantJson(',"right":'),
  distance: constantJson(',"distance":'),
  between: constantJson('},'),
  end: constantJson('}]'),
  none: constantJson(']'),
} as const;

/** Writes the list as JSON.stringify does. */
export function writeNearMisses(json: JsonWriter, misses: readonly NearMiss[]): void {
  json.add(TEXTS.begin);
  let last: NearMiss | null = null;
  let named: WrittenText | null = null;
  for (const miss of misses) {
    const { symbol, rule, nodeId, path, text, bar, time, left, right, distance } = miss;
    if (last !== null) json.add(TEXTS.between);
    // Most near misses are of the same condition as the one before.
    const isNamed =
      rule === last?.rule &&
      nodeId === last.nodeId &&
      path === last.path &&
      text === last.text &&
      symbol === last.symbol;
    if (named === null || !isNamed)
      named = json.text(JSON.stringify({ symbol, rule, nodeId, path, text }).slice(0, -1));
    json.add(named).number(TEXTS.bar, bar).number(TEXTS.time, time);
    json.number(TEXTS.left, left).number(TEXTS.right, right).number(TEXTS.distance, distance);
    last = miss;
  }
  json.add(last === null ? TEXTS.none : TEXTS.end);
}
