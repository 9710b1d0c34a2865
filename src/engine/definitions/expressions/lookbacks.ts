// Lookbacks: how many bars a node needs before its first value, from the needs of its children (semantics §1.2).
import type { Timeframe } from '../../bars/bars.ts';
import { isFiner, longestMs, shortestMs } from '../../bars/timeframes.ts';
import type { Args, IndicatorDefinition } from '../../indicators/definition.ts';
import type { Child } from './places.ts';

/** Bars before the first value, counted in bars of `timeframe`; null: the same on every bar (constants). */
export interface Need {
  readonly timeframe: Timeframe | null;
  readonly bars: number;
}
export const NO_NEED: Need = { timeframe: null, bars: 0 };

/** What a need is computed with. */
export interface Needs {
  /** The need of a child that is read on bars of `context`. */
  need(child: Child, context: Timeframe): Need;
  /** The lookback of an indicator, or the bars until its seed no longer affects its values. */
  ofIndicator(definition: IndicatorDefinition, args: Args): number;
}
/** Where a node is read: the timeframe of the bars around it. */
export interface LookbackPlace {
  readonly lookbacks: Needs;
  readonly context: Timeframe;
}

/** Bars of `timeframe` that every one of these needs. */
export const mostOn = (timeframe: Timeframe, { lookbacks }: LookbackPlace, children: readonly Child[]): number =>
  children.reduce((most, one) => Math.max(most, inBars(lookbacks.need(one, timeframe), timeframe)), 0);

/** The need of what runs on the bars around it: that of its inputs, and `extraBars`. */
export const onContext = (place: LookbackPlace, inputs: readonly Child[], extraBars = 0): Need => ({
  timeframe: place.context,
  bars: mostOn(place.context, place, inputs) + extraBars,
});

/** The need of what runs on the one timeframe its inputs share, else on the bars around it (semantics §1.6). */
export function onShared({ lookbacks, context }: LookbackPlace, inputs: readonly Child[], extraBars: number): Need {
  let timeframe: Timeframe | null = null;
  let isShared = true;
  for (const one of inputs) {
    const own = lookbacks.need(one, context).timeframe;
    if (own !== null && timeframe !== null && own !== timeframe) isShared = false;
    timeframe ??= own;
  }
  if (timeframe === null && extraBars === 0) return NO_NEED;
  const shared = timeframe !== null && isShared ? timeframe : context;
  let bars = 0;
  for (const one of inputs) bars = Math.max(bars, inBars(lookbacks.need(one, context), shared));
  return { timeframe: shared, bars: bars + extraBars };
}

/** The need of an earlier value of the source, counted in bars of the context; a constant is the same on every bar. */
export function earlierOf(source: Child, bars: number, place: LookbackPlace): Need {
  const { timeframe } = place.lookbacks.need(source, place.context);
  return timeframe === null ? NO_NEED : onContext(place, [source], bars);
}

/** The need of a column of the bars that a node names, or else of those around it. */
export const needOfColumn = (
  { timeframe, offset }: { readonly timeframe?: Timeframe; readonly offset: number },
  { context }: LookbackPlace,
): Need => ({ timeframe: timeframe ?? context, bars: offset });

/** The need of what reads only when a bar opens. */
export const needOfClock = (_node: object, { context }: LookbackPlace): Need => ({ timeframe: context, bars: 0 });

/**
 * A need converted to other bars. Of a coarser timeframe, `bars` + 1 must have closed, and the worst phase begins with
 * a whole one, of the longest months.
 */
export function inBars({ timeframe, bars }: Need, wanted: Timeframe): number {
  if (timeframe === null || timeframe === wanted) return bars;
  if (isFiner(wanted, timeframe)) return Math.ceil(((bars + 1) * longestMs(timeframe)) / longestMs(wanted)) - 1;
  return Math.ceil((bars * longestMs(timeframe)) / shortestMs(wanted)) + 1;
}
