// Lookback: how many base bars an expression needs before its first value, on data without holes (semantics §1.2).
import type { Timeframe } from '../../bars/bars.ts';
import { runnableKind } from '../../definitions/expressions/expressionRegistry.ts';
import { inBars, type Need, type Needs } from '../../definitions/expressions/lookbacks.ts';
import type { Child } from '../../definitions/expressions/places.ts';
import type { Args, IndicatorDefinition } from '../../indicators/definition.ts';
import { findIndicator } from '../../indicators/registry.ts';
import type { RunnableStrategy } from '../grammar/ast.ts';
import { levelsOf } from '../grammar/writtenLevels.ts';
import { rootsOf } from '../grammar/visit.ts';

/**
 * The largest lookback of a strategy's expressions and ATR distances, in base bars: its warm-up unless one is set.
 * @param isStable count recursive indicators until their seed no longer affects their values.
 */
export function inferLookback(strategy: RunnableStrategy, baseTimeframe: Timeframe, isStable = false): number {
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
const keptNeeds = new WeakMap<Child, { readonly context: Timeframe; readonly need: Need }>();

class Lookbacks implements Needs {
  readonly #base: Timeframe;
  readonly #isStable: boolean;
  readonly #onBase = new Map<object, Need>();
  /** Needs by the timeframe that an expression is read on, which is that of the nearest node above that names one. */
  readonly #onOthers = new Map<Timeframe, Map<object, Need>>();

  constructor(base: Timeframe, isStable: boolean) {
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
  of(expression: Child): number {
    return inBars(this.need(expression, this.#base), this.#base);
  }

  ofIndicator(definition: IndicatorDefinition, args: Args): number {
    const isStable = this.#isStable && definition.stableLookback !== undefined;
    return isStable ? definition.stableLookback!(args) : definition.lookback(args);
  }

  need(expression: Child, context: Timeframe): Need {
    const kind = runnableKind(expression);
    // A node without inputs: computing its need is faster than looking it up.
    if (kind.keepsLookback === 'never') return kind.lookback(expression, { lookbacks: this, context });
    if (kind.keepsLookback === 'always' && !this.#isStable) return this.#keptNeed(expression, context);
    const known = context === this.#base ? this.#onBase : this.#on(context);
    const found = known.get(expression);
    if (found !== undefined) return found;
    const need = kind.lookback(expression, { lookbacks: this, context });
    known.set(expression, need);
    return need;
  }

  #keptNeed(expression: Child, context: Timeframe): Need {
    let kept = keptNeeds.get(expression);
    if (kept?.context !== context) {
      kept = { context, need: runnableKind(expression).lookback(expression, { lookbacks: this, context }) };
      keptNeeds.set(expression, kept);
    }
    return kept.need;
  }

  #on(context: Timeframe): Map<object, Need> {
    let known = this.#onOthers.get(context);
    if (known === undefined) this.#onOthers.set(context, (known = new Map()));
    return known;
  }
}
