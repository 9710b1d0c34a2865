// Trade columns: name, type and unit of each column of the trade rows and their files.
import type { TradeRow } from './tradeTable.ts';

/** Quantities are in units of the base, money in units of the quote, percents are fractions; null: a word or an id. */
type TradeUnit = 'ms' | 'bars' | 'price' | 'base' | 'quote' | 'fraction' | null;

interface TradeColumn {
  readonly type: 'number' | 'count' | 'time' | 'text';
  readonly unit: TradeUnit;
  /** Includes the sign and the range where they are not obvious. */
  readonly description: string;
}

const text = (description: string): TradeColumn => ({ type: 'text', unit: null, description });
const time = (description: string): TradeColumn => ({
  type: 'time',
  unit: 'ms',
  description: `${description} Ms UTC.`,
});
const number = (unit: TradeUnit, description: string): TradeColumn => ({ type: 'number', unit, description });
const count = (unit: 'bars' | null, description: string): TradeColumn => ({ type: 'count', unit, description });
const fraction = (description: string): TradeColumn => number('fraction', `${description} A fraction: 0.05 is 5 %.`);

/** The first column in runs of several instruments. */
export const SYMBOL_COLUMN: TradeColumn = text('The instrument; only in runs of several instruments.');

/** The type determines how a column is written to a file, so that an empty file has the same types as a full one. */
export const TRADE_COLUMNS: Readonly<Record<keyof TradeRow, TradeColumn>> = {
  positionId: count(null, 'Positions count from 1, in the order of their entries.'),
  side: text('`long` or `short`.'),
  entryTime: time('Open time of the bar of the entry.'),
  entryBar: count('bars', 'Bar of the entry, from 0 at the start of the range.'),
  entryPrice: number('price', 'As filled, slippage included.'),
  quantity: number('base', 'Closed by this row, in units of the instrument.'),
  exitTime: time('Open time of the bar of the exit.'),
  exitBar: count('bars', 'Bar of the exit, from 0 at the start of the range.'),
  exitPrice: number('price', 'As filled, slippage included.'),
  entryFee: number('quote', 'Its part of the fee of the entry.'),
  exitFee: number('quote', 'Fee of this fill.'),
  slippage: number('quote', 'What slippage cost, entry (its part) and exit.'),
  pnl: number('quote', 'Net of fees and funding. Below 0 is a loss.'),
  returnPct: fraction('pnl / (quantity · entryPrice). Below 0 is a loss.'),
  maePct: fraction('Worst price held through, as a move from the entry price. 0 or less.'),
  mfePct: fraction('Best price held through, as a move from the entry price. 0 or more.'),
  barsHeld: count('bars', 'exitBar - entryBar.'),
  exitReason: text('What closed it: a rule, a level or the end of the data.'),
  exitMethod: text('How its bar was decided.'),
  exitResolution: text('The timeframe that decided it.'),
  exitPolicy: text('The policy that decided an ambiguous bar; null: none was needed.'),
  exitFineTime: time('Open time of the finer bar that decided; null: none did.'),
  entryRule: text('Id or place of the entry rule.'),
  exitRule: text('Id or place of the exit rule or target; null for other levels.'),
};
