// The trade row: what the log keeps of a closing fill (semantics §4.7).
import { closedRow, type Instant } from './instant.ts';
import type { Position } from './position.ts';
import type { Run } from './run.ts';
import type { ExitReason } from '../definitions/exitReasons/exitReasons.ts';
import { TRADE } from './tradeLog.ts';

/**
 * Writes the row of a closing fill, whose numbers are in `run.closing`.
 * @param rule an index into `exits` or the ladder; null: neither closed it
 */
export function writeTrade(run: Run, position: Position, reason: ExitReason, rule: number | null, at: Instant): void {
  const { price, quantity, entryFee, exitFee, slippage, pnl } = run.closing;
  const { side, entryPrice } = position;
  // The exit bar adds only its open and the exit price to MAE and MFE. For an exit at the close, all of the bar is
  // recorded already.
  const from = Number.isNaN(at.from) ? side * price : side * at.from;
  const signedEntry = side * entryPrice;
  const row = run.trades.add(reason, at.decision);
  const { numbers } = run.trades;
  numbers[row + TRADE.positionId] = position.id;
  numbers[row + TRADE.side] = side;
  numbers[row + TRADE.entryRow] = position.entryRow;
  numbers[row + TRADE.exitRow] = at.row;
  numbers[row + TRADE.entryDecisionRow] = position.entryDecisionRow;
  numbers[row + TRADE.exitDecisionRow] = closedRow(at);
  numbers[row + TRADE.entryPrice] = entryPrice;
  numbers[row + TRADE.exitPrice] = price;
  numbers[row + TRADE.quantity] = quantity;
  numbers[row + TRADE.entryFee] = entryFee;
  numbers[row + TRADE.exitFee] = exitFee;
  numbers[row + TRADE.slippage] = slippage;
  numbers[row + TRADE.pnl] = pnl;
  numbers[row + TRADE.returnPct] = pnl / (quantity * entryPrice);
  numbers[row + TRADE.maePct] = (Math.min(position.trough, from, side * price) - signedEntry) / entryPrice;
  numbers[row + TRADE.mfePct] = (Math.max(position.peak, from, side * price) - signedEntry) / entryPrice;
  numbers[row + TRADE.entryRule] = position.entryRule;
  numbers[row + TRADE.exitRule] = rule ?? -1;
  numbers[row + TRADE.initialRisk] = position.initialRisk;
}
