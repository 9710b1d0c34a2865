// Three-valued logic on words of 32 rows (semantics §1.4), and conditions that depend on earlier rows.
import { type ConditionColumn } from './column.ts';
import { hasBit, wordCount } from './bits.ts';
import { trimUnknown } from './compare.ts';
import { newKeptWords } from './sharedBuffer.ts';

const wordAt = (words: Uint32Array, w: number): number => (w < words.length ? words[w] : 0);

/** T = Ta & Tb, U = (Ta | Ua) & (Tb | Ub) & ~T. */
export function and(columns: readonly ConditionColumn[], out: Uint32Array): ConditionColumn {
  out.set(columns[0].isTrue);
  let isUnknown = columns[0].isUnknown;
  for (let c = 1; c < columns.length; c++) {
    const right = columns[c];
    const words = Math.max(isUnknown.length, right.isUnknown.length);
    const unknown = newKeptWords(words);
    for (let w = 0; w < words; w++) {
      const isTrue = out[w] & right.isTrue[w];
      unknown[w] = (out[w] | wordAt(isUnknown, w)) & (right.isTrue[w] | wordAt(right.isUnknown, w)) & ~isTrue;
    }
    for (let w = 0; w < out.length; w++) out[w] &= right.isTrue[w];
    isUnknown = trimUnknown(unknown);
  }
  return { isTrue: out, isUnknown };
}

/** T = Ta | Tb, U = (Ua | Ub) & ~T. */
export function or(columns: readonly ConditionColumn[], out: Uint32Array): ConditionColumn {
  out.set(columns[0].isTrue);
  for (let c = 1; c < columns.length; c++) {
    const { isTrue } = columns[c];
    for (let w = 0; w < out.length; w++) out[w] |= isTrue[w];
  }
  const words = Math.max(...columns.map((column) => column.isUnknown.length));
  const unknown = newKeptWords(words);
  for (const column of columns) for (let w = 0; w < column.isUnknown.length; w++) unknown[w] |= column.isUnknown[w];
  for (let w = 0; w < words; w++) unknown[w] &= ~out[w];
  return { isTrue: out, isUnknown: trimUnknown(unknown) };
}

/** out[row] = words[row - by]; the first `by` rows take the bit `fill`. */
export function delayBits(words: Uint32Array, by: number, rows: number, fill: 0 | 1): Uint32Array {
  const total = wordCount(rows);
  const out = newKeptWords(total);
  const wordShift = by >>> 5;
  const bitShift = by & 31;
  for (let w = total - 1; w >= wordShift; w--) {
    const from = w - wordShift;
    const low = wordAt(words, from);
    out[w] = bitShift === 0 ? low : (low << bitShift) | (from > 0 ? wordAt(words, from - 1) >>> (32 - bitShift) : 0);
  }
  if (fill === 1) {
    for (let w = 0; w < Math.min(total, wordShift); w++) out[w] = 0xffffffff;
    if (bitShift !== 0 && wordShift < total) out[wordShift] |= (1 << bitShift) - 1;
  }
  if ((rows & 31) !== 0 && total > 0) out[total - 1] &= (1 << (rows & 31)) - 1;
  return out;
}

/** The column `by` rows ago; rows before the first are unknown. */
function delay(column: ConditionColumn, by: number, rows: number): ConditionColumn {
  if (by === 0) return column;
  return {
    isTrue: delayBits(column.isTrue, by, rows, 0),
    isUnknown: trimUnknown(delayBits(column.isUnknown, by, rows, 1)),
  };
}

/**
 * True now and false on the row before, Kleene: with A the column and B = not A one row ago, T = Ta & Tb and
 * U = (Ta | Ua) & (Tb | Ub) & ~T. The row before the first is unknown. `out` may be the true bits of the column.
 */
export function becomesTrue(column: ConditionColumn, rows: number, out: Uint32Array): ConditionColumn {
  const { isTrue, isUnknown } = column;
  const words = wordCount(rows);
  // Words in which this row or the one before may be unknown; past them only the true bits count.
  const doubtful = Math.min(words, isUnknown.length + 1);
  const unknown = newKeptWords(doubtful);
  let before = 0;
  let unknownBefore = 1 << 31;
  for (let w = 0; w < doubtful; w++) {
    const trueNow = isTrue[w];
    const unknownNow = wordAt(isUnknown, w);
    const falseNow = ~(trueNow | unknownNow);
    const falseBefore = (falseNow << 1) | (before >>> 31);
    const doubtBefore = (unknownNow << 1) | (unknownBefore >>> 31);
    out[w] = trueNow & falseBefore;
    unknown[w] = (trueNow | unknownNow) & (falseBefore | doubtBefore) & ~out[w];
    before = falseNow;
    unknownBefore = unknownNow;
  }
  for (let w = doubtful; w < words; w++) {
    const falseNow = ~isTrue[w];
    out[w] = isTrue[w] & ((falseNow << 1) | (before >>> 31));
    before = falseNow;
  }
  // `out` may end inside a word: its last bits are those of isTrue, which are 0.
  return { isTrue: out, isUnknown: trimUnknown(unknown) };
}

