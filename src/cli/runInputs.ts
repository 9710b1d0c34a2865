// The inputs of commands that run a strategy: a checked strategy, its settings, and a config (runMarkets.ts has the
// bars).
import { basename } from 'node:path';
import { BacktestConfig, checkConfigForm, checkStrategy, firstUniverse, isMembers } from '../engine/index.ts';
import type { CheckOutcome, Settings, SignalGraph, StrategyAst, Timeframe } from '../engine/index.ts';
import { CommandError, refusal } from './output.ts';
import { readJsonObject, readPayloads, type StrategyOptions } from './strategyFile.ts';

export interface CheckedStrategy {
  readonly strategyAst: StrategyAst;
  /** Set if the file holds a graph, into which the pointers of a space may point. */
  readonly signalGraph?: SignalGraph;
  readonly settings: Settings;
  readonly strategyHash: string;
  readonly issues: CheckOutcome['issues'];
  /** The name of the strategy, else that of its file; for the headings of reports. */
  readonly title: string;
}

/** @throws CommandError STRATEGY_INVALID with every issue. */
export async function readCheckedStrategy(
  options: StrategyOptions,
  baseTimeframe?: Timeframe,
): Promise<CheckedStrategy> {
  const payloads = await readPayloads(options);
  const outcome = checkStrategy(payloads, { baseTimeframe });
  if (outcome.compiled === null || !outcome.valid)
    throw refusal('STRATEGY_INVALID', `${options.strategy} is not valid`, outcome.issues);
  const { strategyAst, strategyHash } = outcome.compiled;
  const signalGraph = payloads.signalGraph as SignalGraph | undefined;
  return {
    strategyAst,
    ...(signalGraph && { signalGraph }),
    settings: payloads.settings,
    strategyHash,
    issues: outcome.issues,
    title: titleOf([payloads.name, strategyAst.meta?.name], options.strategy),
  };
}

const titleOf = (names: readonly unknown[], path: string): string =>
  names.find((name): name is string => typeof name === 'string' && name !== '') ??
  basename(path).replace(/\.json$/i, '');

/** Options that replace the instruments of a config. */
export interface InstrumentOptions {
  readonly symbols?: readonly string[];
  readonly slots?: number;
}

/**
 * @param instruments options that win over the file
 * @param space of a sweep of the config: any JSON value
 * @throws CommandError BACKTEST_CONFIG_INVALID with every issue.
 */
export async function readConfigFile(
  path: string,
  instruments: InstrumentOptions = {},
  space?: unknown,
): Promise<BacktestConfig> {
  const content = await readJsonObject(path);
  const config = withInstruments('config' in content ? content.config : content, instruments);
  const parsed = BacktestConfig.safeParse(config);
  if (parsed.success) return parsed.data;
  if (!('config' in content) && ('strategyAst' in content || 'signalGraph' in content || 'protocol' in content))
    throw new CommandError(
      `${path} holds a strategy, not the config of a backtest: give it as --strategy.`,
      'BACKTEST_CONFIG_INVALID',
    );
  const { issues } = checkConfigForm(config, { universe: firstUniverse(space) });
  const unexplained = parsed.error.issues.map((issue) => ({
    path: `/config/${issue.path.join('/')}`,
    message: issue.message,
  }));
  throw refusal(
    'BACKTEST_CONFIG_INVALID',
    `${path} is not a backtest config`,
    issues.length > 0 ? issues : unexplained,
  );
}

/** The config as read, with what the command line says of its instruments. */
function withInstruments(config: unknown, { symbols, slots }: InstrumentOptions): unknown {
  if (!isMembers(config) || (symbols === undefined && slots === undefined)) return config;
  const { signalInstrument, portfolio, ...others } = config;
  const listed = symbols?.map((symbol) => ({ symbol }));
  return {
    ...others,
    ...(listed ? { instruments: listed } : signalInstrument !== undefined && { signalInstrument }),
    ...(slots === undefined
      ? portfolio !== undefined && { portfolio }
      : { portfolio: { ...(isMembers(portfolio) && portfolio), slots } }),
  };
}
