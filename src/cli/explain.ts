// candlepool explain: prints the plan of a strategy, as a database prints the plan of a query.
import type { Command } from 'commander';
import { explainStrategy, foreignSeries, TIMEFRAMES, type SeriesName, type Timeframe } from '../engine/index.ts';
import { oneOf, shortText, symbolList } from './arguments.ts';
import { describeSource, openMarketSource, type SeriesSource } from './marketSource.ts';
import { CommandError, printJson, printLine, UsageError, withJson } from './output.ts';
import { readCheckedStrategy } from './runInputs.ts';
import { withStrategyOptions, type StrategyOptions } from './strategyFile.ts';

interface Options extends StrategyOptions {
  readonly timeframe?: Timeframe;
  readonly symbol?: string;
  readonly symbols?: readonly string[];
  readonly data?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  withJson(
    withStrategyOptions(program.command('explain'))
      .description('print the plan of a strategy: its steps, what they share, and what the fill loop reads')
      .option('--timeframe <timeframe>', 'base timeframe; default: that of the strategy, else 1h', oneOf(TIMEFRAMES))
      .option(
        '--symbol <symbol>',
        'instrument; default: that of the strategy, else the placeholder SYMBOL',
        shortText(100),
      )
      .option('--symbols <list>', 'the instruments of a portfolio, such as AAPL,MSFT; all have one plan', symbolList)
      .option('--data <folder>', 'a folder of files named SYMBOL-timeframe.csv.gz, in place of the catalog'),
  ).action(explain);
}

async function explain(options: Options): Promise<void> {
  const { strategyAst, signalGraph, settings, issues } = await readCheckedStrategy(options, options.timeframe);
  const { symbols } = options;
  if (symbols !== undefined && options.symbol !== undefined)
    throw new UsageError('Give --symbol for one instrument, or --symbols for those of a portfolio, not both.');
  const twice = symbols?.find((symbol, at) => symbols.indexOf(symbol) !== at);
  if (twice !== undefined) throw new UsageError(`--symbols names ${twice} twice. Remove it in one place.`);
  const explained = explainStrategy(strategyAst, settings, { ...options, instruments: symbols, signalGraph });
  if (!explained.ok)
    throw new CommandError(explained.issues.map((issue) => issue.message).join('\n'), 'STRATEGY_INVALID');
  const { explanation } = explained;
  const { symbol, timeframe } = explanation;
  const isNamed = (options.symbol ?? strategyAst.strategy.defaults?.instrument?.symbol) !== undefined;
  const own = symbols ?? (isNamed ? [symbol] : []);
  const foreign = foreignSeries(strategyAst, symbol, timeframe).filter((series) => !own.includes(series.symbol));
  const bars = await findSources([...own.map((each) => ({ symbol: each, timeframe })), ...foreign], options.data);
  if (options.json) return printJson({ ...explanation, bars, warnings: issues });
  for (const { code, message } of issues) printLine(`warning ${code}: ${message}`);
  printLine(`${explanation.plan}lookback: ${explanation.inferredLookback} bars`);
  for (const { source, ...series } of bars)
    printLine(
      source ? describeSource(source) : `${series.symbol} ${series.timeframe}: no bars; import them to run this`,
    );
}

/** The bars that a run would read, and their source; null if there are none. */
async function findSources(
  wanted: readonly SeriesName[],
  folder: string | undefined,
): Promise<(SeriesName & { readonly source: SeriesSource | null })[]> {
  const { catalog, describe } = await openMarketSource([...new Set(wanted.map(({ symbol }) => symbol))], folder);
  return Promise.all(
    wanted.map(async ({ symbol, timeframe }) => {
      const entry = await catalog.find(symbol, timeframe);
      return { symbol, timeframe, source: entry ? describe(symbol, timeframe, entry) : null };
    }),
  );
}
