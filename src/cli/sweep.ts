// candlepool sweep: many variants of a strategy file on bars, in this process, on several threads.
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { InvalidArgumentError, type Command } from 'commander';
import {
  configOn,
  createPool,
  DEFAULT_METHOD,
  DRAWING_METHOD,
  either,
  encodeSweepRows,
  decodeRows,
  EXHAUSTIVE_METHODS,
  FLAT_KEYS,
  isFraction,
  isPortfolio,
  marketsOf,
  methodOf,
  planSweep,
  shownNames,
  shownSummary,
  spaceOf,
  SWEEP_FORMATS,
  SWEEP_METHODS,
  SweepSpec,
  WALK_FORWARD_METHODS,
  type FlatKey,
  type Snapshot,
  type SweepJob,
  type SweepResult,
} from '../engine/index.ts';
import { issuesOfZod } from '../api/http/envelopeIssues.ts';
import { MAX_THREADS } from '../config.ts';
import { counted } from '../market/formatting.ts';
import { oneOf, symbolList, wholeNumber } from './arguments.ts';
import { labelsMember, withLabelOptions, type LabelOptions } from './labelOptions.ts';
import { CommandError, percent, printJson, printLine, printTable, refusal, UsageError, withJson } from './output.ts';
import { checkOutputs, writeOutputs, type OutputFile } from './outputFiles.ts';
import { startProgress } from './progress.ts';
import { readCheckedStrategy, readConfigFile, type InstrumentOptions } from './runInputs.ts';
import { openRun, withMarketOptions, type MarketOptions } from './runMarkets.ts';
import { readJsonObject, withStrategyOptions, type StrategyOptions } from './strategyFile.ts';
import { runShards, type SweepInputs } from './sweepShards.ts';

interface Options extends StrategyOptions, InstrumentOptions, MarketOptions, LabelOptions {
  readonly config?: string;
  readonly space: string;
  readonly method?: string;
  readonly budget?: number;
  readonly seed?: number;
  readonly objective?: string;
  readonly threads: number;
  readonly rows?: string;
  readonly report?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const command = withStrategyOptions(program.command('sweep'))
    .description('run many variants of a strategy file on bars')
    .requiredOption('--space <file>', 'the space, or a whole request, in JSON (docs/sweeps.md)')
    .option('--config <file>', 'the config of the backtests (docs/config.md); default: that of the space file')
    .option('--symbols <list>', 'trade these from one account, such as AAPL,MSFT, in place of the config', symbolList)
    .option('--slots <count>', 'the most positions of a portfolio, in place of the config', wholeNumber(1, 100_000))
    .option(
      '--method <name>',
      `one of ${SWEEP_METHODS.join(', ')}; default: that of the space file, else ${DEFAULT_METHOD}`,
      oneOf(SWEEP_METHODS),
    )
    .option(
      '--budget <count>',
      `how many variants to run; needed unless the method is ${either(EXHAUSTIVE_METHODS)}`,
      wholeNumber(1, 1_000_000),
    )
    .option('--seed <number>', 'seed of the methods that draw at random; default: 1', wholeNumber(0, 0xffffffff))
    .option(
      '--objective <key>',
      'the summary key to rank by; default: that of the space file, else sharpeRatio',
      oneOf(FLAT_KEYS),
    )
    .option('--threads <count>', 'worker threads', wholeNumber(1, MAX_THREADS), availableParallelism())
    .option('--rows <file>', 'write every row into this file: .arrow, .csv or .json', rowsFile)
    .option('--report <file>', 'write the report, one HTML page, into this file');
  withJson(withLabelOptions(withMarketOptions(command))).action(run);
}

function rowsFile(path: string): string {
  if (formatOf(path) === undefined)
    throw new InvalidArgumentError('Use a file name that ends in .arrow, .csv or .json.');
  return path;
}

const formatOf = (path: string) => SWEEP_FORMATS.find((format) => path.toLowerCase().endsWith(`.${format}`));

