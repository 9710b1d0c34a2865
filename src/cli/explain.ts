// candlepool explain: the plan of a strategy, printed the way a database prints one.
import type { Command } from 'commander';
import {
  compilePlan,
  explainPlan,
  inferLookback,
  prepareStrategy,
  TIMEFRAMES,
  type Timeframe,
} from '../engine/index.ts';
import { oneOf, shortText } from './arguments.ts';
import { CommandError, printJson, printLine, withJson } from './output.ts';
import { readCheckedStrategy, type StrategyOptions } from './runInputs.ts';

interface Options extends StrategyOptions {
  readonly timeframe?: Timeframe;
  readonly symbol?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  withJson(
    program
      .command('explain')
      .description('print the plan of a strategy: its steps, what they share, and what is read in the fill loop')
      .requiredOption('--strategy <file>', 'a StrategyAst, a SignalGraph, or a request body with either')
      .option('--settings <file>', 'settings; default those of the request body, else none')
      .option('--timeframe <timeframe>', 'base timeframe; default the strategy’s own, else 1h', oneOf(TIMEFRAMES))
      .option('--symbol <symbol>', 'instrument; default the strategy’s own, else SYMBOL', shortText(100)),
  ).action(explain);
}

async function explain(options: Options): Promise<void> {
  const { strategyAst, settings } = await readCheckedStrategy(options, options.timeframe);
  const { defaults } = strategyAst.strategy;
  const timeframe = options.timeframe ?? defaults?.timeframe ?? '1h';
  const symbol = options.symbol ?? defaults?.instrument?.symbol ?? 'SYMBOL';
  const prepared = prepareStrategy(strategyAst, settings, {}, { timeframe });
  if (!prepared.ok)
    throw new CommandError(prepared.issues.map((issue) => issue.message).join('\n'), 'STRATEGY_INVALID');
  const plan = compilePlan(prepared.strategy, { symbol, timeframe }, { slippageAtrPeriod: null, keepRules: true });
  const lookback = inferLookback(prepared.strategy, timeframe);
  const text = explainPlan(plan);
  if (options.json) printJson({ symbol, timeframe, inferredLookback: lookback, steps: plan.steps.length, plan: text });
  else printLine(`${text}looks back ${lookback} bars`);
}
