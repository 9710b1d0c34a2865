// The frames of a plan on a market: the bars of each, and which row of one is known at a row of another.
import type { Bars, Market } from '../bars/bars.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import { frameText, seriesOf } from '../plan/builder.ts';
import type { Frame, Plan } from '../plan/plan.ts';
import { closesOf } from '../bars/timeframes.ts';

function barsFor(market: Market, frame: Frame): Bars | undefined {
  const { base } = market;
  const { symbol, timeframe } = seriesOf(frame, base.symbol);
  return symbol === base.symbol && timeframe === base.timeframe ? base : market.bars(symbol, timeframe);
}

/**
 * The bars of a frame of the plan.
 * @throws Error when the market has none; callers check `missingSeries` first
 */
export function barsOf(market: Market, frame: Frame): Bars {
  const bars = barsFor(market, frame);
  if (!bars) throw new Error(`The market has no bars for ${frameText(frame)}.`);
  return bars;
}

/** The series that a plan reads and a market does not have. */
export const missingSeries = (plan: Plan, market: Market): SeriesName[] =>
  plan.frames.filter((frame) => !barsFor(market, frame)).map((frame) => seriesOf(frame, market.base.symbol));

const alignments = new WeakMap<Bars, WeakMap<Bars, Int32Array>>();

/** `alignRows`, computed once per pair of series. */
export function alignedRows(base: Bars, other: Bars): Int32Array {
  let ofBase = alignments.get(base);
  if (!ofBase) alignments.set(base, (ofBase = new WeakMap()));
  let rows = ofBase.get(other);
  if (!rows) ofBase.set(other, (rows = alignRows(base, other)));
  return rows;
}

const texts = new WeakMap<Bars, string>();

/** A text that identifies bars and their snapshot. The same bars give the same string object, whose hash V8 knows. */
export function textOfBars(bars: Bars): string {
  let text = texts.get(bars);
  if (text === undefined) texts.set(bars, (text = `${frameText(bars)}#${bars.sha256}#${bars.length}`));
  return text;
}

/**
 * For each base bar the row of `other` that is known at its close, -1 where there is none. The same instrument: the
 * last bar closed at or before the base close (semantics §1.6), however old. Another instrument (semantics §1.7), which
 * is never filled forward: the same timeframe, the bar closing exactly then; a coarser one, the bar of the bucket that
 * ended last, that is, closed less than one of its bars ago; else missing.
 */
export function alignRows(base: Bars, other: Bars): Int32Array {
  const closeOfBase = closesOf(base.timeframe);
  const closeOfOther = closesOf(other.timeframe);
  // When children straddle the end of a bucket, the resampled bar is known only once the last child has closed.
  const overhangMs = other.overhangMs ?? 0;
  const isOwn = base.symbol === other.symbol;
  const isSameTimeframe = base.timeframe === other.timeframe;
  const rows = new Int32Array(base.length);
  const { time } = other;
  let next = 0;
  let nextKnown = other.length > 0 ? closeOfOther(time[0]) + overhangMs : Infinity;
  // From then on the last known bar is too old.
  let oldFrom = -Infinity;
  for (let row = 0; row < base.length; row++) {
    const close = closeOfBase(base.time[row]);
    while (nextKnown <= close) {
      oldFrom = isOwn ? Infinity : isSameTimeframe ? nextKnown + 1 : closeOfOther(nextKnown - overhangMs) + overhangMs;
      next++;
      nextKnown = next < other.length ? closeOfOther(time[next]) + overhangMs : Infinity;
    }
    rows[row] = close < oldFrom ? next - 1 : -1;
  }
  return rows;
}
