// Lookback: how many base bars an expression needs before its first value, on an unbroken market (semantics §1.2).
import { windowOf } from '../columns/kernels/rolling.ts';
import { TIMEFRAME_MS, type StoredTimeframe } from '../columns/bars.ts';
import type { Args, IndicatorDefinition } from '../indicators/definition.ts';
import { findIndicator } from '../indicators/registry.ts';
import { findPattern } from '../patterns/registry.ts';
import type { Concrete, Condition, Expression, RunnableStrategy, Value } from './ast.ts';
import { seriesInputsOf } from './canonical.ts';
import { rootsOf } from './visit.ts';

/** Bars before the first value, counted on bars of `timeframe`; null: the same on every bar (constants). */
interface Need {
  readonly timeframe: StoredTimeframe | null;
  readonly bars: number;
}
type Node<K extends Expression['kind']> = Concrete<Extract<Expression, { kind: K }>>;
const NOTHING: Need = { timeframe: null, bars: 0 };

/**
 * Base bars before the first value or known truth of an expression in runnable form. Exact where everything lives on base bars and no
 * event (pivot, capture, value_when, bars_since, sequence) is waited for, up to what data decides early (an `if` whose branch is known, a
 * `rising` that already failed); there and on coarser timeframes an upper bound on data without
 * holes, in the worst phase: a coarse bar is whole before it counts. Unbounded memory is no part of it. With `isStable`, recursive
 * indicators count until their seed no longer shows.
 */
export function lookbackOf(
  expression: Concrete<Value> | Concrete<Condition>,
  baseTimeframe: StoredTimeframe,
  isStable = false,
): number {
  return new Lookbacks(baseTimeframe, isStable).of(expression);
}

/** The largest lookback of a strategy's expressions and ATR distances, in base bars: its warm-up where none is set. */
export function inferLookback(strategy: RunnableStrategy, baseTimeframe: StoredTimeframe, isStable = false): number {
  const lookbacks = new Lookbacks(baseTimeframe, isStable);
  const bars = rootsOf(strategy).map(({ expression }) => lookbacks.of(expression));
  const { stopLoss, takeProfits, trailingStop } = strategy.risk;
  const periods = strategy.entries.map(({ action: { sizing } }) =>
    sizing.mode === 'volatility_target' ? sizing.atrPeriod : undefined,
  );
  if (stopLoss?.mode === 'atr') periods.push(stopLoss.period);
  for (const target of takeProfits ?? []) periods.push(target.triggerAtr?.period);
  periods.push(trailingStop?.distanceAtr?.period);
  for (const period of periods) if (period !== undefined) bars.push(lookbacks.ofIndicator('atr', { length: period }));
  return bars.reduce((most, count) => Math.max(most, count), 0);
}

class Lookbacks {
  readonly #base: StoredTimeframe;
  readonly #isStable: boolean;
  /** By the timeframe of the bars it is read on: below a node with a `timeframe`, that one. */
  readonly #known = new Map<StoredTimeframe, Map<object, Need>>();

  constructor(base: StoredTimeframe, isStable: boolean) {
    this.#base = base;
    this.#isStable = isStable;
  }

  of(expression: Expression): number {
    return inBars(this.#need(expression, this.#base), this.#base);
  }

  ofIndicator(id: string, args: Args): number {
    return this.#rows(findIndicator(id)!, args);
  }

  #rows(definition: IndicatorDefinition, args: Args): number {
    const isStable = this.#isStable && definition.stableLookback !== undefined;
    return isStable ? definition.stableLookback!(args) : definition.lookback(args);
  }

