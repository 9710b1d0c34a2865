// The hash of a result: covers its trades and its summary, independent of how they are stored later.
import { createHash } from 'node:crypto';
import { ROW_NUMBERS, type TradeTable, type TradeWords } from './tradeTable.ts';

/**
 * sha256 over the numbers of the trades as IEEE doubles, then their words as lines, then the summary. Every member of a
 * row enters, in the row's order: a number goes to the numbers, a word to the words, and null leaves an empty line, so
 * that equal results give equal bytes. Doubles, because writing hundreds of trades out as text costs more than
 * simulating them.
 * @param summaryJson the summary as JSON.stringify writes it, in any number of pieces
 */
export function resultHash(summaryJson: readonly string[], trades: TradeTable): string {
  const hash = createHash('sha256');
  hash.update(numbersOf(trades));
  hash.update(linesOf(trades));
  for (const piece of summaryJson) hash.update(piece);
  return hash.digest('hex');
}

/** The numbers row after row; the time of the child that decided, where one did, is the last of its row. */
function numbersOf({ length, numbers, fineTimes }: TradeTable): Float64Array {
  let fine = 0;
  for (let row = 0; row < length; row++) fine += fineTimes[row] === fineTimes[row] ? 1 : 0;
  if (fine === 0) return numbers;
  const all = new Float64Array(numbers.length + fine);
  let to = 0;
  for (let row = 0; row < length; row++) {
    for (let at = row * ROW_NUMBERS; at < (row + 1) * ROW_NUMBERS; at++) all[to++] = numbers[at];
    if (fineTimes[row] === fineTimes[row]) all[to++] = fineTimes[row];
  }
  return all;
}

/** The lines in UTF-8, written row by row: a string of so many pieces would be put together first. */
function linesOf({ length, fineTimes, kinds, words }: TradeTable): Uint8Array {
  const encoder = new TextEncoder();
  const withTime = words.map((each) => encoder.encode(`${wordLines(each, true)}\n`));
  const without = words.map((each) => encoder.encode(`${wordLines(each, false)}\n`));
  const linesOfRow = (row: number): Uint8Array =>
    fineTimes[row] === fineTimes[row] ? withTime[kinds[row]] : without[kinds[row]];
  let size = 0;
  for (let row = 0; row < length; row++) size += linesOfRow(row).length;
  const lines = new Uint8Array(size);
  let at = 0;
  for (let row = 0; row < length; row++) {
    const piece = linesOfRow(row);
    lines.set(piece, at);
    at += piece.length;
  }
  // Lines are between rows, not after the last.
  return lines.subarray(0, Math.max(0, size - 1));
}

/** A missing time of a child is an empty line in its place. */
function wordLines(words: TradeWords, hasTime: boolean): string {
  const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule } = words;
  const method = [side, exitReason, exitMethod, exitResolution, exitPolicy ?? ''];
  return [...method, ...(hasTime ? [] : ['']), entryRule, exitRule ?? ''].join('\n');
}
