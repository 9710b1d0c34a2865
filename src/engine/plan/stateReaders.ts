// Which expressions read position or account state: they are evaluated in the loop, all others as columns before it.
import type { Concrete, Expression } from '../language/ast.ts';
import { pointerTo } from '../language/pointer.ts';
import { childSlots } from '../language/visit.ts';

export type Node = Concrete<Expression>;

export interface Below {
  /** RFC 6901, from the parent. */
  readonly pointer: string;
  readonly node: Node;
}

/** The expressions directly below a node, in the order of the grammar. */
export const belowOf = (node: Node): Below[] =>
  childSlots(node as Expression).map(({ path, expression }) => ({
    pointer: pointerTo('', ...path),
    node: expression as Node,
  }));

/** Whether an expression reads position or account state; each object is looked at once. */
export class StateReaders {
  readonly #known = new Map<object, boolean>();

  has(node: Node): boolean {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    const reads = node.kind === 'state' || belowOf(node).some((child) => this.has(child.node));
    this.#known.set(node, reads);
    return reads;
  }
}
