// A completed portfolio run: summarized, with its trades, hashes and warnings, as a run of one instrument is.
import type { Universe } from '../../bars/bars.ts';
import type { SharedSpan } from '../../kernels/sharedBuffer.ts';
import type { BacktestTask } from '../../task.ts';
import type { PortfolioRun } from '../reportInput.ts';
import { portfolioReproducibility } from '../reproducibility.ts';
import { resultHash } from '../resultHash.ts';
import { CompletedRun } from '../simulatedRun.ts';
import { summarize } from '../summary.ts';
import { mixedTradeTable, type TradeTable } from '../tradeTable.ts';
import { portfolioReport, type SimulatedPortfolio } from './portfolioReport.ts';
import { portfolioWarnings } from './portfolioWarnings.ts';

/** @param arrays the memory of all small arrays of the run */
export function completedPortfolio(
  task: BacktestTask,
  universe: Universe,
  simulated: SimulatedPortfolio,
  arrays: SharedSpan,
): CompletedRun {
  const report = portfolioReport(simulated);
  const { portfolio } = report;
  const written = summarize(report);
  const table = tradeTableOf(portfolio);
  const configJson = JSON.stringify(report.input.config);
  return new CompletedRun({
    report,
    written,
    tradeTable: table,
    configJson,
    reproducibility: portfolioReproducibility(task, universe, report, resultHash(written, table)),
    warnings: portfolioWarnings(task, report, portfolio),
    memory: arrays.close(),
  });
}

const tradeTableOf = ({ instruments, simulation, isNamed }: PortfolioRun): TradeTable =>
  mixedTradeTable(
    simulation.tradeLog,
    instruments.map(({ symbol, input, firstRow, boundRules }) => ({
      time: input.bars.time,
      firstRow,
      boundRules,
      ...(isNamed && { symbol }),
    })),
    simulation.tradeInstruments,
  );