async function run(options: Options): Promise<void> {
  await checkOutputs([options.rows, options.report].filter((path) => path !== undefined));
  const { title, inputs } = await readInputs(options);
  await using pool = createPool({ threads: options.threads, hasOneOwner: true });
  const { job } = inputs;
  const { rows, shards } = await (async () => {
    using progress = startProgress('sweep', job.indexes);
    const kept = { threads: options.threads, keepsShards: options.rows !== undefined };
    return await runShards(pool, inputs, kept, (done, best) => progress.update(done, noteOf(best)));
  })();
  const finished = await pool.sweep({ ...inputs, work: { kind: 'finish', rows, earlierTrials: null, title } }).outcome;
  if (finished.kind !== 'result')
    throw new CommandError('error' in finished ? finished.error.message : 'The sweep was stopped.');
  const files: OutputFile[] = [];
  if (options.report !== undefined) files.push({ path: options.report, content: finished.page });
  if (options.rows !== undefined) files.push({ path: options.rows, content: encodedRows(job, shards, options.rows) });
  await writeOutputs(files);
  if (options.json) return printJson({ ...labelsMember(options), ...shownResult(finished.result) });
  print(finished.result, spaceOf(job).size);
  for (const { path } of files) printLine(`wrote ${path}`);
}

/** The rows of all shards, in the format that the extension of `path` names. */
function encodedRows(job: SweepJob, shards: readonly Uint8Array[], path: string): Readable {
  const decoded = Iterator.from(shards).map(decodeRows);
  return Readable.from(encodeSweepRows(spaceOf(job), decoded, formatOf(path)!));
}

/** @throws CommandError with every fault in the space. */
async function readInputs(options: Options): Promise<{ title: string; inputs: SweepInputs }> {
  const content = await readJsonObject(options.space);
  if (!('space' in content)) refuseOtherFile(options.space, content);
  if (options.config === undefined && !('config' in content))
    throw new UsageError(`--config <file> is required, because ${options.space} has no "config".`);
  const config = await readConfigFile(options.config ?? options.space, options, content.space ?? content);
  const { issues: _, title, ...strategy } = await readCheckedStrategy(options, config.timeframe);
  const body: Record<string, unknown> = 'space' in content ? { ...content } : { space: content };
  // What a request has besides the sweep itself.
  for (const name of ['strategyVersionId', 'name', 'tags', 'note']) delete body[name];
  const { method, budget, seed, objective } = options;
  const given = {
    method: DEFAULT_METHOD,
    ...body,
    config,
    ...(method && { method }),
    ...(budget !== undefined && { budget }),
    ...(seed !== undefined && { seed }),
    ...(objective !== undefined && { objective }),
  };
  const parsed = SweepSpec.safeParse(given);
  if (!parsed.success) {
    const issues = issuesOfZod(parsed.error.issues, '', given, Object.keys(SweepSpec.shape));
    throw refusal('SWEEP_INVALID', `${options.space} does not describe a sweep`, issues);
  }
  requireFittingOptions(options, body, parsed.data);
  const planned = planSweep(strategy, parsed.data);
  if (!planned.ok) throw refusal('SWEEP_INVALID', 'The sweep cannot be run', planned.faults);
  return { title, inputs: { job: planned.job, ...(await readMarkets(planned.job, options)) } };
}

/** @throws CommandError when the file is one that another option takes. */
function refuseOtherFile(path: string, content: Readonly<Record<string, unknown>>): void {
  const holds = (...names: string[]): boolean => names.some((name) => name in content);
  const refuse = (what: string, option: string): never => {
    throw new CommandError(`${path} holds ${what}, not a space: give it as --${option}.`, 'SWEEP_INVALID');
  };
  if (holds('strategyAst', 'signalGraph', 'protocol')) refuse('a strategy', 'strategy');
  if (holds('signalInstrument', 'initialBalance', 'execution')) refuse('the config of a backtest', 'config');
}

/**
 * What `planSweep` would refuse, in the words of the command line if an option has a part in it.
 * @throws UsageError
 */
function requireFittingOptions(
  { method: chosen, budget: given, space }: Options,
  file: Readonly<Record<string, unknown>>,
  { method, budget, walkForward }: SweepSpec,
): void {
  const isChosen = chosen !== undefined;
  const { refuses } = methodOf(method);
  if (isChosen && refuses.budget === null && budget === undefined)
    throw new UsageError(
      `--method ${method} needs --budget COUNT, the number of variants to run. Only ` +
        `${either(EXHAUSTIVE_METHODS.map((name) => `a ${name}`))} runs without one.`,
    );
  if (refuses.budget !== null && given !== undefined)
    throw new UsageError(
      `${refuses.budget.onCommandLine} Leave out --budget, or draw that many variants with --method ${DRAWING_METHOD}` +
        `${isChosen || file.method !== undefined ? '' : `; without --method a sweep is a ${DEFAULT_METHOD}`}.`,
    );
  if (isChosen && refuses.budget !== null && budget !== undefined)
    throw new UsageError(
      `--method ${method} takes no budget, and ${space} has one. Remove it there, or draw that many variants with ` +
        `--method ${DRAWING_METHOD}.`,
    );
  if (isChosen && refuses.walkForward !== null && walkForward !== undefined)
    throw new UsageError(
      `--method ${method} ${refuses.walkForward}, and ${space} asks for walk-forward, whose test windows must not be ` +
        `seen. Use --method ${either(WALK_FORWARD_METHODS)}, or remove "walkForward" there.`,
    );
}

