// Junctions: what `all` and `any` share: their items, and one form for nested and single ones.
import { z } from 'zod';
import { named } from '../expressionMembers.ts';
import type { Rewriter, WrittenNode } from './expressionDefinition.ts';
import { conditionPlace } from './places.ts';

/** The most items of one `all` or `any`. */
const MAX_ITEMS = 1_024;

export const itemMembers = { ...named, items: z.array(conditionPlace).min(1).max(MAX_ITEMS) };

/** Nested lists of the same kind without an id are flattened, and a list of one item becomes the item. */
export function rewriteJunction(
  kind: 'all' | 'any',
  node: WrittenNode,
  isPlaced: boolean,
  rewriter: Rewriter,
): WrittenNode {
  const items: WrittenNode[] = [];
  for (const item of node.items as WrittenNode[]) {
    const made = rewriter.child(item, isPlaced);
    if (made.kind === kind && made.id === undefined) items.push(...(made.items as WrittenNode[]));
    else items.push(made);
  }
  const names = rewriter.names(node);
  return items.length === 1 && names.id === undefined ? items[0] : { ...names, kind, items };
}
