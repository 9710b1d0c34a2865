// Frames: the series an expression runs on, and what of another series is known at a bar's close.
import type { Bars } from '../../../src/engine/bars/bars.ts';
import { endOf } from '../timeGrid.ts';

const closeTime = (bars: Bars, row: number): number => endOf(bars.timeframe, bars.time[row]);

/**
 * The row of `from` that a bar of `to` may see at its close, -1 for none (semantics §1.6): of the same instrument the
 * last bar closed by
 * then; of another (semantics §1.7) the bar closing exactly then, or on a coarser timeframe the one whose bucket ended
 * last.
 */
function visibleRow(to: Bars, row: number, from: Bars): number {
  const now = closeTime(to, row);
  let found = -1;
  for (let candidate = 0; candidate < from.length; candidate++) {
    if (closeTime(from, candidate) + (from.overhangMs ?? 0) <= now) found = candidate;
    else break;
  }
  if (found < 0 || from.symbol === to.symbol) return found;
  const ended = closeTime(from, found);
  if (from.timeframe === to.timeframe) return now === ended ? found : -1;
  return now < endOf(from.timeframe, ended) ? found : -1;
}

const alignments = new WeakMap<Bars, WeakMap<Bars, number[]>>();

export function visibleRows(to: Bars, from: Bars): readonly number[] {
  const known = alignments.get(to) ?? new WeakMap<Bars, number[]>();
  alignments.set(to, known);
  let rows = known.get(from);
  if (rows === undefined)
    known.set(from, (rows = Array.from({ length: to.length }, (_, row) => visibleRow(to, row, from))));
  return rows;
}
