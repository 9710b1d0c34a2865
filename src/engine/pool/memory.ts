// Memory: an estimate of what a run may need, made before it starts (admission.ts bounds what runs at once).
import type { Snapshot } from '../bars/arrow.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import { visitObjects } from '../language/grammar/payloadObjects.ts';

/**
 * Equity, marks, order and trade columns of the loop, and the two intermediate columns of a typical kernel: 16 float64
 * per bar.
 */
const BYTES_PER_BAR = 16 * 8;
/** One float64 column per node; plans reuse buffers, so this is above what is used. */
const BYTES_PER_NODE_BAR = 8;
/** A thread's own heap while it runs the smallest backtest. */
const BYTES_PER_RUN = 8 << 20;
/**
 * A row of a snapshot: time and five prices of 8 bytes. Extra columns make rows longer and the estimate higher, which
 * is safe.
 */
const BYTES_PER_ROW = 6 * 8;

/** Bytes a run may need at its peak, besides the shared snapshots: two to five times what it uses. */
export function estimateRunBytes(strategyAst: StrategyAst, snapshots: readonly Snapshot[]): number {
  const rows = Math.max(0, ...snapshots.map((snapshot) => snapshot.buffer.byteLength / BYTES_PER_ROW));
  return BYTES_PER_RUN + rows * (BYTES_PER_BAR + BYTES_PER_NODE_BAR * countNodes(strategyAst));
}

const counted = new WeakMap<object, number>();

/** How many nodes a strategy has: objects with a `kind`. */
function countNodes(strategyAst: StrategyAst): number {
  const known = counted.get(strategyAst);
  if (known !== undefined) return known;
  let count = 0;
  visitObjects(strategyAst, (object) => {
    if ('kind' in object) count++;
  });
  counted.set(strategyAst, count);
  return count;
}
