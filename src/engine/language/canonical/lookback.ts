// Lookback: how many base bars an expression needs before its first value, on data without holes (semantics §1.2).
import { rollingReach } from '../../definitions/words.ts';
import { TIMEFRAME_MS, type StoredTimeframe } from '../../bars/bars.ts';
import type { Args, IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import { findPattern } from '../../patterns/patternRegistry.ts';
import type { RunnableExpression, RunnableKind, RunnableNodes, RunnableStrategy } from '../grammar/ast.ts';
import { seriesInputsOf } from './canonicalizer.ts';
import { levelsOf } from '../grammar/writtenLevels.ts';
import { rootsOf } from '../grammar/visit.ts';

/** Bars before the first value, counted in bars of `timeframe`; null: the same on every bar (constants). */
interface Need {
  readonly timeframe: StoredTimeframe | null;
  readonly bars: number;
}
const NOTHING: Need = { timeframe: null, bars: 0 };

/**
 * The largest lookback of a strategy's expressions and ATR distances, in base bars: its warm-up unless one is set.
 * @param isStable count recursive indicators until their seed no longer affects their values.
 */
export function inferLookback(strategy: RunnableStrategy, baseTimeframe: StoredTimeframe, isStable = false): number {
  const lookbacks = new Lookbacks(baseTimeframe, isStable);
  let most = 0;
  for (const { expression } of rootsOf(strategy)) most = Math.max(most, lookbacks.of(expression));
  for (const length of atrPeriods(strategy))
    most = Math.max(most, lookbacks.ofIndicator(findIndicator('atr')!, { length }));
  return most;
}

/** The ATR periods of sizes and distances. */
function atrPeriods({ entries, risk }: RunnableStrategy): number[] {
  const periods = levelsOf(risk).flatMap(({ period }) => period ?? []);
  for (const { action } of entries) if ('atrPeriod' in action.sizing) periods.push(action.sizing.atrPeriod);
  return periods;
}

/** Needs of indicators on the bars around them, kept by node: the runs of a plan template share nodes. */
const keptNeeds = new WeakMap<RunnableExpression, { readonly context: StoredTimeframe; readonly need: Need }>();

class Lookbacks {
  readonly #base: StoredTimeframe;
  readonly #isStable: boolean;
  readonly #onBase = new Map<object, Need>();
  /** Needs by the timeframe that an expression is read on, which is that of the nearest node above that names one. */
  readonly #onOthers = new Map<StoredTimeframe, Map<object, Need>>();

  constructor(base: StoredTimeframe, isStable: boolean) {
    this.#base = base;
    this.#isStable = isStable;
  }

  /**
   * Base bars before the first value or known truth of an expression.
   *
   * It is exact where everything runs on base bars and nothing waits for an event (pivot, capture, value_when,
   * bars_since, sequence), except that the data may decide earlier: an `if` whose branch is known, a `rising` that has
   * already failed. In all other cases, and on coarser timeframes, it is an upper bound on data without holes, in the
   * worst phase: a coarse bar must be whole before it counts. Unbounded memory is not included.
   */
  of(expression: RunnableExpression): number {
    return inBars(this.need(expression, this.#base), this.#base);
  }

  ofIndicator(definition: IndicatorDefinition, args: Args): number {
    const isStable = this.#isStable && definition.stableLookback !== undefined;
    return isStable ? definition.stableLookback!(args) : definition.lookback(args);
  }

  need(expression: RunnableExpression, context: StoredTimeframe): Need {
    // A node without inputs: computing its need is faster than looking it up.
    if (expression.kind === 'market' || expression.kind === 'const')
      return needOfKind(expression.kind, expression, { lookbacks: this, context });
    if (expression.kind === 'indicator' && !this.#isStable) return this.#keptNeed(expression, context);
    const known = context === this.#base ? this.#onBase : this.#on(context);
    const found = known.get(expression);
    if (found !== undefined) return found;
    const need = needOfKind(expression.kind, expression, { lookbacks: this, context });
    known.set(expression, need);
    return need;
  }

  #keptNeed(expression: RunnableNodes['indicator'], context: StoredTimeframe): Need {
    let kept = keptNeeds.get(expression);
    if (kept?.context !== context) {
      kept = { context, need: needOfIndicator(expression, { lookbacks: this, context }) };
      keptNeeds.set(expression, kept);
    }
    return kept.need;
  }

  #on(context: StoredTimeframe): Map<object, Need> {
    let known = this.#onOthers.get(context);
    if (known === undefined) this.#onOthers.set(context, (known = new Map()));
    return known;
  }
}

/** Where a node is read: the timeframe of the bars around it. */
interface Place {
  readonly lookbacks: Lookbacks;
  readonly context: StoredTimeframe;
}
type NeedOf<K extends RunnableKind> = (node: RunnableNodes[K], place: Place) => Need;

/** Bars of `timeframe` that every one of these needs. */
const mostOn = (timeframe: StoredTimeframe, { lookbacks }: Place, expressions: readonly RunnableExpression[]): number =>
  expressions.reduce((most, one) => Math.max(most, inBars(lookbacks.need(one, timeframe), timeframe)), 0);

/** The need of what runs on the bars around it: that of its inputs, and `extraBars`. */
const onContext = (place: Place, inputs: readonly RunnableExpression[], extraBars = 0): Need => ({
  timeframe: place.context,
  bars: mostOn(place.context, place, inputs) + extraBars,
});

/** The need of what runs on the one timeframe its inputs share, else on the bars around it (semantics §1.6). */
function onShared({ lookbacks, context }: Place, inputs: readonly RunnableExpression[], extraBars: number): Need {
  let timeframe: StoredTimeframe | null = null;
  let isShared = true;
  for (const one of inputs) {
    const own = lookbacks.need(one, context).timeframe;
    if (own !== null && timeframe !== null && own !== timeframe) isShared = false;
    timeframe ??= own;
  }
  if (timeframe === null && extraBars === 0) return NOTHING;
  const shared = timeframe !== null && isShared ? timeframe : context;
  let bars = 0;
  for (const one of inputs) bars = Math.max(bars, inBars(lookbacks.need(one, context), shared));
  return { timeframe: shared, bars: bars + extraBars };
}

const needOfField: NeedOf<'market' | 'series'> = ({ timeframe, offset }, { context }) => ({
  timeframe: timeframe ?? context,
  bars: offset,
});
const needOfMoving: NeedOf<'rising' | 'falling'> = ({ source, bars }, place) => ({
  timeframe: place.context,
  bars: inBars(onShared(place, [source], bars), place.context),
});
const needOfItems: NeedOf<'all' | 'any'> = ({ items }, place) => onContext(place, items);
const needOfPair: NeedOf<'compare' | 'near'> = ({ left, right }, place) => onContext(place, [left, right]);
const needOfEvent: NeedOf<'value_when' | 'capture'> = ({ value, when }, place) => onContext(place, [value, when]);
const needOfClock: NeedOf<'time' | 'time_window' | 'session'> = (_node, { context }) => ({
  timeframe: context,
  bars: 0,
});

function needOfIndicator(node: RunnableNodes['indicator'], place: Place): Need {
  const definition = findIndicator(node.indicator)!;
  const sources = node.sources ?? (node.source === undefined ? [] : [node.source]);
  const extra = place.lookbacks.ofIndicator(definition, node.args) + node.offset;
  const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
  // Next to bar columns, a source is read on the same bars; without them, on its own.
  const readsBars = definition.inputs.length > seriesInputsOf(definition).length;
  if (!isPlaced && !readsBars) return onShared(place, sources, extra);
  const own = node.timeframe ?? place.context;
  return { timeframe: own, bars: mostOn(own, place, sources) + extra };
}

/** The need of an earlier value of the source, counted in bars of the context; a constant is the same on every bar. */
function earlierOf(source: RunnableExpression, bars: number, place: Place): Need {
  const { timeframe } = place.lookbacks.need(source, place.context);
  return timeframe === null ? NOTHING : onContext(place, [source], bars);
}

/** What each kind needs before its first value or known truth. */
const NEEDS: { readonly [K in RunnableKind]: NeedOf<K> } = {
  const: () => NOTHING,
  market: needOfField,
  indicator: needOfIndicator,
  state: ({ offset }, { context }) => ({ timeframe: context, bars: offset }),
  rolling: ({ source, op, period, offset }, place) => onShared(place, [source], rollingReach(op, period) - 1 + offset),
  math: ({ args }, place) => onShared(place, args, 0),
  shift: ({ source, offset }, place) => earlierOf(source, offset, place),
  percent_change: ({ source, bars }, place) => earlierOf(source, bars, place),
  if: (node, place) => onContext(place, [node.cond, node.then, node.else]),
  bars_since: ({ when }, place) => onContext(place, [when]),
  value_when: needOfEvent,
  series: needOfField,
  capture: needOfEvent,
  pivot: ({ timeframe, left, right }, { context }) => ({ timeframe: timeframe ?? context, bars: left + right }),
  time: needOfClock,
  compare: needOfPair,
  // The bar before, on the earliest of the last `within` bars.
  cross: ({ left, right, within }, place) => onContext(place, [left, right], within),
  between: ({ value, lower, upper }, place) => onContext(place, [value, lower, upper]),
  near: needOfPair,
  rising: needOfMoving,
  falling: needOfMoving,
  pattern: ({ name, args, timeframe, offset, within }, { context }) => {
    const bars = findPattern(name)!.lookback(args) + offset + within - 1;
    return { timeframe: context, bars: inBars({ timeframe: timeframe ?? context, bars }, context) };
  },
  all: needOfItems,
  any: needOfItems,
  not: ({ item }, place) => onContext(place, [item]),
  time_window: needOfClock,
  session: needOfClock,
  sequence: ({ steps }, place) =>
    onContext(
      place,
      steps.map(({ expr }) => expr),
    ),
  rolling_window: ({ expr, mode, value, window }, place) =>
    onContext(place, [expr], (mode === 'streak' && value !== undefined ? value : window) - 1),
  state_machine: ({ set, reset }, place) => onContext(place, reset === undefined ? [set] : [set, reset]),
};
const needOfKind = <K extends RunnableKind>(kind: K, node: RunnableNodes[K], place: Place): Need =>
  NEEDS[kind](node, place);

/**
 * A need converted to other bars. Of a coarser timeframe, `bars` + 1 must have closed, and the worst phase begins with
 * a whole one.
 */
function inBars({ timeframe, bars }: Need, wanted: StoredTimeframe): number {
  if (timeframe === null || timeframe === wanted) return bars;
  const ratio = TIMEFRAME_MS[timeframe] / TIMEFRAME_MS[wanted];
  return ratio >= 1 ? (bars + 1) * ratio - 1 : Math.ceil(bars * ratio) + 1;
}
