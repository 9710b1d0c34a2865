// The thread side of the pool: opens the snapshots a message names, runs its tasks in order, encodes the outcomes.
import { isPortfolio, symbolsOf } from '../config.ts';
import { flushCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import { createMarket, createUniverse } from '../bars/market.ts';
import type { Snapshot } from '../bars/arrow.ts';
import type { Market, Timeframe, Universe } from '../bars/bars.ts';
import { MemoryRefused } from '../simulate/tradeBudget.ts';
import type { MarketOf } from '../comparedRun.ts';
import { ConstraintsTooRare } from '../sweep/tries.ts';
import { Bell } from './bell.ts';
import { BatchControl } from './control.ts';
import { LruMap } from './lruMap.ts';
import { enterThrough } from './nativeCalls.ts';
import { lowerThreadPriority } from './priority.ts';
import { ChunkSender, WritingStopped } from './artifactChunks.ts';
import type { StrategyAst } from '../language/grammar/ast.ts';
import type { BacktestTask, RunControl, RunError } from '../task.ts';
import type {
  ArtifactAnswer,
  ArtifactMessage,
  BatchMessage,
  EndedRun,
  MessageRun,
  Outcome,
  RobustnessMessage,
  RobustnessOutcome,
  Runner,
  ThreadMessage,
  ThreadSettings,
  SweepMarket,
  SweepMessage,
  SweepOutcome,
} from './messages.ts';

/** Opened snapshots and markets that a thread keeps: views on shared memory, a time column, and resampled bars. */
const MAX_SNAPSHOTS = 64;
const MAX_MARKETS = 64;
/**
 * More snapshots are kept while all of them are small: a portfolio of 1,000 instruments reads as many, and opening one
 * takes as long as a short run on it. 1,000 series of 2,500 days are 120 MB.
 */
const MORE_SNAPSHOTS = { bytes: 256 << 20, bytesOf: ({ byteLength }: Snapshot): number => byteLength };
/** The last universe of a thread is kept, and more while their own columns, of times, are few. */
const MORE_UNIVERSES = {
  bytes: 128 << 20,
  bytesOf: ({ instruments }: Universe): number =>
    instruments.reduce((sum, { base, fine }) => sum + 8 * (base.length + (fine?.length ?? 0)), 0),
};
/** A strategy is up to a megabyte, and its plan is kept with it. */
const MAX_STRATEGIES = 32;

/** Claims and writes, on the worker's main thread (niceness 5), get about three times the share of a core. */
const NICENESS = 10;

/** Snapshots by sha256: the same object keeps the bars that were opened and resampled from it (createMarket). */
const snapshots = new LruMap<string, Snapshot>(MAX_SNAPSHOTS, MORE_SNAPSHOTS);
const markets = new LruMap<string, Market>(MAX_MARKETS);
const universes = new LruMap<string, Universe>(1, MORE_UNIVERSES);
/** Strategies by their text: the same object keeps what was prepared and planned of it. */
const strategies = new LruMap<string, StrategyAst>(MAX_STRATEGIES);
const { runner: runnerUrl, keptBytes, bell: bellMemory } = workerData as ThreadSettings;
const bell = new Bell(bellMemory);
const ring = (): void => bell.ring();
/** Loaded right away, while the process that started the thread still waits for its database. */
const engine = (await import(runnerUrl)) as Runner;
engine.keepBytes?.(keptBytes);
// Only now: somebody may wait for this thread to load, while other threads compute.
lowerThreadPriority(NICENESS);
// Speeds up the start of the next thread, if the process keeps compiled code at all.
flushCompileCache();

type Inputs = Omit<BatchMessage, 'port'>;

/** Piscina calls this once per task. */
export default async function handle(
  message: ThreadMessage,
): Promise<ArtifactAnswer | SweepOutcome | RobustnessOutcome | undefined> {
  switch (message.kind) {
    case 'load':
      return undefined;
    case 'sweep':
      return runSweep(message);
    case 'robustness':
      return runRobustness(message);
    case 'batch':
      return runBatch(message);
    case 'artifact':
      return buildArtifact(message);
  }
}

const runSweep = ({ snapshots, markets, job, work, control }: SweepMessage): SweepOutcome =>
  runPart(control, (runControl) => engine.runSweepWork!(job, work, marketsOf(snapshots, markets), runControl));

const runRobustness = ({ snapshots, markets, job, range, control }: RobustnessMessage): RobustnessOutcome =>
  runPart(control, (runControl) => {
    const outcomes = engine.runRobustnessSteps!(job, range, marketsOf(snapshots, markets), runControl);
    return outcomes && { kind: 'steps', outcomes };
  });

/** Runs a part of a sweep or of a robustness check; `run` gives null when it was stopped. */
function runPart<Product>(
  memory: SharedArrayBuffer,
  run: (control: RunControl) => Product | null,
): Product | Extract<SweepOutcome, { kind: 'failed' | 'stopped' }> {
  const control = openControl(memory);
  control.begin(0);
  try {
    return run(control.controlOf(0, ring)) ?? { kind: 'stopped', reason: control.stopReason(0) ?? 'cancelled' };
  } catch (error) {
    return { kind: 'failed', error: internalError(error) };
  } finally {
    control.end(0);
  }
}

/** Opens a market when it is first asked for, and with it the others of its universe. */
function marketsOf(snapshots: readonly Snapshot[], markets: readonly SweepMarket[]): MarketOf {
  const listed = new Map<string, () => Market>();
  for (const market of markets) {
    const { timeframe, snapshots: indexes } = market;
    let universe: Universe | undefined;
    const symbols = 'symbols' in market ? market.symbols : [market.symbol];
    const open = (at: number): Market => {
      if (!('symbols' in market)) return openMarket(snapshots, indexes, market.symbol, timeframe);
      universe ??= openUniverse(snapshots, indexes, symbols, timeframe);
      return universe.instruments[at];
    };
    for (const [at, symbol] of symbols.entries()) {
      const key = `${timeframe} ${symbol}`;
      if (!listed.has(key)) listed.set(key, () => open(at));
    }
  }
  return (symbol, timeframe) => listed.get(`${timeframe} ${symbol}`)?.();
}

/** The control of a message, through whose gate this thread enters native calls from now on. */
function openControl(memory: SharedArrayBuffer): BatchControl {
  const control = BatchControl.over(memory);
  enterThrough(control.gate);
  return control;
}

function runBatch(batch: BatchMessage): undefined {
  if (batch.collectsGarbage) globalThis.gc?.();
  const control = openControl(batch.control);
  for (let run = 0; run < batch.runs.length; run++) {
    if (!control.begin(run)) continue;
    const reason = control.stopReason(run);
    const outcome: Outcome = reason ? { kind: 'stopped', reason } : runOne(batch, run, control);
    control.end(run);
    batch.port.postMessage({ run, outcome } satisfies EndedRun, buffersOf(outcome));
  }
  batch.port.close();
}

/** Moved to the other thread, not copied. */
const buffersOf = (outcome: Outcome): ArrayBuffer[] =>
  outcome.kind === 'completed' ? [outcome.result.detail.buffer as ArrayBuffer] : [];

function runOne(batch: Inputs, run: number, control: BatchControl): Outcome {
  try {
    const outcome = engine.runBacktest(taskOf(batch, run), marketOf(batch, run), control.controlOf(run, ring));
    const reason = control.stopReason(run);
    // A run that finished before it saw the flag has a result, and results are kept.
    if (!outcome.ok && reason) return { kind: 'stopped', reason };
    if (outcome.ok) return { kind: 'completed', result: outcome.result };
    return { kind: 'failed', error: outcome.error, ...(outcome.issues && { issues: outcome.issues }) };
  } catch (error) {
    return { kind: 'failed', error: internalError(error) };
  }
}

function buildArtifact({ batch, request, port, taken }: ArtifactMessage): ArtifactAnswer {
  const control = openControl(batch.control);
  control.begin(0);
  const runControl = control.controlOf(0, ring);
  const sender = new ChunkSender(port, taken, () => runControl.isCancelled());
  try {
    const write = (piece: Uint8Array): void => sender.write(piece);
    const outcome = engine.buildArtifact(taskOf(batch, 0), marketOf(batch, 0), runControl, request, write);
    return { ...outcome, chunks: sender.finish() };
  } catch (error) {
    const isStopped = error instanceof WritingStopped;
    return { ok: false, error: isStopped ? STOPPED : internalError(error), chunks: 0 };
  } finally {
    control.end(0);
    port.close();
  }
}

const STOPPED: RunError = { code: 'CANCELLED', path: '', message: 'The run was stopped.' };

/** V8's messages about a string, array or buffer beyond its limits. */
const TOO_LARGE = /^Invalid (string|array|typed array) length|^Array buffer allocation failed|longer than 0x/;

/**
 * The error of a run that threw: memory that was refused, constraints that hardly any point satisfies, a result beyond
 * V8's limits, or else a defect, since expected failures are values. The message and stack of a defect go to the log;
 * the caller only learns that it happened.
 */
function internalError(error: unknown): RunError {
  if (error instanceof MemoryRefused || error instanceof ConstraintsTooRare) return error.runError;
  if (error instanceof RangeError && TOO_LARGE.test(error.message))
    return {
      code: 'RESOURCE_LIMIT',
      path: '',
      message:
        'The result is too large to be made at once. Use a shorter range or a coarser timeframe; of artifacts, Arrow ' +
        'takes the least room.',
    };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'INTERNAL_ERROR', path: '', message };
}

