// Look-ahead: words and texts that ask for a later bar, which nothing can read, and what an author is told of them.
import { plain } from '../issues/nearest.ts';
import { wordSet } from './hintTable.ts';

/** Why a place or a number that looks ahead is refused; it has no patch, since an earlier bar is another strategy. */
export const LOOKS_AHEAD = 'it would read a price that is not yet known';
export const BACK_ADVICE = 'Count bars back: 0 is this bar, and 1 is the bar before it. Nothing can read a later bar.';

/** Without case and separators. */
const WORDS = wordSet('lookahead lookaheadon future next lead ahead forward tomorrow barsahead');
/** `close[-1]`, `close.shift(-1)`, `ref(close, -1)`, `next.close`, `next_open`. */
const TEXT =
  /\[\s*-\s*\d|\b(?:shift|lag|lead|ref)\s*\([^()]*-\s*\d|(?:^|[^a-z])(?:next|future|tomorrow|lead)(?:[^a-z]|$)/i;

/** The fault of a text that asks for a later bar. */
export const aheadFault = <F extends { readonly message: string }>(fault: F): F => ({
  ...fault,
  message: `This looks ahead: ${LOOKS_AHEAD}.`,
  suggestion: BACK_ADVICE,
});

/** Whether a name asks for a later bar. */
export const isAheadWord = (word: string): boolean => WORDS.has(plain(word));

/** Whether a text in the place of an expression asks for a later bar. */
export const isAheadText = (text: string): boolean => TEXT.test(text);
