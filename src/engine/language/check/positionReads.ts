// The check of what entries read of positions: with several positions open, a position field is that of one of them.
import { stateFieldOf } from '../../definitions/expressions/expressionRegistry.ts';
import type { Expression } from '../grammar/ast.ts';
import type { IssueLog } from '../issues/issues.ts';
import { childrenOf, type Root } from '../grammar/visit.ts';
import type { PointerOf } from './sectionChecks.ts';

/** Fields that are easily taken for those of all positions together, and what says that instead. */
const OF_ALL: Readonly<Record<string, string>> = {
  position_entry_price: 'position_average_price, the average entry price of all open positions',
  position_size: 'account_gross_exposure, the value of all open positions',
  position_unrealized_pnl: 'account_equity less account_balance, the unrealized profit of all open positions',
  position_unrealized_pnl_pct: 'account_equity less account_balance, the unrealized profit of all open positions',
};

interface Context {
  readonly log: IssueLog;
  readonly pointerOf: PointerOf;
  readonly maxConcurrentPositions: number;
}

/** READS_ONE_POSITION: outside exits, a position field is that of the position opened last (semantics §1.10). */
export function checkPositionReads(roots: readonly Root[], { log, pointerOf, maxConcurrentPositions }: Context): void {
  if (maxConcurrentPositions < 2) return;
  const seen = new Set<Expression>();
  const stack = roots.filter(({ role }) => role !== 'exit').map(({ expression }) => expression);
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    for (const child of childrenOf(node)) stack.push(child);
    const field = stateFieldOf(node);
    if (field === undefined) continue;
    const all = Object.hasOwn(OF_ALL, field) ? OF_ALL[field] : undefined;
    if (all === undefined) continue;
    log.add('READS_ONE_POSITION', pointerOf(node, 'field'), {
      message:
        `${field} is read outside an exit, where it is that of the position opened last: of up to ` +
        `${maxConcurrentPositions} positions, the others are not in it.`,
      suggestion: `Use ${all}. Leave it if the position opened last is meant.`,
    });
  }
}
