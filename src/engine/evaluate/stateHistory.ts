// History over state: what a node remembers from close to close, of the account or of a position, and its memory.
import { readsState, stateFieldOf } from '../definitions/expressions/expressionRegistry.ts';
import type { RunnableExpression } from '../language/grammar/ast.ts';
import { childrenOf } from '../language/grammar/visit.ts';
import type { StateMemory, StateView } from '../definitions/expressions/stateParts.ts';
import { POSITION_STATE_FIELDS, type Stateful } from './tradingRules.ts';

/**
 * A node with a memory, recorded on every evaluated bar. In an exit, a memory of position state starts with the
 * position.
 */
export interface HistoryNode {
  /** Whether position state is read below it; otherwise it reads account state only. */
  readonly isOfPosition: boolean;
  create(): object;
  record(row: number, state: StateView, memory: StateMemory): void;
}

const POSITION_FIELDS: ReadonlySet<unknown> = new Set(POSITION_STATE_FIELDS);

/** Whether an expression reads a state field of a position. */
export const readsPosition = (expression: RunnableExpression): boolean =>
  readsState(expression) ? POSITION_FIELDS.has(stateFieldOf(expression)) : childrenOf(expression).some(readsPosition);

/** What a bound expression records at each close, with the nodes that read position state apart from the others. */
export function historyOf(history: readonly HistoryNode[]): Stateful {
  const ofAccount = history.filter(({ isOfPosition }) => !isOfPosition);
  const ofPosition = history.filter(({ isOfPosition }) => isOfPosition);
  const recordAll = (nodes: readonly HistoryNode[]) => (row: number, state: StateView, memory: StateMemory) => {
    for (const node of nodes) node.record(row, state, memory);
  };
  return {
    hasAccountHistory: ofAccount.length > 0,
    hasPositionHistory: ofPosition.length > 0,
    newMemory: (account) =>
      history.map((node, index) => (account === null || node.isOfPosition ? node.create() : account[index])),
    recordAccount: recordAll(ofAccount),
    recordPosition: recordAll(ofPosition),
  };
}
