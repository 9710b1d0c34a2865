// From expressions to steps: which bars each node runs on (semantics §1.6, §1.7), and what it computes there.
import {
  conditionKind,
  conditionKindIfAny,
  runnableValueKind,
  type runnableKind,
} from '../definitions/expressions/expressionRegistry.ts';
import type { Child, ConditionChild, ValueChild } from '../definitions/expressions/places.ts';
import type { StepCompiler } from '../definitions/expressions/planSteps.ts';
import { frameText, type PlanBuilder } from './builder.ts';
import type { Frame, Slot } from './plan.ts';

/**
 * Compiles stateless expressions. `ambient` is the frame of nodes without a timeframe: the base, or the frame of the
 * enclosing node whose `timeframe` applies to its whole source. Every object is compiled once, so that a graph with
 * shared nodes takes linear time.
 */
export class ExpressionCompiler implements StepCompiler {
  readonly builder: PlanBuilder;
  readonly timezone: string;
  readonly #ownSymbol: string;
  readonly #compiled = new Map<string, Map<object, Slot>>();

  /** @param ownSymbol of the instrument that the run trades */
  constructor(builder: PlanBuilder, timezone: string, ownSymbol: string) {
    this.builder = builder;
    this.timezone = timezone;
    this.#ownSymbol = ownSymbol;
  }

  /** The value on its own frame. */
  value(expression: ValueChild, ambient: Frame): Slot {
    return this.#once(expression, ambient, runnableValueKind(expression));
  }

  /** The value as it is known on the bars of `ambient`. */
  valueOn(expression: ValueChild, ambient: Frame): Slot {
    return this.builder.align(this.value(expression, ambient), ambient);
  }

  /** Conditions always run on the ambient frame. */
  condition(expression: ConditionChild, ambient: Frame): Slot {
    return this.#once(expression, ambient, conditionKind(expression));
  }

  isCondition(expression: Child): expression is ConditionChild {
    return conditionKindIfAny(expression) !== undefined;
  }

  #once(expression: Child, ambient: Frame, kind: ReturnType<typeof runnableKind>): Slot {
    const key = frameText(ambient);
    let slots = this.#compiled.get(key);
    if (!slots) this.#compiled.set(key, (slots = new Map()));
    const known = slots.get(expression);
    if (known !== undefined) return known;
    const slot = kind.step(expression, this, ambient);
    slots.set(expression, slot);
    return slot;
  }

  placed(
    { timeframe, instrument }: { readonly timeframe?: Frame['timeframe']; readonly instrument?: { symbol: string } },
    ambient: Frame,
  ): Frame {
    if (timeframe === undefined && instrument === undefined) return ambient;
    let { symbol } = ambient;
    if (instrument !== undefined) symbol = instrument.symbol === this.#ownSymbol ? null : instrument.symbol;
    return { symbol, timeframe: timeframe ?? ambient.timeframe };
  }
}
