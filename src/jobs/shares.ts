// Shares: how claimed work is divided among waiting tickets (db/tickets.ts), and which work is quick.
import { COST_PER_SHARE } from '../db/tickets.ts';

/** A backtest that costs no more is quick: it does not wait behind slow ones, whoever they belong to. */
export const QUICK_COST = COST_PER_SHARE;
/**
 * A shard of a sweep or robustness check that costs no more is quick: it does not wait behind longer ones. Those of
 * small sweeps and checks are quick; those of larger ones cost twice as much (COST_PER_SHARD).
 */
export const QUICK_SHARD_COST = 15_000_000;
/** Below this, dividing work between threads costs more than it gains. */
const MIN_COST_PER_SHARE = 20_000;

/**
 * A ticket keeps working for this long while anything is due, then adds a new ticket, so that hosts that joined later
 * get a part.
 */
export const TICKET_MS = 10_000;

/** Divides into at most `count` shares of about equal cost, in order; fewer when there is little to divide. */
export function divide<Item extends { readonly cost: number }>(items: readonly Item[], count: number): Item[][] {
  const total = items.reduce((sum, item) => sum + item.cost, 0);
  const wanted = Math.max(1, Math.min(count, items.length, Math.ceil(total / MIN_COST_PER_SHARE)));
  const shares: Item[][] = [];
  let cost = 0;
  for (const item of items) {
    // The share that the middle of the item falls into.
    const share = Math.min(wanted - 1, Math.floor(((cost + item.cost / 2) / total) * wanted));
    (shares[share] ??= []).push(item);
    cost += item.cost;
  }
  return shares.filter((share) => share !== undefined);
}
