// candlepool robustness: how robust the backtest of a strategy file is, in this process, on several threads, and what
// earlier sweeps say of it, whose results it reads as `candlepool sweep --json` prints them or the API answers them.
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { MAX_THREADS } from '../config.ts';
import {
  ANALYSES,
  createPool,
  isPortfolio,
  resolveConfig,
  robustnessReport,
  robustnessResult,
  ROBUSTNESS_ANALYSES,
  RobustnessSpec,
  stepsOf,
  symbolsOf,
  type AnalysisRow,
  type RobustnessJob,
  type RobustnessResult,
  type Snapshot,
  type StepOutcome,
  type Lineage,
  type LineageSweep,
} from '../engine/index.ts';
import { counted } from '../market/formatting.ts';
import { symbolList, wholeNumber } from './arguments.ts';
import { CommandError, percent, printJson, printLine, printTable, UsageError, withJson } from './output.ts';
import { checkOutputs, writeOutputs } from './outputFiles.ts';
import { startProgress } from './progress.ts';
import { readCheckedStrategy, readConfigFile, type InstrumentOptions } from './runInputs.ts';
import { openRun, repeated, withMarketOptions, type MarketOptions } from './runMarkets.ts';
import { withStrategyOptions, readJsonObject, type StrategyOptions } from './strategyFile.ts';
import { z } from 'zod';

interface Options extends StrategyOptions, InstrumentOptions, MarketOptions {
  readonly config: string;
  readonly analysis?: readonly string[];
  readonly seed?: number;
  readonly samples?: number;
  readonly trials?: number;
  readonly sweep?: readonly string[];
  readonly threads: number;
  readonly report?: string;
  readonly json?: boolean;
}

/** Parts per thread: small ones, so that all threads finish together. An audit is a single step. */
const PARTS_PER_THREAD = 8;

export function register(program: Command): void {
  const command = withStrategyOptions(program.command('robustness'))
    .description('check how robust the backtest of a strategy file is')
    .requiredOption('--config <file>', 'the config of the backtest (docs/config.md)')
    .option('--analysis <name>', `one of ${ROBUSTNESS_ANALYSES.join(', ')}; repeatable; default: all`, repeated)
    .option('--symbols <list>', 'trade these from one account, such as AAPL,MSFT, in place of the config', symbolList)
    .option('--slots <count>', 'the most positions of a portfolio, in place of the config', wholeNumber(1, 100_000))
    .option('--seed <number>', 'seed of everything that is drawn at random; default: 1', wholeNumber(0, 0xffffffff))
    .option('--samples <count>', 'runs of the block bootstrap and of the parameter jitter', wholeNumber(10, 1_000))
    .option('--trials <count>', 'how many variants were tried, this one included; 1: no other', wholeNumber(1, 1e9))
    .option(
      '--sweep <file>',
      'the result of the sweep that the backtest comes from (candlepool sweep --json); repeatable',
      repeated,
    )
    .option('--report <file>', 'write the report, one HTML page, into this file')
    .option('--threads <count>', 'worker threads', wholeNumber(1, MAX_THREADS), availableParallelism());
  withJson(withMarketOptions(command)).action(run);
}

async function run(options: Options): Promise<void> {
  await checkOutputs(options.report === undefined ? [] : [options.report]);
  const config = await readConfigFile(options.config, options);
  const { issues: _, title, ...strategy } = await readCheckedStrategy(options, config.timeframe);
  const spec = readSpec(options);
  const lineage = await readLineage(options.sweep ?? []);
  const { snapshots } = await openRun(config, strategy, options);
  const job: RobustnessJob = { task: { id: 'command-line', ...strategy, config }, spec };
  const outcomes = await runParts(job, snapshots, options.threads);
  const result = robustnessResult(job, outcomes, lineage);
  if ('code' in result) throw new CommandError(result.message, result.code);
  if (options.report !== undefined) {
    const heading = { title, version: null, backtestId: null, config: resolveConfig(config) };
    await writeOutputs([{ path: options.report, content: robustnessReport(result, heading) }]);
  }
  if (options.json) return printJson(result);
  print(result);
  if (options.report !== undefined) printLine(`wrote ${options.report}`);
}

function readSpec({ analysis, seed, samples, trials }: Options): RobustnessSpec {
  const given = {
    ...(analysis && { analyses: analysis }),
    ...(seed !== undefined && { seed }),
    ...(samples && { samples }),
    ...(trials !== undefined && { trials }),
  };
  const parsed = RobustnessSpec.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError(`There is no such analysis. Use ${ROBUSTNESS_ANALYSES.join(', ')}.`);
}

