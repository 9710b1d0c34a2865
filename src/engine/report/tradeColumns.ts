// Trade columns: name, type and unit of each column of the trade rows and their files.
import type { TradeRow } from './tradeTable.ts';

/** Quantities are in units of the base, money in units of the quote, percents are fractions; null: a word or an id. */
export type TradeUnit = 'ms' | 'bars' | 'price' | 'base' | 'quote' | 'fraction' | null;

interface TradeColumn {
  readonly type: 'number' | 'time' | 'text';
  readonly unit: TradeUnit;
}

const text: TradeColumn = { type: 'text', unit: null };
const time: TradeColumn = { type: 'time', unit: 'ms' };
const number = (unit: TradeUnit): TradeColumn => ({ type: 'number', unit });

/** The type determines how a column is written to a file, so that an empty file has the same types as a full one. */
export const TRADE_COLUMNS: Readonly<Record<keyof TradeRow, TradeColumn>> = {
  positionId: number(null),
  side: text,
  entryTime: time,
  entryBar: number('bars'),
  entryPrice: number('price'),
  quantity: number('base'),
  exitTime: time,
  exitBar: number('bars'),
  exitPrice: number('price'),
  entryFee: number('quote'),
  exitFee: number('quote'),
  slippage: number('quote'),
  pnl: number('quote'),
  returnPct: number('fraction'),
  maePct: number('fraction'),
  mfePct: number('fraction'),
  barsHeld: number('bars'),
  exitReason: text,
  exitMethod: text,
  exitResolution: text,
  exitPolicy: text,
  exitFineTime: time,
  entryRule: text,
  exitRule: text,
};
