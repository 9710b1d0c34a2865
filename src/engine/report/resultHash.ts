// The hash of a result: trades and summary, whatever the order in which they are later stored.
import { createHash } from 'node:crypto';
import type { TradeRow } from './result.ts';

/** Numbers of a trade row, the optional exitFineTime included. */
const NUMBERS = 17;

/**
 * sha256 over the trades' numbers as IEEE doubles and the rest as JSON. Both are built member by member in one fixed order, so that
 * equal results give equal bytes; numbers as doubles because writing hundreds of trades out as text costs more than simulating them.
 * @param summaryJson the summary as JSON.stringify writes it
 */
export function resultHash(summaryJson: string, trades: readonly TradeRow[]): string {
  const numbers = new Float64Array(trades.length * NUMBERS);
  const words = new Array<string>(trades.length);
  let count = 0;
  for (let index = 0; index < trades.length; index++) {
    const trade = trades[index];
    count = writeNumbers(trade, numbers, count);
    words[index] = wordsOf(trade);
  }
  const hash = createHash('sha256');
  hash.update(numbers.subarray(0, count));
  hash.update(words.join('\n'));
  return hash.update(summaryJson).digest('hex');
}

/** In the order of TradeRow; named one by one because Object.values makes a list a trade (bench/backtest.ts). */
function writeNumbers(trade: TradeRow, out: Float64Array, from: number): number {
  let at = from;
  out[at++] = trade.positionId;
  out[at++] = trade.entryTime;
  out[at++] = trade.entryBar;
  out[at++] = trade.entryPrice;
  out[at++] = trade.quantity;
  out[at++] = trade.exitTime;
  out[at++] = trade.exitBar;
  out[at++] = trade.exitPrice;
  out[at++] = trade.entryFee;
  out[at++] = trade.exitFee;
  out[at++] = trade.slippage;
  out[at++] = trade.pnl;
  out[at++] = trade.returnPct;
  out[at++] = trade.maePct;
  out[at++] = trade.mfePct;
  out[at++] = trade.barsHeld;
  if (trade.exitFineTime !== null) out[at++] = trade.exitFineTime;
  return at;
}

function wordsOf(trade: TradeRow): string {
  const { side, exitReason, exitMethod, exitResolution, exitPolicy, exitFineTime, entryRule, exitRule } = trade;
  const fineTime = exitFineTime === null ? '\n' : '';
  return `${side}\n${exitReason}\n${exitMethod}\n${exitResolution}\n${exitPolicy ?? ''}\n${fineTime}${entryRule}\n${exitRule ?? ''}`;
}