/**
 * True on any of the last `window` rows, this one included; Kleene over unknowns, and the rows before the first are
 * unknown.
 */
export function withinRows(column: ConditionColumn, window: number, rows: number): ConditionColumn {
  const isTrue = dilate(column.isTrue, window, rows, 0);
  const isUnknown = dilate(column.isUnknown, window, rows, 1);
  for (let w = 0; w < isUnknown.length; w++) isUnknown[w] &= ~isTrue[w];
  return { isTrue, isUnknown: trimUnknown(isUnknown) };
}

/** Ors the words with themselves delayed by 1, 2, 4 … rows: a window of w rows in log2(w) passes. */
function dilate(words: Uint32Array, window: number, rows: number, before: 0 | 1): Uint32Array {
  let covered = 1;
  let out = newKeptWords(wordCount(rows));
  out.set(words);
  while (covered < window) {
    const step = Math.min(covered, window - covered);
    const delayed = delayBits(out, step, rows, before);
    const next = newKeptWords(out.length);
    for (let w = 0; w < out.length; w++) next[w] = out[w] | delayed[w];
    out = next;
    covered += step;
  }
  return out;
}

/** Every one of the last `window` rows is true: Kleene and over the window; the rows before the first are unknown. */
export function throughoutRows(column: ConditionColumn, window: number, rows: number): ConditionColumn {
  let covered = 1;
  let out = column;
  while (covered < window) {
    const step = Math.min(covered, window - covered);
    out = and([out, delay(out, step, rows)], newKeptWords(wordCount(rows)));
    covered += step;
  }
  return out;
}

/**
 * steps met at t1 < … < tn = row, each minBars … maxBars after the last (semantics §1.8). For step k, `reachable` marks
 * the rows on which steps 0 … k can have been met; the next step needs such a row at a distance in [min, max]. Unknown
 * counts as not true.
 */
export function sequence(
  steps: readonly { readonly column: ConditionColumn; readonly minBars: number; readonly maxBars: number | null }[],
  rows: number,
): ConditionColumn {
  let reachable = steps[0].column.isTrue;
  for (let s = 1; s < steps.length; s++) {
    const { column, minBars, maxBars } = steps[s];
    const next = newKeptWords(wordCount(rows));
    // The latest reachable row at least minBars back is the best witness for maxBars too.
    let latest = -1;
    for (let row = minBars; row < rows; row++) {
      if (hasBit(reachable, row - minBars)) latest = row - minBars;
      if (latest >= 0 && (maxBars === null || row - latest <= maxBars) && hasBit(column.isTrue, row))
        next[row >>> 5] |= 1 << (row & 31);
    }
    reachable = next;
  }
  return { isTrue: reachable, isUnknown: new Uint32Array(0) };
}

/** On from the set row, off on the reset row; ttlBars counts the set row and a new set restarts it (semantics §1.8). */
export function stateMachine(
  set: ConditionColumn,
  reset: ConditionColumn | null,
  ttlBars: number | null,
  conflictPolicy: 'reset' | 'set' | 'hold',
  rows: number,
): ConditionColumn {
  const isTrue = newKeptWords(wordCount(rows));
  let setRow = -1;
  for (let row = 0; row < rows; row++) {
    setRow = nextSetRow(
      setRow,
      row,
      hasBit(set.isTrue, row),
      reset !== null && hasBit(reset.isTrue, row),
      ttlBars,
      conflictPolicy,
    );
    if (setRow >= 0) isTrue[row >>> 5] |= 1 << (row & 31);
  }
  return { isTrue, isUnknown: new Uint32Array(0) };
}

/** The row from which the machine is on, -1 when it is off. */
export function nextSetRow(
  setRow: number,
  row: number,
  isSet: boolean,
  isReset: boolean,
  ttlBars: number | null,
  conflictPolicy: 'reset' | 'set' | 'hold',
): number {
  const expired = setRow >= 0 && ttlBars !== null && row - setRow >= ttlBars ? -1 : setRow;
  if (isSet && isReset) return conflictPolicy === 'set' ? row : conflictPolicy === 'reset' ? -1 : expired;
  if (isSet) return row;
  return isReset ? -1 : expired;
}
