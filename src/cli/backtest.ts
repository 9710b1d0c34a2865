// candlepool backtest: one strategy file on bars, in this process, with one option per artifact, whose format is the
// extension of the file.
import { join, extname } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import {
  benchmarkName,
  csvFile,
  dailyTable,
  runBacktest,
  shownSummary,
  ARTIFACT_NAMES,
  buildArtifact,
  FORMATS_OF,
  PORTFOLIO_ARTIFACT_NAMES,
  type BacktestTask,
  type Summary,
  type TradeRow,
  type ArtifactFormat,
  type ArtifactName,
  type Market,
  type Universe,
  type ReportHeading,
  type RunControl,
} from '../engine/index.ts';
import { makeFolder } from '../folders.ts';
import { counted, symbolsText } from '../market/formatting.ts';
import { symbolList, wholeNumber } from './arguments.ts';
import { labelsMember, withLabelOptions, type LabelOptions } from './labelOptions.ts';
import { describeSource } from './marketSource.ts';
import { CommandError, percent, printJson, printLine, printTable, refusal, withJson } from './output.ts';
import { checkOutputs, writeOutputs, type OutputFile } from './outputFiles.ts';
import { readCheckedStrategy, readConfigFile, type InstrumentOptions } from './runInputs.ts';
import { openRun, withMarketOptions, type MarketOptions, type OpenedRun } from './runMarkets.ts';
import { withStrategyOptions, type StrategyOptions } from './strategyFile.ts';
import { Readable } from 'node:stream';

interface Options extends StrategyOptions, InstrumentOptions, MarketOptions, ArtifactOptions, LabelOptions {
  readonly config: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const command = withStrategyOptions(program.command('backtest'))
    .description('run a strategy file on bars')
    .requiredOption('--config <file>', 'the config of the backtest (docs/config.md)')
    .option('--symbols <list>', 'trade these from one account, such as AAPL,MSFT, in place of the config', symbolList)
    .option('--slots <count>', 'the most positions of a portfolio, in place of the config', wholeNumber(1, 100_000))
    .option('--out <folder>', 'write the result into this folder, for people and for compare');
  withJson(withLabelOptions(withArtifactOptions(withMarketOptions(command)))).action(run);
}

async function run(options: Options): Promise<void> {
  await checkOutputs(artifactPaths(options));
  if (options.out !== undefined) await makeFolder(options.out, 'Choose another folder with --out.');
  const config = await readConfigFile(options.config, options);
  const { issues, title, ...strategy } = await readCheckedStrategy(options, config.timeframe);
  const { market, sources } = await openRun(config, strategy, options);
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
    ...labelsMember(options),
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
    ...(options.out === undefined ? [] : comparedFiles(options.out, outcome, { name: title, ...strategy })),
    ...makeArtifacts(options, task, market, heading),
  ];
  await writeOutputs(files);
  if (options.json) return printJson(result);
  const benchmark = benchmarkName(outcome.resolvedConfig, summary.instruments !== undefined);
  print(summary, trades, { market, sources, benchmark }, warnings);
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

/** What `candlepool compare` needs besides: the strategy, which --strategy takes again, and the equity of each day. */
function comparedFiles(
  folder: string,
  run: Parameters<typeof dailyTable>[0],
  strategy: { readonly name: string | null } & Pick<BacktestTask, 'settings' | 'strategyAst' | 'signalGraph'>,
) {
  const { name, settings, strategyAst, signalGraph } = strategy;
  const payload = { name, settings, ...(signalGraph && { signalGraph }), strategyAst };
  const days = Buffer.concat([...csvFile('\r\n').add(dailyTable(run))]);
  return [
    { path: join(folder, 'strategy.json'), content: `${JSON.stringify(payload, null, 2)}\n` },
    { path: join(folder, 'daily.csv'), content: days },
  ];
}

/** Of a rotation: how often it was rebalanced, and what its orders came to. */
function rebalanceRow({ strategyTrace }: Summary): (readonly [string, string])[] {
  const counts = strategyTrace?.funnel.allocation;
  if (counts === undefined) return [];
  const { whenTrue, rebalances, orders, ordersFilled } = counts;
  return [
    ['rebalances', `${rebalances} of ${whenTrue} due`],
    ['orders filled', `${ordersFilled} of ${orders}`],
  ];
}

/** What holding cost and earned, where the config has a borrow rate or dividends. */
function carryRows({ carry }: Summary): (readonly [string, string])[] {
  if (carry === undefined) return [];
  return [
    ['borrowing', number(carry.borrowPaid)],
    ['dividends', number(carry.dividendsReceived)],
  ];
}