function taskOf(batch: Inputs, run: number): BacktestTask {
  const { strategy, snapshots: _, ...task } = batch.runs[run];
  return { ...task, strategyAst: strategyOf(batch.strategies[strategy], batch.runs[run]) };
}

/** The kept object of each strategy that came in a message. */
const keptStrategies = new WeakMap<StrategyAst, StrategyAst>();

/** Owners share no strategies: how long a run takes must not reveal what others have run. */
function strategyOf(sent: StrategyAst, { owner, signalGraph }: MessageRun): StrategyAst {
  const known = keptStrategies.get(sent);
  if (known !== undefined) return known;
  const kept = strategies.get(JSON.stringify([owner, sent, signalGraph ?? null]), () => sent);
  keptStrategies.set(sent, kept);
  return kept;
}

/** Whatever has a list of instruments is opened as a universe; the engine decides how it runs on it. */
function marketOf(batch: Inputs, run: number): Market | Universe {
  const { config, snapshots: indexes } = batch.runs[run];
  const symbols = symbolsOf(config);
  return isPortfolio(config)
    ? openUniverse(batch.snapshots, indexes, symbols, config.timeframe)
    : openMarket(batch.snapshots, indexes, symbols[0], config.timeframe);
}

function openMarket(
  sent: readonly Snapshot[],
  indexes: readonly number[],
  symbol: string,
  timeframe: Timeframe,
): Market {
  return markets.get(`${symbol} ${timeframe} ${namesOf(sent, indexes)}`, () =>
    createMarket(keptSnapshots(sent, indexes), symbol, timeframe),
  );
}

function openUniverse(
  sent: readonly Snapshot[],
  indexes: readonly number[],
  symbols: readonly string[],
  timeframe: Timeframe,
): Universe {
  return universes.get(`${symbols.join()} ${timeframe} ${namesOf(sent, indexes)}`, () =>
    createUniverse(keptSnapshots(sent, indexes), symbols, timeframe),
  );
}

const namesOf = (sent: readonly Snapshot[], indexes: readonly number[]): string =>
  indexes.map((index) => sent[index].meta.sha256).join(' ');

const keptSnapshots = (sent: readonly Snapshot[], indexes: readonly number[]): Snapshot[] =>
  indexes.map((index) => snapshots.get(sent[index].meta.sha256, () => sent[index]));
