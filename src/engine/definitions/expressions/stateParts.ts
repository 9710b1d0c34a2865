// Expressions over position and account state as the loop reads them: functions of a row, the state and a memory.
import type { Child, ConditionChild, ValueChild } from './places.ts';

/** 0 false, 1 true, 2 unknown. */
export type Truth = 0 | 1 | 2;

/**
 * Position and account state before the orders of this bar, as semantics §1.10 defines it for the rule; NaN: missing.
 */
export interface StateView {
  /** `field` is an index into STATE_FIELDS. */
  read(field: number): number;
}

/**
 * The memories of a rule's history nodes over state (rings, counters): one list per entry rule, one per open position
 * in exits.
 */
export type StateMemory = readonly object[];

/** NaN: missing. */
export type ReadValue = (row: number, state: StateView, memory: StateMemory) => number;
export type ReadTruth = (row: number, state: StateView, memory: StateMemory) => Truth;

/** What a kind binds its parts with. */
export interface StatefulParts {
  value(child: ValueChild): ReadValue;
  truth(child: ConditionChild): ReadTruth;
  /** What `read` returned `bars` evaluated bars ago. */
  delayed(node: Child, read: ReadValue, bars: number): ReadValue;
  /** Adds a history node for an expression and returns the accessor of its memory. */
  remember<Memory extends object>(
    node: Child,
    create: () => Memory,
    record: (memory: Memory, row: number, state: StateView, all: StateMemory) => void,
  ): (memory: StateMemory) => Memory;
}

/** True when every part is; false when one is false; else unknown. Parts after a false one are not read. */
export const every =
  (parts: readonly ReadTruth[]): ReadTruth =>
  (row, state, memory) => {
    let answer: Truth = 1;
    for (const part of parts) {
      const truth = part(row, state, memory);
      if (truth === 0) return 0;
      if (truth === 2) answer = 2;
    }
    return answer;
  };
/** True when some part is; unknown when one is unknown; else false. Parts after a true one are not read. */
export const some =
  (parts: readonly ReadTruth[]): ReadTruth =>
  (row, state, memory) => {
    let answer: Truth = 0;
    for (const part of parts) {
      const truth = part(row, state, memory);
      if (truth === 1) return 1;
      if (truth === 2) answer = 2;
    }
    return answer;
  };