async function runParts(job: RobustnessJob, snapshots: readonly Snapshot[], threads: number): Promise<StepOutcome[]> {
  const { config } = job.task;
  const symbols = symbolsOf(config);
  const read = { timeframe: config.timeframe, snapshots: snapshots.map((_, at) => at) };
  const markets = [isPortfolio(config) ? { symbols, ...read } : { symbol: symbols[0], ...read }];
  const count = stepsOf(job).length;
  const size = Math.ceil(count / (threads * PARTS_PER_THREAD));
  const ranges = Array.from({ length: Math.ceil(count / size) }, (_, part) => ({
    first: part * size,
    last: Math.min(count, (part + 1) * size),
  }));
  await using pool = createPool({ threads, hasOneOwner: true });
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
  const reports = ANALYSES.flatMap((analysis) => {
    const found = result[analysis.name];
    return found === undefined ? [] : [analysis.reportOf(found)];
  });
  const { baseline, verdict, findings, bounds } = result;
  printTable(
    [
      { title: 'run', value: ({ name }: AnalysisRow) => name },
      { title: 'return', value: ({ returnPct }: AnalysisRow) => percent(returnPct), align: 'right' },
      { title: 'drawdown', value: ({ maxDrawdown }: AnalysisRow) => percent(maxDrawdown), align: 'right' },
      { title: '', value: noteOf },
    ],
    [
      { name: 'backtest', returnPct: baseline.returnPct, maxDrawdown: baseline.maxDrawdown },
      ...reports.flatMap(({ samples = [] }) => samples),
      ...reports.flatMap(({ runs = [] }) => runs),
    ],
  );
  for (const { audit } of reports) if (audit) printLine(`${audit.title}: ${auditText(audit.passed)}`);
  const held = bounds.filter(({ passed }) => passed === true).length;
  const unknown = bounds.filter(({ passed }) => passed === null).length;
  const missing = unknown > 0 ? `, ${unknown} not measured` : '';
  printLine(`${verdict.code}: ${held} of ${counted(bounds.length, 'bound')} hold${missing}`);
  printLine(verdict.text);
  for (const { severity, code, message } of findings) printLine(`${severity} ${code}: ${message}`);
}

const noteOf = ({ lossProbability, error }: AnalysisRow): string =>
  lossProbability === undefined ? (error?.message ?? '') : `loses in ${percent(lossProbability)}`;

const auditText = (passed: boolean | null): string =>
  passed === null ? 'there was nothing to compare' : passed ? 'passed' : 'failed';

const Metric = z
  .number()
  .nullish()
  .transform((value) => value ?? null);
const SweepFile = z.object({
  verdict: z.object({ code: z.string(), text: z.string() }),
  trials: z.object({ sweep: z.number(), workspace: z.number().nullable() }),
  overfitting: z.object({ trials: z.number(), expectedMaximum: z.number().nullable() }),
  top: z.array(
    z.object({
      rank: z.number(),
      metrics: z.object({ returnPct: Metric, sharpeRatio: Metric, totalPositions: Metric }),
      plateau: z.object({ score: z.number().nullable(), isCliff: z.boolean() }),
    }),
  ),
});

/**
 * The sweeps that a backtest is said to come from, and their trials together.
 * @throws CommandError
 */
export async function readLineage(paths: readonly string[]): Promise<Lineage> {
  const read = await Promise.all(paths.map(readSweep));
  if (read.length === 0) return { trials: null, sweeps: [] };
  return {
    trials: read.reduce((sum, { trials }) => sum + trials, 0),
    sweeps: read.map(({ sweep }) => sweep),
  };
}

async function readSweep(path: string): Promise<{ readonly trials: number; readonly sweep: LineageSweep }> {
  const content = await readJsonObject(path);
  const parsed = SweepFile.safeParse(content.result ?? content);
  if (!parsed.success)
    throw new CommandError(
      `${path} does not hold the result of a sweep. Write one with: candlepool sweep … --json > ${path}`,
      'SWEEP_INVALID',
    );
  const { verdict, trials, overfitting, top } = parsed.data;
  return {
    trials: trials.workspace ?? trials.sweep,
    sweep: {
      name: path,
      isOfBacktest: true,
      verdict,
      overfitting,
      top: top.map(({ rank, metrics, plateau }) => ({ rank, plateau, ...metrics })),
    },
  };
}
