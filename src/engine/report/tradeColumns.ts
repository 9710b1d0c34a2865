// Trade columns: name, type, unit and value of each column, for trade rows, their files and the result hash.
import type { BoundRules } from '../evaluate/bindRules.ts';
import type { Trade } from '../simulate/simulation.ts';

/** What the rows and rule indexes of a trade refer to. */
export interface TradeContext {
  /** Open time of each row, ms UTC. */
  readonly time: Float64Array;
  /** First row of the range: bars are counted from it. */
  readonly firstRow: number;
  readonly boundRules: Pick<BoundRules, 'entries' | 'exits' | 'targetPaths'>;
}

/** One closing fill as results and files show it. */
export type TradeRow = Readonly<ReturnType<typeof tradeRow>>;

/**
 * The values, in the order of the files and of the result hash. A literal, because a loop over accessors takes five
 * times as long (240 µs for 500 trades instead of 45). The compiler requires a column below for each member, and
 * resultHash.ts iterates over the members.
 */
export function tradeRow(trade: Trade, { time, firstRow, boundRules }: TradeContext) {
  return {
    positionId: trade.positionId,
    side: trade.side === 1 ? ('long' as const) : ('short' as const),
    entryTime: time[trade.entryRow],
    entryBar: trade.entryRow - firstRow,
    entryPrice: trade.entryPrice,
    quantity: trade.quantity,
    exitTime: time[trade.exitRow],
    exitBar: trade.exitRow - firstRow,
    exitPrice: trade.exitPrice,
    entryFee: trade.entryFee,
    exitFee: trade.exitFee,
    slippage: trade.slippage,
    pnl: trade.pnl,
    returnPct: trade.returnPct,
    maePct: trade.maePct,
    mfePct: trade.mfePct,
    barsHeld: trade.exitRow - trade.entryRow,
    exitReason: trade.exitReason,
    exitMethod: trade.exitMethod,
    exitResolution: trade.exitResolution as string,
    exitPolicy: trade.exitPolicy as string | null,
    exitFineTime: trade.exitFineTime,
    entryRule: boundRules.entries[trade.entryRule].id,
    exitRule: exitRuleOf(trade, boundRules),
  };
}

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

/** The exit's id for a signal, the pointer of the ladder's step for a take profit. */
function exitRuleOf({ exitReason, exitRule }: Trade, boundRules: TradeContext['boundRules']): string | null {
  if (exitRule === null) return null;
  return exitReason === 'take_profit' ? boundRules.targetPaths[exitRule] : (boundRules.exits[exitRule]?.id ?? null);
}
