// How expressions over position and account state are read in the loop: functions of a row, the state and a memory.
import type { RunnableCondition, RunnableExpression, RunnableValue } from '../language/grammar/ast.ts';
import type { StateMemory, StateView } from './tradingRules.ts';

/** 0 false, 1 true, 2 unknown. */
export type Truth = 0 | 1 | 2;
/** NaN: missing. */
export type ReadValue = (row: number, state: StateView, memory: StateMemory) => number;
export type ReadTruth = (row: number, state: StateView, memory: StateMemory) => Truth;

/** What a kind binds its parts with. */
export interface StatefulParts {
  value(node: RunnableValue): ReadValue;
  truth(node: RunnableCondition): ReadTruth;
  /** What `read` returned `bars` evaluated bars ago. */
  delayed(node: RunnableExpression, read: ReadValue, bars: number): ReadValue;
  /** Adds a history node for an expression and returns the accessor of its memory. */
  remember<Memory extends object>(
    expression: RunnableExpression,
    create: () => Memory,
    record: (memory: Memory, row: number, state: StateView, all: StateMemory) => void,
  ): (memory: StateMemory) => Memory;
}

/** Kinds without a state node below them are columns; validation rejects an indicator over state. */
export function neverOverState({ kind }: { readonly kind: string }): never {
  throw new Error(`A ${kind} node was bound as an expression over state.`);
}
