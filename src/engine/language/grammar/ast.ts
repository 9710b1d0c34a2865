// The grammar of `svc.strategy` version 1 in one import, and the form of a strategy that the later stages read.
import type { z } from 'zod';
import type { canonicalField, MARKET_FIELDS } from '../../definitions/words.ts';
import type { ConditionKind, Expression, ExpressionSchemas, Kind, SequenceStep, ValueKind } from './expressions.ts';
import type { WithChildren } from './childMembers.ts';
import type { ParamRef } from '../../definitions/expressionMembers.ts';
import type { Entry, Exit, Risk } from './strategy.ts';

export * from '../../definitions/words.ts';
export * from './expressions.ts';
export * from './strategy.ts';

/** Members that the canonical form always has, although their default depends on more than the grammar knows. */
interface AlwaysWritten {
  market: { field: ReturnType<typeof canonicalField<(typeof MARKET_FIELDS)[number]>> };
  indicator: { args: Record<string, number | string | boolean>; output: string };
  pattern: { args: Record<string, number> };
  time_window: { timezone: string };
}

/** T with every parameter reference replaced by the number it stands for. */
type WithoutParams<T> = T extends ParamRef ? never : T extends object ? { [M in keyof T]: WithoutParams<T[M]> } : T;

/**
 * Kinds that are left once a strategy can run: `and` and `or` are written `all` and `any`, and a `param` is a `const`.
 */
export type RunnableKind = Exclude<Kind, 'and' | 'or' | 'param'>;
type RunnableMembers<K extends RunnableKind> = WithoutParams<z.output<ExpressionSchemas[K]>>;
/** An expression as the later stages read it, by kind. */
type RunnableNode<K extends RunnableKind> = K extends RunnableKind
  ? WithChildren<
      K,
      K extends keyof AlwaysWritten
        ? Omit<RunnableMembers<K>, keyof AlwaysWritten[K]> & AlwaysWritten[K]
        : RunnableMembers<K>,
      RunnableTypes
    >
  : never;
/** The same as a map, for tables with one entry per kind. */
export type RunnableNodes = { [K in RunnableKind]: RunnableNode<K> };
interface RunnableTypes {
  readonly value: RunnableValue;
  readonly condition: RunnableCondition;
  readonly step: RunnableStep;
}
export type RunnableValue = RunnableNode<Exclude<ValueKind, 'param'>>;
export type RunnableCondition = RunnableNode<Exclude<ConditionKind, 'and' | 'or'>>;
export type RunnableExpression = RunnableValue | RunnableCondition;
type RunnableStep = WithoutParams<Omit<z.output<typeof SequenceStep>, 'expr'>> & { expr: RunnableCondition };

/** A section of the strategy with its defaults filled in, without parameters, over runnable expressions. */
type Runnable<T> = T extends ParamRef
  ? never
  : T extends Expression
    ? RunnableNode<Extract<T['kind'], RunnableKind>>
    : T extends object
      ? { [M in keyof T]: Runnable<T[M]> }
      : T;
export type RunnableEntry = Runnable<z.output<typeof Entry>>;
export type RunnableExit = Runnable<z.output<typeof Exit>>;
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
  readonly risk: RunnableRisk;
  readonly timezone: string;
  readonly maxConcurrentPositions: number;
  /** settings.warmupPeriod, else defaults.warmupBars, else null: inferredLookback. */
  readonly warmupBars: number | null;
}
