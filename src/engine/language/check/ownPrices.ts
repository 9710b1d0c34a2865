// Expressions that may answer differently for each instrument of a run, because they read the bars of each of them.
import { writtenKind } from '../../definitions/expressions/expressionRegistry.ts';
import type { Expression } from '../grammar/ast.ts';
import { childrenOf } from '../grammar/visit.ts';

/** Whether an expression reads the bars of the instrument that it is evaluated for. A malformed one does not. */
export function readsOwnPrices(expression: Expression): boolean {
  const seen = new Set<Expression>();
  const stack = [expression];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    // Whatever stands below a node with an instrument reads that one.
    if ('instrument' in node && node.instrument != null) continue;
    const kind = writtenKind(node);
    if (kind.isCommon?.(node) === true) continue;
    if (kind.readsOwnBars?.(node) === true) return true;
    for (const child of childrenOf(node)) stack.push(child);
  }
  return false;
}

/** The way out of an allocation that asks each instrument for one answer of the account. */
export const ASK_ONE =
  'Name one instrument in it ("instrument": {"symbol": "SPX"}), use a schedule, or compare a cross_section that is ' +
  'the same for all, such as share.';
