// History over state: what a node remembers from close to close, of the account or of a position, and its memory.
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

/** The latest values; NaN beyond the first one recorded. */
export class Ring {
  readonly #values: Float64Array;
  #count = 0;
  constructor(size: number) {
    this.#values = new Float64Array(size).fill(NaN);
  }
  push(value: number): void {
    this.#values[this.#count++ % this.#values.length] = value;
  }
  ago(bars: number): number {
    return bars < this.#count ? this.#values[(this.#count - 1 - bars) % this.#values.length] : NaN;
  }
  get isFull(): boolean {
    return this.#count >= this.#values.length;
  }
  /** Oldest first. */
  toArray(): Float64Array {
    const size = this.#values.length;
    return Float64Array.from({ length: size }, (_, index) => this.ago(size - 1 - index));
  }
}

const POSITION_FIELDS: ReadonlySet<unknown> = new Set(POSITION_STATE_FIELDS);

/** Whether an expression reads a state field of a position. */
export function readsPosition(expression: object): boolean {
  if ('kind' in expression && expression.kind === 'state' && 'field' in expression) {
    return POSITION_FIELDS.has(expression.field);
  }
  return Object.values(expression).some((part) => typeof part === 'object' && part !== null && readsPosition(part));
}

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
