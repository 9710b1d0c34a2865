// The hash of a result: covers its trades and its summary, independent of how they are stored later.
import { createHash, type Hash } from 'node:crypto';
import { ROW_NUMBERS, type TradeTable, type TradeWords } from './tradeTable.ts';

/**
 * sha256 over the numbers of the trades as IEEE doubles, then their words as lines, then the summary. Every member of a
 * row enters, in the row's order: a number goes to the numbers, a word to the words, and null leaves an empty line, so
 * that equal results give equal bytes. Doubles, because writing hundreds of trades out as text costs more than
 * simulating them.
 * @param summaryJson the summary as JSON.stringify writes it, in any number of pieces
 */
export function resultHash(summaryJson: readonly (string | Uint8Array)[], trades: TradeTable): string {
  const hash = createHash('sha256');
  const numbers = numbersOf(trades);
  hash.update(numbers);
  addLines(hash, trades, numbers !== trades.numbers);
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

const encoder = new TextEncoder();
/** What lines are written on before they are hashed: fresh pages cost more. An id has 200 characters at most. */
const LINES = new Uint8Array(64 * 1024);
/** Where words differ so little, the lines of four rows are copied at once: each copy is a call. */
const MOST_WORDS_OF_FOURS = 4;

/** Adds the words of each row as lines in UTF-8. */
function addLines(hash: Hash, { length, fineTimes, kinds, words }: TradeTable, hasTimes: boolean): void {
  /** By the index of the words, and after those the same with a time. */
  const pieces: (Uint8Array | undefined)[] = [];
  const fours: (Uint8Array | undefined)[] = [];
  const pieceOf = (row: number): Uint8Array => {
    const hasTime = fineTimes[row] === fineTimes[row];
    const at = kinds[row] + (hasTime ? words.length : 0);
    return (pieces[at] ??= encoder.encode(`${wordLines(words[kinds[row]], hasTime)}\n`));
  };
  let filled = 0;
  const add = (piece: Uint8Array): void => {
    if (piece.length > LINES.length - filled) {
      hash.update(LINES.subarray(0, filled));
      filled = 0;
    }
    LINES.set(piece, filled);
    filled += piece.length;
  };
  let row = 0;
  if (!hasTimes && words.length <= MOST_WORDS_OF_FOURS) {
    for (; row + 4 <= length; row += 4) {
      let four = 0;
      for (let at = row; at < row + 4; at++) four = four * MOST_WORDS_OF_FOURS + kinds[at];
      add((fours[four] ??= Buffer.concat([0, 1, 2, 3].map((at) => pieceOf(row + at)))));
    }
  }
  for (; row < length; row++) add(pieceOf(row));
  // Lines are between rows, not after the last.
  hash.update(LINES.subarray(0, Math.max(0, filled - 1)));
}

/** A missing time of a child is an empty line in its place. */
function wordLines(words: TradeWords, hasTime: boolean): string {
  const { side, exitReason, exitMethod, exitResolution, exitPolicy, entryRule, exitRule } = words;
  const method = [side, exitReason, exitMethod, exitResolution, exitPolicy ?? ''];
  return [...method, ...(hasTime ? [] : ['']), entryRule, exitRule ?? ''].join('\n');
}
