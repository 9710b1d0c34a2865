// A backtest as the rules tell it: every expression as a column, then the fill loop. Of the engine it uses only bars
// and the kernels of
// indicators and patterns, which have references of their own.
import type { Market } from '../../../src/engine/bars/bars.ts';
import type { ResolvedConfig } from '../../../src/engine/config.ts';
import type { RunnableStrategy } from '../../../src/engine/language/grammar/ast.ts';
import { Book, type OrderOutcome, type Position, type ReferenceTrade } from './book.ts';
import { and, type Truth } from './conditions.ts';
import { Evaluator, readsState, type ConditionNode, type ValueNode } from './evaluate.ts';
import { NAIVE } from './indicators.ts';
import { simulate } from './simulate.ts';
import { POSITION_FIELDS, StateRecord } from './state.ts';

export interface ReferenceInput {
  readonly strategy: RunnableStrategy;
  readonly market: Market;
  readonly config: ResolvedConfig;
  /** The first row whose close may signal, and one past the last. */
  readonly start: number;
  readonly end: number;
}
export interface ReferenceRun {
  /** Per rule and bar; null for a rule that reads state. */
  readonly entries: readonly (readonly Truth[] | null)[];
  readonly exits: readonly (readonly Truth[] | null)[];
  readonly trades: readonly ReferenceTrade[];
  readonly orders: readonly OrderOutcome[];
  readonly equity: readonly number[];
  readonly finalBalance: number;
  readonly counts: Book['counts'];
}

export function referenceRun({ strategy, market, config, start, end }: ReferenceInput): ReferenceRun {
  const stateless = new Evaluator(market, strategy.timezone);
  const atr = atrReader(market);
  const { base, instrument, fine: children = null } = market;
  const book = new Book({ strategy, bars: base, children, instrument, config, start, end, atr });
  const state = new StateRecord(book);

  /** Expressions over state, as they are at the close of `row` for an entry (null) or an exit of a position. */
  const evaluatorAt = (row: number, position: Position | null): Evaluator =>
    new Evaluator(market, strategy.timezone, {
      columns: state.columns(position, row + 1),
      rows: row + 1,
      stateless,
      recordedFrom: (fields) =>
        position !== null && fields.some((field) => POSITION_FIELDS.has(field)) ? position.firstRead : start,
    });
  const conjunctsOf = ({ setup, trigger, filters }: RunnableStrategy['entries'][number]): ConditionNode[] => [
    ...(setup === undefined ? [] : [setup]),
    trigger,
    ...filters,
  ];
  const columnOf = (parts: readonly ConditionNode[]): Truth[] | null => {
    if (parts.some(readsState)) return null;
    const columns = parts.map((part) => stateless.condition(part));
    return columns[0].map((_, row) => and(columns.map((column) => column[row])));
  };
  const truthAt = (parts: readonly ConditionNode[], row: number, position: Position | null): Truth => {
    const evaluator = evaluatorAt(row, position);
    return and(parts.map((part) => evaluator.condition(part)[row]));
  };
  const entries = strategy.entries.map((entry) => columnOf(conjunctsOf(entry)));
  const exits = strategy.exits.map(({ when }) => columnOf([when]));
  const equity = simulate(
    book,
    {
      entry: (rule, row) =>
        (entries[rule] === null ? truthAt(conjunctsOf(strategy.entries[rule]), row, null) : entries[rule][row]) ===
        true,
      exit: (rule, row, position) =>
        (exits[rule] === null ? truthAt([strategy.exits[rule].when], row, position) : exits[rule][row]) === true,
      price: (node, row, position) =>
        (readsState(node) ? evaluatorAt(row, position) : stateless).value(node as ValueNode)[row],
      atr,
    },
    state,
  );
  const { trades, orders, counts, account } = book;
  return { entries, exits, trades, orders, equity, finalBalance: account.balance, counts };
}

/** Wilder's ATR of the base bars, NaN while it is missing. */
function atrReader({ base }: Market): (period: number, row: number) => number {
  const columns = new Map<number, readonly number[]>();
  return (length, row) => {
    if (!columns.has(length))
      columns.set(length, NAIVE.atr([[...base.high], [...base.low], [...base.close]], { length }));
    return columns.get(length)![row];
  };
}