/** Lines of a portfolio that say where its bars come from. */
const MAX_SOURCES = 20;

const number = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits));

function print(
  summary: Summary,
  trades: readonly TradeRow[],
  { market, sources, benchmark }: Omit<OpenedRun, 'snapshots'> & { readonly benchmark: string },
  warnings: readonly { code: string; message: string }[],
): void {
  const markets = 'instruments' in market ? market.instruments : [market];
  const symbols = symbolsText(markets.map(({ base }) => base.symbol));
  const bars = markets.reduce((sum, { base }) => sum + base.length, 0);
  const instruments = markets.length === 1 ? '' : `${counted(markets.length, 'instrument')}, `;
  printLine(
    `${symbols} ${markets[0].base.timeframe}, ${instruments}${counted(bars, 'bar')}, ` +
      counted(trades.length, 'trade'),
  );
  for (const source of sources.slice(0, MAX_SOURCES)) printLine(describeSource(source));
  if (sources.length > MAX_SOURCES) printLine(`and ${sources.length - MAX_SOURCES} more, listed with --json`);
  const rows: readonly (readonly [string, string])[] = [
    ['return', percent(summary.returnPct)],
    [benchmark, percent(summary.buyHoldReturnPct)],
    ['cagr', percent(summary.cagr)],
    ['sharpe', number(summary.sharpeRatio)],
    ['max drawdown', percent(summary.maxDrawdown)],
    ['positions', String(summary.totalPositions)],
    ...rebalanceRow(summary),
    ['win rate', percent(summary.winRate)],
    ['profit factor', number(summary.profitFactor)],
    ['fees', number(summary.totalFees)],
    ...carryRows(summary),
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

/** Feather version 2 is the Arrow file format under another name. */
const EXTENSIONS: Readonly<Record<ArtifactFormat, readonly string[]>> = {
  csv: ['.csv'],
  json: ['.json'],
  arrow: ['.arrow', '.feather'],
  html: ['.html'],
};
const NAMES: readonly ArtifactName[] = [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES];
const CONTENT: Readonly<Record<ArtifactName, string>> = {
  report: 'the report, a page that needs no network',
  trades: 'the trades, one row per exit',
  equity: 'the equity, one row per bar',
  orders: 'the orders, filled or not',
  signals: 'what the rules signaled, one row per bar',
  weights: 'the weight of each instrument of a portfolio, one row per instant',
  instruments: 'what each instrument of a portfolio earned, one row per instrument',
};

/** A run that nothing stops: Ctrl-C ends the whole process. */
const UNCONTROLLED: RunControl = { isCancelled: () => false, report: () => {} };

interface ArtifactFile {
  readonly path: string;
  readonly format: ArtifactFormat;
}
type ArtifactOptions = Readonly<Partial<Record<ArtifactName, ArtifactFile>>>;

/** Adds `--report`, `--trades` and so on. */
function withArtifactOptions(command: Command): Command {
  for (const name of NAMES) {
    const description = `write ${CONTENT[name]} (${extensionsOf(name).join(', ')})`;
    command.option(`--${name} <file>`, description, artifactFile(name));
  }
  return command;
}

const extensionsOf = (name: ArtifactName): string[] => FORMATS_OF[name].flatMap((format) => EXTENSIONS[format]);

function artifactFile(name: ArtifactName): (path: string) => ArtifactFile {
  return (path) => {
    const extension = extname(path).toLowerCase();
    const format = FORMATS_OF[name].find((each) => EXTENSIONS[each].includes(extension));
    if (format !== undefined) return { path, format };
    const extensions = extensionsOf(name).join(', ');
    throw new InvalidArgumentError(`The ${name} can be written as ${extensions}. Use one of these file extensions.`);
  };
}

/** The paths of all files that were asked for. */
const artifactPaths = (options: ArtifactOptions): string[] => NAMES.flatMap((name) => options[name]?.path ?? []);

/** The contents of every file that was asked for. */
function makeArtifacts(
  options: ArtifactOptions,
  task: BacktestTask,
  market: Market | Universe,
  heading: ReportHeading,
): OutputFile[] {
  return NAMES.flatMap((name) => {
    const file = options[name];
    if (file === undefined) return [];
    const pieces: Uint8Array[] = [];
    const write = (piece: Uint8Array): void => void pieces.push(piece.slice());
    const made = buildArtifact(task, market, UNCONTROLLED, { name, format: file.format, heading }, write);
    if (!made.ok) throw new CommandError(made.error.message, made.error.code);
    return { path: file.path, content: Readable.from(pieces, { objectMode: false }) };
  });
}
