// Instants of trades: rows of different instruments compare only on the axis.
import { TRADE, TRADE_WIDTH } from '../../simulate/tradeLog.ts';
import type { PortfolioRun } from '../reportInput.ts';

/** The instant at which each trade closed, in the order of the trades. */
export function exitInstants({ simulation, axis }: Pick<PortfolioRun, 'simulation' | 'axis'>): Int32Array {
  const { tradeLog, tradeInstruments } = simulation;
  const instants = new Int32Array(tradeLog.length);
  for (let trade = 0; trade < instants.length; trade++) {
    const row = tradeLog.numbers[trade * TRADE_WIDTH + TRADE.exitRow];
    instants[trade] = axis.instants[tradeInstruments[trade]][row];
  }
  return instants;
}
