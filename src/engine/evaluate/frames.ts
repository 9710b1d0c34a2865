// The frames of a plan on a market: the bars of each, and which row of one is known at a row of another.
import { alignRows } from '../bars/align.ts';
import type { Bars, Market } from '../bars/bars.ts';
import type { SeriesName } from '../language/canonical/foreignSeries.ts';
import { frameText, seriesOf } from '../plan/builder.ts';
import type { Frame, Plan } from '../plan/plan.ts';

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
