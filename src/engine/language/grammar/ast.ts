// The grammar of `svc.strategy` version 1 in one import, and the form of a strategy that the later stages read.
import type { z } from 'zod';
import type { CONDITION_DEFINITIONS, VALUE_DEFINITIONS } from '../../definitions/expressions/expressionRegistry.ts';
import type { ParamRef } from '../../definitions/expressionMembers.ts';
import type { Expression, NodeOf } from './expressions.ts';
import type { Allocation } from './allocationSchemas.ts';
import type { Entry, Exit, Risk } from './strategy.ts';

export * from '../../definitions/words.ts';
export * from './allocationSchemas.ts';
export * from './expressions.ts';
export * from './strategy.ts';

/** The members of every kind that a run can have: the definition of each names them in its first parameter. */
type MembersOf<D> = D extends { text(node: infer N, ...rest: never): string } ? N : never;
type RunnableValueMembers = MembersOf<(typeof VALUE_DEFINITIONS)[number]>;
type RunnableConditionMembers = MembersOf<(typeof CONDITION_DEFINITIONS)[number]>;
type RunnableValueKind = RunnableValueMembers['kind'];
/**
 * Kinds that are left once a strategy can run: `and` and `or` are written `all` and `any`, and a `param` is a `const`.
 */
export type RunnableKind = RunnableValueKind | RunnableConditionMembers['kind'];
/** An expression as the later stages read it, by kind. */
export type RunnableNodes = {
  [N in RunnableValueMembers | RunnableConditionMembers as N['kind']]: NodeOf<N['kind'], N, RunnableTypes>;
};
interface RunnableTypes {
  readonly value: RunnableValue;
  readonly condition: RunnableCondition;
}
export type RunnableValue = RunnableNodes[RunnableValueKind];
export type RunnableCondition = RunnableNodes[Exclude<RunnableKind, RunnableValueKind>];
export type RunnableExpression = RunnableValue | RunnableCondition;

/** A section of the strategy with its defaults filled in, without parameters, over runnable expressions. */
type Runnable<T> = T extends ParamRef
  ? never
  : T extends Expression
    ? RunnableNodes[Extract<T['kind'], RunnableKind>]
    : T extends object
      ? { [M in keyof T]: Runnable<T[M]> }
      : T;
export type RunnableEntry = Runnable<z.output<typeof Entry>>;
export type RunnableExit = Runnable<z.output<typeof Exit>>;
export type RunnableAllocation = Runnable<z.output<typeof Allocation>>;
export type RunnableRisk = Runnable<z.output<typeof Risk>>;

/**
 * What the stages after `language` read. Parameters are replaced by numbers, aliases resolved (`and`/`or` →
 * `all`/`any`, `exit` → `exits`, one entry → a list, `typical` → `hlc3`, `median` → `hl2`, indicator and pattern names
 * → ids), and every default of the grammar is written out, so that a reader needs no `??`. Beyond the grammar's
 * defaults:
 * - an indicator has every arg but `source`, its `output`, and its series inputs as expressions: `source` for one
 *   (`args.source` and the default close become a `market` node), `sources` in the definition's order for several; both
 *   are absent where it reads bars only;
 * - a pattern has all its args; a time_window its `timezone`; a rolling_window of mode `streak` its `value`;
 * - shifts over base-timeframe nodes have become their `offset`. Author's ids, labels and descriptions stay. Sub-trees
 *   may share identity: nothing may write to them.
 */
export interface RunnableStrategy {
  readonly entries: readonly RunnableEntry[];
  readonly exits: readonly RunnableExit[];
  /** In place of entries and exits, of which there are none then. */
  readonly allocation: RunnableAllocation | null;
  readonly risk: RunnableRisk;
  readonly timezone: string;
  readonly maxConcurrentPositions: number;
  /** settings.warmupPeriod, else defaults.warmupBars, else null: inferredLookback. */
  readonly warmupBars: number | null;
}
