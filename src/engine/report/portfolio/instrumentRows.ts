// The instruments of a portfolio run: what each traded, earned and weighed.
import { hasDividends } from '../../config.ts';
import { lostIn } from '../../kernels/compensatedSum.ts';
import { TRADE, TRADE_WIDTH } from '../../simulate/tradeLog.ts';
import type { PortfolioRun, ReportInput } from '../reportInput.ts';

/** One instrument of a run. Money is in quote units, percents are fractions; null: undefined. */
export interface InstrumentRow {
  readonly symbol: string;
  /** Evaluated bars, and the open times of the first and the last, ms UTC. */
  readonly bars: number;
  readonly firstBarTime: number | null;
  readonly lastBarTime: number | null;
  /** Closing fills, and the share of them with pnl above 0. */
  readonly trades: number;
  readonly winRate: number | null;
  /** Before all costs. */
  readonly grossPnl: number;
  readonly netPnl: number;
  /** netPnl / initial balance: over all instruments they add up to the return. */
  readonly contribution: number;
  readonly fees: number;
  readonly slippage: number;
  readonly funding: number;
  /** Absent where the config has neither a borrow rate nor dividends. */
  readonly borrowing?: number;
  readonly dividends?: number;
  /** Of |value| / equity over all instants of the run. */
  readonly averageWeightPct: number | null;
  readonly maxWeightPct: number;
  /** Instants at whose end it was held / instants of the run. */
  readonly timeHeldPct: number | null;
  /** Signals that no free slot was left for. */
  readonly rankedOut: number;
}

/** More are in the artifact `instruments`. */
export const MOST_INSTRUMENTS = 100;

/** All instruments, the largest contribution first, equal ones in the order of symbols. */
export function instrumentRows({ input }: Pick<ReportInput, 'input'>, portfolio: PortfolioRun): InstrumentRow[] {
  const instants = Math.max(0, input.end - input.start);
  const results = tradeSums(portfolio);
  const hasCarry = input.config.borrowRatePerYear !== undefined || hasDividends(input.config);
  return portfolio.bySymbol
    .map((index): InstrumentRow => {
      const { symbol, input: own } = portfolio.instruments[index];
      const result = portfolio.simulation.byInstrument[index];
      const { trades, wins, pnl } = results[index];
      const bars = Math.max(0, own.end - own.start);
      const fees = result.makerFees + result.takerFees;
      return {
        symbol,
        bars,
        firstBarTime: bars === 0 ? null : own.bars.time[own.start],
        lastBarTime: bars === 0 ? null : own.bars.time[own.end - 1],
        trades,
        winRate: trades === 0 ? null : wins / trades,
        grossPnl: pnl + fees + result.slippageCost + result.fundingPaid + result.borrowPaid,
        netPnl: pnl,
        contribution: pnl / input.config.initialBalance,
        fees,
        slippage: result.slippageCost,
        funding: result.fundingPaid,
        ...(hasCarry && { borrowing: result.borrowPaid, dividends: result.dividendsReceived }),
        averageWeightPct: instants === 0 ? null : result.weightSum / instants,
        maxWeightPct: result.maxWeight,
        timeHeldPct: instants === 0 ? null : result.instantsHeld / instants,
        rankedOut: result.rankedOut,
      };
    })
    .sort((a, b) => b.contribution - a.contribution);
}

/** Trades, wins and pnl of each instrument, in the order of the list; pnl is compensated. */
function tradeSums({ instruments, simulation }: PortfolioRun) {
  const sums = instruments.map(() => ({ trades: 0, wins: 0, total: 0, lost: 0 }));
  const { tradeLog, tradeInstruments } = simulation;
  for (let trade = 0; trade < tradeLog.length; trade++) {
    const sum = sums[tradeInstruments[trade]];
    const pnl = tradeLog.numbers[trade * TRADE_WIDTH + TRADE.pnl];
    const next = sum.total + pnl;
    sum.lost += lostIn(sum.total, pnl, next);
    sum.total = next;
    sum.trades++;
    sum.wins += +(pnl > 0);
  }
  return sums.map(({ trades, wins, total, lost }) => ({ trades, wins, pnl: total + lost }));
}