  #need(expression: Expression, context: StoredTimeframe): Need {
    let known = this.#known.get(context);
    if (known === undefined) this.#known.set(context, (known = new Map()));
    const found = known.get(expression);
    if (found !== undefined) return found;
    const need = this.#measure(expression as Node<Expression['kind']>, context);
    known.set(expression, need);
    return need;
  }

  /** The most that any of these needs, on bars of the context. */
  #most(expressions: readonly unknown[], context: StoredTimeframe): number {
    return expressions.reduce(
      (most: number, one) =>
        one === undefined ? most : Math.max(most, inBars(this.#need(one as Expression, context), context)),
      0,
    );
  }

  /** Value kinds run on the one other timeframe that their inputs share, else on the context's bars (semantics §1.6). */
  #shared(expressions: readonly unknown[], context: StoredTimeframe, extraBars: number): Need {
    const needs = expressions.map((one) => this.#need(one as Expression, context));
    const timeframes = new Set(needs.flatMap(({ timeframe }) => (timeframe === null ? [] : [timeframe])));
    const timeframe = timeframes.size === 1 ? [...timeframes][0] : context;
    const bars = needs.reduce((most, need) => Math.max(most, inBars(need, timeframe)), 0);
    return { timeframe: timeframes.size === 0 && extraBars === 0 ? null : timeframe, bars: bars + extraBars };
  }

  #measure(node: Node<Expression['kind']>, context: StoredTimeframe): Need {
    switch (node.kind) {
      case 'const':
        return NOTHING;
      case 'time':
        return { timeframe: context, bars: 0 };
      case 'shift': {
        const source = this.#need(node.source, context);
        if (source.timeframe === null) return NOTHING;
        return { timeframe: context, bars: inBars(source, context) + node.offset };
      }
      case 'market':
      case 'series':
        return { timeframe: node.timeframe ?? context, bars: node.offset ?? 0 };
      case 'state':
        return { timeframe: context, bars: node.offset ?? 0 };
      case 'pivot':
        return { timeframe: node.timeframe ?? context, bars: node.left + node.right };
      case 'indicator': {
        const definition = findIndicator(node.indicator)!;
        const sources = node.sources ?? (node.source === undefined ? [] : [node.source]);
        const extra = this.#rows(definition, node.args ?? {}) + (node.offset ?? 0);
        const isPlaced = node.timeframe !== undefined || node.instrument !== undefined;
        // Beside bar columns, a source is read on the same bars; alone, on its own.
        const readsBars = definition.inputs.length > seriesInputsOf(definition).length;
        if (!isPlaced && !readsBars) return this.#shared(sources, context, extra);
        const own = node.timeframe ?? context;
        return { timeframe: own, bars: this.#most(sources, own) + extra };
      }
      case 'rolling':
        return this.#shared([node.source], context, windowOf(node.op, node.period) - 1 + (node.offset ?? 0));
      case 'math':
        return this.#shared(node.args, context, 0);
      default:
        return { timeframe: context, bars: this.#onContext(node, context) };
    }
  }

  /** The kinds that always run on the context's bars: conditions, and values that read one. */
  #onContext(node: Node<Expression['kind']>, context: StoredTimeframe): number {
    const most = (...inputs: unknown[]): number => this.#most(inputs, context);
    switch (node.kind) {
      case 'if':
        return most(node.cond, node.then, node.else);
      case 'bars_since':
        return most(node.when);
      case 'value_when':
      case 'capture':
        return most(node.value, node.when);
      case 'compare':
      case 'near':
        return most(node.left, node.right);
      case 'between':
        return most(node.value, node.lower, node.upper);
      case 'cross':
        return most(node.left, node.right) + 1 + (node.within ?? 1) - 1;
      case 'rising':
      case 'falling':
        return inBars(this.#shared([node.source], context, node.bars), context);
      case 'pattern': {
        const own = findPattern(node.name)!.lookback(node.args ?? {});
        const bars = own + (node.offset ?? 0) + (node.within ?? 1) - 1;
        return inBars({ timeframe: node.timeframe ?? context, bars }, context);
      }
      case 'all':
      case 'and':
      case 'any':
      case 'or':
        return most(...node.items);
      case 'not':
        return most(node.item);
      case 'sequence':
        return most(...node.steps.map((step) => step.expr));
      case 'rolling_window':
        return most(node.expr) + (node.mode === 'streak' ? (node.value ?? node.window) : node.window) - 1;
      case 'state_machine':
        return most(node.set, node.reset);
      default:
        return 0;
    }
  }
}

/** A need counted on other bars. Of a coarser timeframe, `bars` + 1 must have closed; the worst phase begins with a whole one. */
function inBars({ timeframe, bars }: Need, wanted: StoredTimeframe): number {
  if (timeframe === null || timeframe === wanted) return bars;
  const ratio = TIMEFRAME_MS[timeframe] / TIMEFRAME_MS[wanted];
  return ratio >= 1 ? (bars + 1) * ratio - 1 : Math.ceil(bars * ratio) + 1;
}
