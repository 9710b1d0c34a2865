// candlepool robustness: how robust the backtest of a strategy file is, in this process, on several threads.
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { MAX_THREADS } from '../config.ts';
import {
  createPool,
  robustnessResult,
  ROBUSTNESS_ANALYSES,
  RobustnessSpec,
  stepsOf,
  type RobustnessJob,
  type RobustnessResult,
  type Snapshot,
  type StepOutcome,
} from '../engine/index.ts';
import { counted } from '../market/formatting.ts';
import { wholeNumber } from './arguments.ts';
import { CommandError, percent, printJson, printLine, printTable, UsageError, withJson } from './output.ts';
import { startProgress } from './progress.ts';
import {
  openMarket,
  readCheckedStrategy,
  readConfigFile,
  repeated,
  withMarketOptions,
  type MarketOptions,
} from './runInputs.ts';
import { withStrategyOptions, type StrategyOptions } from './strategyFile.ts';

interface Options extends StrategyOptions, MarketOptions {
  readonly config: string;
  readonly analysis?: readonly string[];
  readonly seed?: number;
  readonly samples?: number;
  readonly threads: number;
  readonly json?: boolean;
}

/** Parts per thread: small ones, so that all threads finish together. An audit is a single step. */
const PARTS_PER_THREAD = 8;

export function register(program: Command): void {
  const command = withStrategyOptions(program.command('robustness'))
    .description('check how robust the backtest of a strategy file is')
    .requiredOption('--config <file>', 'the config of the backtest (docs/config.md)')
    .option('--analysis <name>', `one of ${ROBUSTNESS_ANALYSES.join(', ')}; repeatable; default: all`, repeated)
    .option('--seed <number>', 'seed of everything that is drawn at random; default: 1', wholeNumber(0, 0xffffffff))
    .option('--samples <count>', 'runs of the block bootstrap and of the parameter jitter', wholeNumber(10, 1_000))
    .option('--threads <count>', 'worker threads', wholeNumber(1, MAX_THREADS), availableParallelism());
  withJson(withMarketOptions(command)).action(run);
}

async function run(options: Options): Promise<void> {
  const config = await readConfigFile(options.config);
  const { issues: _, title: _title, ...strategy } = await readCheckedStrategy(options, config.timeframe);
  const spec = readSpec(options);
  const { snapshots } = await openMarket(config, strategy, options);
  const job: RobustnessJob = { task: { id: 'command-line', ...strategy, config }, spec };
  const outcomes = await runParts(job, snapshots, options.threads);
  const result = robustnessResult(job, outcomes);
  if ('code' in result) throw new CommandError(result.message, result.code);
  if (options.json) return printJson(result);
  print(result);
}

function readSpec({ analysis, seed, samples }: Options): RobustnessSpec {
  const given = {
    ...(analysis && { analyses: analysis }),
    ...(seed !== undefined && { seed }),
    ...(samples && { samples }),
  };
  const parsed = RobustnessSpec.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError(`There is no such analysis. Use ${ROBUSTNESS_ANALYSES.join(', ')}.`);
}

async function runParts(job: RobustnessJob, snapshots: readonly Snapshot[], threads: number): Promise<StepOutcome[]> {
  const { signalInstrument, timeframe } = job.task.config;
  const markets = [{ symbol: signalInstrument.symbol, timeframe, snapshots: snapshots.map((_, at) => at) }];
  const count = stepsOf(job).length;
  const size = Math.ceil(count / (threads * PARTS_PER_THREAD));
  const ranges = Array.from({ length: Math.ceil(count / size) }, (_, part) => ({
    first: part * size,
    last: Math.min(count, (part + 1) * size),
  }));
  await using pool = createPool({ threads });
  using progress = startProgress('robustness', count);
  let done = 0;
  const parts = await Promise.all(
    ranges.map(async (range) => {
      const outcome = await pool.robustness({ snapshots, markets, job, range }).outcome;
      if (outcome.kind !== 'steps')
        throw new CommandError('error' in outcome ? outcome.error.message : 'The check was stopped.');
      progress.update((done += range.last - range.first));
      return outcome.outcomes;
    }),
  );
  return parts.flat();
}

function print(result: RobustnessResult): void {
  const { verdict, findings, baseline, monteCarlo, blockBootstrap, parameterJitter } = result;
  const rows: string[][] = [['backtest', percent(baseline.returnPct), percent(baseline.maxDrawdown), '']];
  const add = (what: string, run: object): void => {
    const { returnPct, maxDrawdown, error } = run as {
      returnPct?: number | null;
      maxDrawdown?: number | null;
      error?: { message: string };
    };
    rows.push([what, percent(returnPct), percent(maxDrawdown), error?.message ?? '']);
  };
  if (monteCarlo)
    rows.push([
      'trades drawn again, median',
      percent(monteCarlo.resampled.returnPct.p50),
      percent(monteCarlo.resampled.maxDrawdown.p50),
      `loses in ${percent(monteCarlo.resampled.lossProbability)}`,
    ]);
  if (blockBootstrap)
    rows.push([
      'bars drawn again, median',
      percent(blockBootstrap.returnPct.p50),
      percent(blockBootstrap.maxDrawdown.p50),
      `loses in ${percent(blockBootstrap.lossProbability)}`,
    ]);
  if (parameterJitter)
    rows.push([
      'numbers moved, median',
      percent(parameterJitter.returnPct.p50),
      percent(parameterJitter.maxDrawdown.p50),
      `loses in ${percent(parameterJitter.lossProbability)}`,
    ]);
  for (const [what, stress] of [
    ['fees', result.feeStress],
    ['slippage', result.slippageStress],
  ] as const)
    // prettier-ignore
    for (const level of stress?.levels ?? [])
      add('multiplier' in level ? `${what} × ${level.multiplier}` : `${what} + ${level.bps} bps`, level);
  for (const shift of result.startShift?.shifts ?? []) add(`start ${counted(shift.bars, 'bar')} later`, shift);
  for (const row of result.counterfactuals ?? []) add(`without ${row.without}`, row);
  printTable(
    [
      { title: 'run', value: ([what]: string[]) => what },
      { title: 'return', value: ([, value]: string[]) => value, align: 'right' },
      { title: 'drawdown', value: ([, , value]: string[]) => value, align: 'right' },
      { title: '', value: ([, , , note]: string[]) => note },
    ],
    rows,
  );
  if (result.lookAheadAudit) printLine(`look-ahead audit: ${auditText(result.lookAheadAudit.passed)}`);
  if (result.warmUpAudit) printLine(`warm-up audit: ${auditText(result.warmUpAudit.passed)}`);
  printLine(verdict.text);
  for (const { severity, code, message } of findings) printLine(`${severity} ${code}: ${message}`);
}

const auditText = (passed: boolean | null): string =>
  passed === null ? 'there was nothing to compare' : passed ? 'passed' : 'failed';