/** What each symbol or universe and timeframe of the space reads. */
async function readMarkets(job: SweepJob, options: Options): Promise<Pick<SweepInputs, 'snapshots' | 'markets'>> {
  const snapshots = new Map<string, Snapshot>();
  const markets = [];
  for (const market of marketsOf(job.spec.config, spaceOf(job))) {
    const { symbols, timeframe } = market;
    const config = configOn(job.spec.config, market);
    const { snapshots: read } = await openRun(config, job.strategy, options, universePath(job, symbols));
    for (const snapshot of read)
      if (!snapshots.has(snapshot.meta.sha256)) snapshots.set(snapshot.meta.sha256, snapshot);
    const indexes = new Map([...snapshots.keys()].map((name, index) => [name, index]));
    const indexesOfRead = read.map(({ meta }) => indexes.get(meta.sha256)!);
    markets.push({
      ...(isPortfolio(config) ? { symbols } : { symbol: symbols[0] }),
      timeframe,
      snapshots: indexesOfRead,
    });
  }
  return { snapshots: [...snapshots.values()], markets };
}

/** Where the space names a universe; undefined if the config does. */
function universePath({ spec }: SweepJob, symbols: readonly string[]): string | undefined {
  const given = spec.space.instruments;
  if (given === undefined || !('values' in given)) return undefined;
  const wanted = JSON.stringify(symbols);
  const at = given.values.findIndex((value) => JSON.stringify(value) === wanted);
  return at === -1 ? undefined : `/space/instruments/values/${at}`;
}

/** The result as the API answers it. */
const shownResult = (result: SweepResult) => ({
  ...result,
  top: result.top.map((row) => ({ ...row, metrics: shownSummary(row.metrics) })),
});

const noteOf = (best: { readonly value: number; readonly params: object } | null): string =>
  best === null ? '' : `best ${best.value.toPrecision(4)} ${JSON.stringify(best.params)}`;

const number = (value: number | string | boolean | null | undefined): string =>
  typeof value === 'number' ? Number(value.toPrecision(4)).toString() : String(value ?? '–');

const metric = (key: FlatKey, value: number | null | undefined): string =>
  isFraction(key) ? percent(value) : number(value);

/** @param points of the space; Infinity when a dimension is continuous */
function print(result: SweepResult, points: number): void {
  const { verdict, top, warnings, objective, evaluated, failures, trials } = result;
  const isRepeated = trials.sweep < evaluated;
  const repeats = isRepeated ? ` at ${trials.sweep} different points of a space of ${points}` : '';
  const failed = failures.count > 0 ? `, ${failures.count} failed` : '';
  printLine(`${counted(evaluated, 'variant')}${repeats} by ${objective.key}${failed}`);
  const names = shownNames(Object.keys(top[0]?.params ?? {}));
  const keys = [...new Set([objective.key, 'returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions'] as const)];
  printTable(
    [
      { title: 'rank', value: (row) => row.rank, align: 'right' },
      ...Object.entries(names).map(([name, title]) => ({
        title,
        value: (row: SweepResult['top'][number]) => number(row.params[name]),
        align: 'right' as const,
      })),
      ...keys.map((key) => ({
        title: key,
        value: (row: SweepResult['top'][number]) => metric(key, row.metrics[key]),
        align: 'right' as const,
      })),
      { title: 'plateau', value: (row) => number(row.plateau.score), align: 'right' },
    ],
    top,
    true,
  );
  printLine(verdict.text);
  for (const { code, message } of warnings) printLine(`warning ${code}: ${message}`);
  if (result.walkForward !== null) {
    const { folds, outOfSample } = result.walkForward;
    const { returnPct, sharpeRatio, maxDrawdown, foldsTraded, coveredShare } = outOfSample;
    printLine(
      `walk-forward, out of sample: return ${percent(returnPct)}, Sharpe ratio ${number(sharpeRatio)}, ` +
        `drawdown ${percent(maxDrawdown)}, in ${foldsTraded} of ${counted(folds.length, 'fold')} that cover ` +
        `${percent(coveredShare)} of the test period`,
    );
  }
}
