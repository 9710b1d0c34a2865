// The frames of a plan on a market: the bars of each, and which row of one is known at a row of another.
import { alignRows } from '../bars/align.ts';
import type { Bars, Market } from '../bars/bars.ts';
import { frameText } from '../plan/builder.ts';
import type { Frame, Plan } from '../plan/plan.ts';

const barsFor = (market: Market, frame: Frame): Bars | undefined =>
  frame.symbol === market.base.symbol && frame.timeframe === market.base.timeframe
    ? market.base
    : market.bars(frame.symbol, frame.timeframe);

export function barsOf(market: Market, frame: Frame): Bars {
  const bars = barsFor(market, frame);
  if (!bars) throw new Error(`The market has no bars for ${frameText(frame)}.`);
  return bars;
}

/** The frames of a plan that a market cannot serve. */
export const missingFrames = (plan: Plan, market: Market): Frame[] =>
  plan.frames.filter((frame) => !barsFor(market, frame));

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

/** What identifies bars, their snapshot included. Of the same object the same text: its hash is known. */
export function textOfBars(bars: Bars): string {
  let text = texts.get(bars);
  if (text === undefined) texts.set(bars, (text = `${frameText(bars)}#${bars.sha256}#${bars.length}`));
  return text;
}
