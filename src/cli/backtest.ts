// candlepool backtest: one strategy file on bars, in this process.
import { join } from 'node:path';
import type { Command } from 'commander';
import { runBacktest, shownSummary } from '../engine/index.ts';
import type { BacktestTask, Summary, TradeRow } from '../engine/index.ts';
import { makeFolder } from '../folders.ts';
import { counted } from '../market/formatting.ts';
import { artifactPaths, makeArtifacts, withArtifactOptions, type ArtifactOptions } from './artifactOptions.ts';
import { describeSource } from './marketSource.ts';
import { CommandError, percent, printJson, printLine, printTable, refusal, withJson } from './output.ts';
import { checkOutputs, writeOutputs } from './outputFiles.ts';
import {
  openMarket,
  readCheckedStrategy,
  readConfigFile,
  withMarketOptions,
  type MarketOptions,
  type OpenedMarket,
} from './runInputs.ts';
import { withStrategyOptions, type StrategyOptions } from './strategyFile.ts';

interface Options extends StrategyOptions, MarketOptions, ArtifactOptions {
  readonly config: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const command = withStrategyOptions(program.command('backtest'))
    .description('run a strategy file on bars')
    .requiredOption('--config <file>', 'the config of the backtest (docs/config.md)')
    .option('--out <folder>', 'write summary.json and trades.json into this folder');
  withJson(withArtifactOptions(withMarketOptions(command))).action(run);
}

async function run(options: Options): Promise<void> {
  await checkOutputs(artifactPaths(options));
  if (options.out !== undefined) await makeFolder(options.out, 'Choose another folder with --out.');
  const config = await readConfigFile(options.config);
  const { issues, title, ...strategy } = await readCheckedStrategy(options, config.timeframe);
  const { market, sources } = await openMarket(config, strategy, options);
  const task: BacktestTask = { id: 'command-line', ...strategy, config };
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) {
    const { error, issues: faults } = outcome;
    if (faults !== undefined) throw refusal(error.code, 'This strategy cannot be run with this config', faults);
    throw new CommandError(error.message, error.code);
  }
  const { summary, trades } = outcome;
  const warnings = [...issues, ...outcome.warnings];
  const result = {
    summaryJson: shownSummary({ ...summary }),
    trades,
    reproducibility: outcome.reproducibility,
    warnings,
    resolvedConfig: outcome.resolvedConfig,
    bars: sources,
  };
  const heading = { strategyName: title, strategyVersion: null, backtestId: null };
  const files = [
    ...(options.out === undefined ? [] : resultFiles(options.out, result)),
    ...makeArtifacts(options, task, market, heading),
  ];
  await writeOutputs(files);
  if (options.json) return printJson(result);
  print(summary, trades, { market, sources }, warnings);
  for (const { path } of files) printLine(`wrote ${path}`);
}

/** One file per part, so that each can be opened separately. */
function resultFiles(folder: string, result: { readonly summaryJson: object; readonly trades: readonly object[] }) {
  const { trades, ...rest } = result;
  return [
    { path: join(folder, 'summary.json'), content: `${JSON.stringify(rest, null, 2)}\n` },
    { path: join(folder, 'trades.json'), content: `${JSON.stringify(trades)}\n` },
  ];
}

const number = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits));

function print(
  summary: Summary,
  trades: readonly TradeRow[],
  { market, sources }: Omit<OpenedMarket, 'snapshots'>,
  warnings: readonly { code: string; message: string }[],
): void {
  const { base } = market;
  printLine(`${base.symbol} ${base.timeframe}, ${counted(base.length, 'bar')}, ${counted(trades.length, 'trade')}`);
  for (const source of sources) printLine(describeSource(source));
  const rows: readonly (readonly [string, string])[] = [
    ['return', percent(summary.returnPct)],
    ['buy and hold', percent(summary.buyHoldReturnPct)],
    ['cagr', percent(summary.cagr)],
    ['sharpe', number(summary.sharpeRatio)],
    ['max drawdown', percent(summary.maxDrawdown)],
    ['positions', String(summary.totalPositions)],
    ['win rate', percent(summary.winRate)],
    ['profit factor', number(summary.profitFactor)],
    ['fees', number(summary.totalFees)],
    ['final equity', number(summary.finalEquity)],
  ];
  printTable(
    [
      { title: 'key', value: ([key]) => key },
      { title: 'value', value: ([, value]) => value, align: 'right' },
    ],
    rows,
  );
  for (const { severity, code, message, suggestion } of summary.strategyTrace?.diagnosis ?? [])
    printLine(`${severity} ${code}: ${message} ${suggestion}`);
  for (const { code, message } of warnings) printLine(`warning ${code}: ${message}`);
}
