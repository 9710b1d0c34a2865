// candlepool backtest: one strategy file on bars, in this process, with no server and no database.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { runBacktest } from '../engine/index.ts';
import type { BacktestTask, Market, Summary, TradeRow } from '../engine/index.ts';
import { CommandError, printJson, printLine, printTable, withJson } from './output.ts';
import {
  openMarket,
  readCheckedStrategy,
  readConfig,
  repeated,
  type MarketOptions,
  type StrategyOptions,
} from './runInputs.ts';

interface Options extends StrategyOptions, MarketOptions {
  readonly config: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  withJson(
    program
      .command('backtest')
      .description('run a strategy file on bars, with no server and no database')
      .requiredOption('--strategy <file>', 'a StrategyAst, a SignalGraph, or a request body with either')
      .requiredOption('--config <file>', 'the config of the backtest, as POST /public/v1/backtests takes it')
      .option('--settings <file>', 'settings; default those of the request body, else none')
      .option(
        '--bars <file>',
        'bars in place of the catalogue: FILE, or SYMBOL:TIMEFRAME=FILE for finer bars and other instruments; repeatable',
        repeated,
      )
      .option('--instrument <json>', 'metadata of the signal instrument, such as {"qtyStep":1}')
      .option('--data <folder>', 'files named SYMBOL-timeframe.csv.gz in place of the shipped data')
      .option('--out <folder>', 'write summary.json and trades.json there'),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  const config = await readConfig(options.config);
  const { strategyAst, settings, strategyHash, issues } = await readCheckedStrategy(options, config.timeframe);
  const market = await openMarket(config, strategyAst, options);
  const task: BacktestTask = { id: 'command-line', strategyAst, settings, config, strategyHash };
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) throw new CommandError(outcome.error.message, outcome.error.code);
  const summary = outcome.summaryJson as Summary;
  const trades = outcome.trades as readonly TradeRow[];
  const warnings = [...issues, ...outcome.warnings];
  const result = {
    summaryJson: summary,
    trades,
    reproducibility: outcome.reproducibility,
    warnings,
    resolvedConfig: outcome.resolvedConfig,
  };
  if (options.out !== undefined) await writeResult(options.out, result);
  if (options.json) printJson(result);
  else print(summary, trades, market, warnings as readonly { code: string; message: string }[]);
}

/** One file a part, so that each opens by itself. */
async function writeResult(
  folder: string,
  result: { readonly summaryJson: object; readonly trades: readonly object[] },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { trades, ...rest } = result;
  await writeFile(join(folder, 'summary.json'), `${JSON.stringify(rest, null, 2)}\n`);
  await writeFile(join(folder, 'trades.json'), `${JSON.stringify(trades)}\n`);
}

const percent = (fraction: number | null): string => (fraction === null ? '–' : `${(100 * fraction).toFixed(2)} %`);
const number = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits));

function print(
  summary: Summary,
  trades: readonly TradeRow[],
  market: Market,
  warnings: readonly { code: string; message: string }[],
): void {
  const { base } = market;
  printLine(`${base.symbol} ${base.timeframe}, ${base.length} bars, ${trades.length} trades`);
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
