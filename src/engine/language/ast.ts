// The grammar of `svc.strategy` version 1 (design §3.1), gathered, and the form of a strategy that the stages after `language` read.
import type { Entry, Exit, Risk } from './strategy.ts';
import type { ParamRef, ParamValue } from './expressions.ts';

export * from './words.ts';
export * from './expressions.ts';
export * from './strategy.ts';

/** T with every parameter reference replaced by the number it stands for. */
export type Concrete<T> = T extends ParamRef | ParamValue
  ? never
  : T extends object
    ? { [K in keyof T]: Concrete<T[K]> }
    : T;

/**
 * What the stages after `language` read. Parameters are replaced by numbers, aliases resolved (`and`/`or` → `all`/`any`, `exit` → `exits`,
 * one entry → a list, `typical` → `hlc3`, `median` → `hl2`, indicator and pattern names → ids), and absent members filled with their
 * defaults, so that a reader needs no `??`:
 * - an indicator has every arg but `source`, `output`, `offset`, and its series inputs as expressions: `source` for one (`args.source` and
 *   the default close become a `market` node), `sources` in the definition's order for several; both absent where it reads bars only;
 * - a pattern has its args, `side`, `within`, `offset`; a cross `within`; a compare `tolerance`; a time_window `timezone`;
 * - shifts over base-timeframe nodes have become their `offset`;
 * - an exit has `appliesTo`, `priority`, `action`; an entry `filters`, `cooldownBars`, `conflict` and `action.order`.
 * Author's ids, labels and descriptions stay. Sub-trees may share identity: nothing may write to them.
 */
export interface RunnableStrategy {
  readonly entries: readonly Concrete<Entry>[];
  readonly exits: readonly Concrete<Exit>[];
  readonly risk: Concrete<Risk>;
  readonly timezone: string;
  readonly maxConcurrentPositions: number;
  /** settings.warmupPeriod, else defaults.warmupBars, else null: inferredLookback. */
  readonly warmupBars: number | null;
}
