// History over state: what a node remembers from close to close, of the account or of a position, and its memory.
import type { RunnableExpression } from '../language/grammar/ast.ts';
import { childrenOf } from '../language/grammar/visit.ts';
import { POSITION_STATE_FIELDS, type Stateful, type StateMemory, type StateView } from './tradingRules.ts';

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

/** Room of a new ring, which grows as values are recorded: few positions last as long as the longest window. */
const FIRST_VALUES = 16;

/** The latest values; NaN before the first one recorded. */
export class Ring {
  readonly #size: number;
  #values: Float64Array;
  #count = 0;
  constructor(size: number) {
    this.#size = size;
    this.#values = new Float64Array(Math.min(size, FIRST_VALUES));
  }
  push(value: number): void {
    const at = this.#count++ % this.#size;
    if (at === this.#values.length) {
      const grown = new Float64Array(Math.min(this.#size, 2 * at));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[at] = value;
  }
  ago(bars: number): number {
    return bars < this.#count ? this.#values[(this.#count - 1 - bars) % this.#size] : NaN;
  }
  get isFull(): boolean {
    return this.#count >= this.#size;
  }
  /** The values of a full ring, oldest first. */
  toArray(): Float64Array {
    const oldest = this.#count % this.#size;
    const values = new Float64Array(this.#size);
    values.set(this.#values.subarray(oldest));
    values.set(this.#values.subarray(0, oldest), this.#size - oldest);
    return values;
  }
}

const POSITION_FIELDS: ReadonlySet<unknown> = new Set(POSITION_STATE_FIELDS);

/** Whether an expression reads a state field of a position. */
export const readsPosition = (expression: RunnableExpression): boolean =>
  expression.kind === 'state' ? POSITION_FIELDS.has(expression.field) : childrenOf(expression).some(readsPosition);

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
