// Which expressions read position or account state: those are evaluated in the loop, all others as columns before it.
import { readsState } from '../definitions/expressions/expressionRegistry.ts';
import type { RunnableExpression } from '../language/grammar/ast.ts';
import { childrenOf } from '../language/grammar/visit.ts';

/** Whether an expression reads position or account state. Every object is examined once. */
export class StateReaders {
  readonly #known = new Map<object, boolean>();

  has(expression: RunnableExpression): boolean {
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    const reads = readsState(expression) || childrenOf(expression).some((child) => this.has(child));
    this.#known.set(expression, reads);
    return reads;
  }
}
