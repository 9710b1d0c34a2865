// Why finer bars contradict base bars, and how a warning says so: adjusted prices beside raw ones, or shifted times.
import { nextBit } from '../kernels/bits.ts';
import { TIMEFRAME_MS, type Bars } from './bars.ts';
import {
  childrenAt,
  contradictionAt,
  FEWEST_CONTRADICTED,
  isContradicted,
  type Contradictions,
} from './contradictions.ts';
import { longestMs } from './timeframes.ts';

type ContradictionCause =
  /** The finer prices are a multiple of the base prices: `from` that of the first bar, `to` that of the last. */
  | { readonly kind: 'ratio'; readonly from: number; readonly to: number }
  /** The finer bars fit when they open this much earlier than they say. */
  | { readonly kind: 'offset'; readonly ms: number }
  | { readonly kind: 'unknown' };

/** A cause has to explain this share of the contradicted bars. */
const EXPLAINED = 0.9;
/** The most contradicted bars that a cause is searched in, evenly spaced. */
const MOST_BARS = 256;
/** Ratios that differ by less are one ratio: the tolerance of a bar moves them by about as much. */
const ONE_RATIO = 0.005;

/** The likely cause of at least one contradiction. */
export function causeOf({ base, fine, rows, count }: Contradictions): ContradictionCause {
  if (count < FEWEST_CONTRADICTED) return { kind: 'unknown' };
  const step = Math.ceil(count / MOST_BARS);
  const looked: number[] = [];
  for (let row = nextBit(rows, 0, base.length), at = 0; row < base.length; row = nextBit(rows, row + 1, base.length))
    if (at++ % step === 0) looked.push(row);
  return ratioCause(base, fine, looked) ?? offsetCause(base, fine, looked) ?? { kind: 'unknown' };
}

function ratioCause(base: Bars, fine: Bars, rows: readonly number[]): ContradictionCause | null {
  const ratios: number[] = [];
  for (const row of rows) {
    const children = childrenAt(base, row, fine);
    const ratio = (children.highest + children.lowest) / (base.high[row] + base.low[row]);
    if (!isContradicted(base, row, fine, { ...children, scale: 1 / ratio })) ratios.push(ratio);
  }
  const above = ratios.filter((ratio) => ratio > 1).length;
  if (Math.max(above, ratios.length - above) < EXPLAINED * rows.length) return null;
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
  if (at(0.9) / at(0.1) - 1 < ONE_RATIO) return { kind: 'ratio', from: at(0.5), to: at(0.5) };
  return { kind: 'ratio', from: ratios[0], to: ratios.at(-1)! };
}

/** A child, as when one of the series is stamped with the close; a base bar; and hours, as between time zones. */
function offsetsOf(base: Bars, fine: Bars): number[] {
  const hours = Array.from({ length: 14 }, (_, at) => (at + 1) * TIMEFRAME_MS['1h']);
  const spans = [longestMs(fine.timeframe), longestMs(base.timeframe), ...hours, TIMEFRAME_MS['1d']];
  return [...new Set(spans)].sort((a, b) => a - b).flatMap((span) => [span, -span]);
}

function offsetCause(base: Bars, fine: Bars, rows: readonly number[]): ContradictionCause | null {
  let best = { ms: 0, fitting: 0 };
  for (const ms of offsetsOf(base, fine)) {
    let fitting = 0;
    for (const row of rows) {
      const children = childrenAt(base, row, fine, ms);
      fitting += +(children.first < children.end && !isContradicted(base, row, fine, children));
    }
    if (fitting > best.fitting) best = { ms, fitting };
  }
  return best.fitting >= EXPLAINED * rows.length ? { kind: 'offset', ms: best.ms } : null;
}

const texts = new WeakMap<Contradictions, string>();

/** How many bars are contradicted, the first of them, and the likely cause, for a warning or an import. */
export function describeContradictions(found: Contradictions): string {
  let text = texts.get(found);
  if (text === undefined) texts.set(found, (text = describe(found)));
  return text;
}

function describe(found: Contradictions): string {
  const { base, fine, rows, comparedBars, count } = found;
  const { time, column, price, childPrice } = contradictionAt(found, nextBit(rows, 0, base.length));
  const words = { open: 'begin at', high: 'reach', low: 'reach', close: 'end at' } as const;
  return (
    `The ${fine.timeframe} bars contradict ${count} of the ${comparedBars} ${base.timeframe} bars that they lie in. ` +
    `The first opens at ${timeText(time)}: its ${column} is ${price}, and the ${fine.timeframe} bars inside it ` +
    `${words[column]} ${childPrice}. ${causeText(found)}`
  );
}

function causeText(found: Contradictions): string {
  const { base, fine } = found;
  const cause = causeOf(found);
  if (cause.kind === 'ratio') {
    const [from, to] = [cause.from, cause.to].map(ratioText);
    const ratio = from === to ? `ratio ${from}` : `a ratio of ${from} at first and ${to} at last`;
    return `Likely cause: adjusted prices beside raw ones, ${fine.timeframe} to ${base.timeframe} ${ratio}.`;
  }
  if (cause.kind === 'offset') {
    const direction = cause.ms > 0 ? 'earlier' : 'later';
    return (
      `Likely cause: times that do not match. The ${fine.timeframe} bars fit when they open ` +
      `${spanText(Math.abs(cause.ms))} ${direction}.`
    );
  }
  return 'The cause is not known: another source, trades outside the session in one of them, or bad ticks.';
}

const ratioText = (ratio: number): string => ratio.toFixed(Math.abs(ratio - 1) < 0.1 ? 3 : 2);

const spanText = (ms: number): string =>
  ms % TIMEFRAME_MS['1h'] === 0 ? `${ms / TIMEFRAME_MS['1h']} h` : `${ms / TIMEFRAME_MS['1m']} min`;

const timeText = (time: number): string => new Date(time).toISOString().replace(/(:00)?\.000Z$/, 'Z');

/** What to do about it. */
export const CONTRADICTION_ADVICE =
  'Import both series from one source, both adjusted or both raw, with the open time of each bar in UTC.';
