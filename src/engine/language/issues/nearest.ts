// Nearest names: what a misspelled word was meant to be, and whether that is certain enough for a patch.
import { distance } from 'fastest-levenshtein';
import type { PatchOperation } from './patch.ts';

/** Longer words are not compared: no name of the language is that long, and the distance takes quadratic time. */
const MAX_WORD = 64;

export interface Nearest {
  readonly name: string;
  /** Whether it is the only candidate this near, so that a patch may write it. */
  readonly isCertain: boolean;
}

/** Words that differ only in case or separators are the same word. */
export const plain = (word: string): string => word.toLowerCase().replaceAll(/[\s_\-.]/g, '');

/** The edits between two words. Two adjacent letters swapped, the most common typing error, count as one edit. */
function editsBetween(word: string, candidate: string): number {
  if (word.length === candidate.length) {
    let first = 0;
    while (first < word.length && word[first] === candidate[first]) first++;
    const isSwap = word[first] === candidate[first + 1] && word[first + 1] === candidate[first];
    if (isSwap && word.slice(first + 2) === candidate.slice(first + 2)) return Math.min(1, word.length - first);
  }
  return distance(word, candidate);
}

/** The candidate nearest to `word`; undefined when none is near. */
export function nearestName(word: string, candidates: Iterable<string>): Nearest | undefined {
  if (word.length > MAX_WORD) return undefined;
  const wanted = plain(word);
  let best: string | undefined;
  let bestDistance = Infinity;
  let ties = 0;
  for (const candidate of candidates) {
    const apart = editsBetween(wanted, plain(candidate));
    if (apart < bestDistance) {
      best = candidate;
      bestDistance = apart;
      ties = 1;
    } else if (apart === bestDistance && plain(candidate) !== plain(best!)) ties++;
  }
  if (best === undefined || bestDistance > Math.max(1, Math.floor(best.length * 0.4)) || bestDistance >= wanted.length)
    return abbreviated(wanted, candidates);
  // A prefix on a short name is a word of its own: `ha_close` is not `close`.
  const shorter = Math.min(wanted.length, plain(best).length);
  const allowed = shorter <= 2 ? 0 : shorter <= 5 ? 1 : 2;
  return { name: best, isCertain: ties === 1 && bestDistance <= allowed && isSameSaid(wanted, plain(best)) };
}

/** Another number names another thing (`sma_200` is not `sma_100`), and a prefix may turn a word around (`nlte`). */
function isSameSaid(wanted: string, meant: string): boolean {
  if (wanted.replaceAll(/\D/g, '') !== meant.replaceAll(/\D/g, '')) return false;
  const [longer, shorter] = wanted.length > meant.length ? [wanted, meant] : [meant, wanted];
  return !longer.endsWith(shorter) || !NEGATIONS.has(longer.slice(0, longer.length - shorter.length));
}
const NEGATIONS: ReadonlySet<string> = new Set(['n', 'no', 'in', 'un', 'im', 'ir', 'il', 'de', 're', 'ex', 'a']);

/** Whether a word says the opposite of what follows. */
export const isNegated = (word: string): boolean =>
  /^(?:is_?)?(?:not?|non|never|un|nor|neither)(?:[_\-. ]|(?=[A-Z]))/.test(word);

/**
 * The nearest of the names that an author made. They are often alike (`up_ma` and `dn_ma`, `fast_ma` and `last_ma`,
 * `level_a` and `level_b`), so that only one edit is certain, and another letter only within a longer name.
 */
export function nearestOwnName(word: string, names: Iterable<string>): Nearest | undefined {
  const nearest = nearestName(word, names);
  if (nearest === undefined) return undefined;
  const [wanted, meant] = [plain(word), plain(nearest.name)];
  const isWithin = meant.length >= 6 && wanted[0] === meant[0] && wanted.at(-1) === meant.at(-1);
  const hasItsLetters = wanted.length !== meant.length || sortedLetters(wanted) === sortedLetters(meant);
  return {
    ...nearest,
    isCertain: nearest.isCertain && editsBetween(wanted, meant) <= 1 && (hasItsLetters || isWithin),
  };
}

/**
 * Whether an abbreviation was meant to be `name`, for certain: with another letter, a short one often names something
 * else (`rsx` is not `rsi`, `lsma` not `sma`). Swapped and doubled letters are typing errors (`rssi`).
 */
export function isMistyped(word: string, name: string): boolean {
  const [wanted, meant] = [plain(word), plain(name)];
  const length = Math.min(wanted.length, meant.length);
  const isSwapped = wanted.length === meant.length && sortedLetters(wanted) === sortedLetters(meant);
  const hasItsLetters = isSwapped || withoutDoubles(wanted) === withoutDoubles(meant);
  return editsBetween(wanted, meant) <= (length >= 9 ? 2 : length >= 6 || hasItsLetters ? 1 : 0);
}

/** The symbol that a typing error was meant to be. With another letter it is another one (`SHY` is not `SPY`). */
export function nearestSymbol(symbol: string, symbols: Iterable<string>): Nearest | undefined {
  const nearest = nearestName(symbol, symbols);
  if (nearest === undefined || !isMistyped(symbol, nearest.name)) return undefined;
  const [wanted, meant] = [plain(symbol), plain(nearest.name)];
  return wanted.length !== meant.length || sortedLetters(wanted) === sortedLetters(meant) ? nearest : undefined;
}

const sortedLetters = (word: string): string => word.split('').sort().join('');
const withoutDoubles = (word: string): string => word.replaceAll(/(.)\1/g, '$1');

/** The only candidate that begins with a shortened word: `symbol` for `sym`. */
function abbreviated(wanted: string, candidates: Iterable<string>): Nearest | undefined {
  if (wanted.length < MIN_ABBREVIATION) return undefined;
  const begun = [...new Set(candidates)].filter((candidate) => plain(candidate).startsWith(wanted));
  return begun.length === 1
    ? { name: begun[0], isCertain: isSameSaid(wanted, plain(begun[0])) && !leavesOutUnit(wanted, begun[0]) }
    : undefined;
}
const MIN_ABBREVIATION = 3;
/** `risk` may be an amount, and `distance` a price. */
const leavesOutUnit = (wanted: string, name: string): boolean =>
  /percent|cash|atr/.test(plain(name).slice(wanted.length));

/** `Did you mean "x"?`, or else the possible words, as many as any enumeration of the language has. */
export function suggestionFor(nearest: Pick<Nearest, 'name'> | undefined, candidates: readonly string[]): string {
  if (nearest !== undefined) return `Did you mean "${nearest.name}"?`;
  if (candidates.length === 0) return 'Remove it.';
  const shown = candidates.slice(0, MAX_SHOWN).join(', ');
  if (candidates.length === 1) return `Use ${shown}.`;
  return `Use one of ${shown}${candidates.length > MAX_SHOWN ? ', …' : ''}.`;
}
/** Longer than any enumeration; lists of names that an author made can be longer. */
const MAX_SHOWN = 64;

/** The patch that writes `value` in place of the word, where it was certainly meant. */
export function certainPatch(
  nearest: Nearest | undefined,
  path: string,
  value: unknown,
): readonly PatchOperation[] | undefined {
  return nearest?.isCertain === true ? [{ op: 'replace', path, value }] : undefined;
}
