// The thread side of the pool: opens what a message points to, runs its tasks one after the other, encodes what comes out.
import { workerData } from 'node:worker_threads';
import { createMarket } from '../columns/market.ts';
import type { Snapshot } from '../columns/arrow.ts';
import type { Market } from '../columns/bars.ts';
import { BatchControl } from './control.ts';
import { encodeDetail, splitSummary } from './detail.ts';
import { KeptMap } from './keptMap.ts';
import type {
  ArtifactMessage,
  ArtifactOutcome,
  BacktestOutcome,
  BacktestTask,
  BatchMessage,
  OutcomeMessage,
  PoolOutcome,
  RunError,
  Runner,
  ThreadMessage,
} from './messages.ts';

/** Opened snapshots and markets a thread keeps. What it keeps is views on shared memory, a time column, and resampled bars. */
const MAX_SNAPSHOTS = 64;
const MAX_MARKETS = 64;

/** By sha256: the same object again keeps the bars that were opened and resampled from it (see createMarket). */
const snapshots = new KeptMap<string, Snapshot>(MAX_SNAPSHOTS);
const markets = new KeptMap<string, Market>(MAX_MARKETS);
let runner: Promise<Runner> | undefined;

type Inputs = Omit<BatchMessage, 'port'>;

/** Piscina calls this once a task. */
export default async function handle(message: ThreadMessage): Promise<ArtifactOutcome | undefined> {
  runner ??= import((workerData as { runner: string }).runner) as Promise<Runner>;
  const engine = await runner;
  return message.kind === 'batch' ? runBatch(engine, message) : buildArtifact(engine, message);
}

function runBatch(engine: Runner, batch: BatchMessage): undefined {
  const control = BatchControl.over(batch.control);
  for (let run = 0; run < batch.runs.length; run++) {
    const reason = control.stopReason(run);
    control.setState(run, 'running');
    const outcome: PoolOutcome = reason ? { kind: 'stopped', reason } : runOne(engine, batch, run, control);
    control.setState(run, 'done');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort, not a window
    batch.port.postMessage({ run, outcome } satisfies OutcomeMessage);
  }
  batch.port.close();
}

function runOne(engine: Runner, batch: Inputs, run: number, control: BatchControl): PoolOutcome {
  try {
    const outcome = engine.runBacktest(taskOf(batch, run), marketOf(batch, run), control.controlOf(run));
    const reason = control.stopReason(run);
    // A run that ended by itself before it saw the flag has a result, and results are kept.
    if (!outcome.ok && reason) return { kind: 'stopped', reason };
    return encodeOutcome(outcome);
  } catch (error) {
    return { kind: 'failed', error: internalError(error) };
  }
}

function encodeOutcome(outcome: BacktestOutcome): PoolOutcome {
  if (!outcome.ok) return { kind: 'failed', error: outcome.error, ...(outcome.issues && { issues: outcome.issues }) };
  const { summary, detail } = splitSummary(outcome.summaryJson);
  return {
    kind: 'completed',
    summary: JSON.stringify(summary),
    detail: encodeDetail({ summary: detail, trades: outcome.trades }),
    reproducibility: outcome.reproducibility,
    warnings: outcome.warnings,
    resolvedConfig: outcome.resolvedConfig,
  };
}

function buildArtifact(engine: Runner, { batch, request }: ArtifactMessage): ArtifactOutcome {
  const control = BatchControl.over(batch.control);
  control.setState(0, 'running');
  try {
    return engine.buildArtifact(taskOf(batch, 0), marketOf(batch, 0), control.controlOf(0), request);
  } catch (error) {
    return { ok: false, error: internalError(error) };
  } finally {
    control.setState(0, 'done');
  }
}

/** A bug, since expected failures are values: its message and stack go to the log of the process, the caller learns that it happened. */
function internalError(error: unknown): RunError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'INTERNAL_ERROR', path: '', message };
}

function taskOf(batch: Inputs, run: number): BacktestTask {
  const { id, strategy, settings, config, strategyHash } = batch.runs[run];
  return { id, strategyAst: batch.strategies[strategy], settings, config, strategyHash };
}

function marketOf(batch: Inputs, run: number): Market {
  const { config, snapshots: indexes } = batch.runs[run];
  const symbol = config.signalInstrument.symbol;
  const shas = indexes.map((index) => batch.snapshots[index].meta.sha256).join(' ');
  return markets.get(`${symbol} ${config.timeframe} ${shas}`, () => {
    const opened = indexes.map((index) => {
      const sent = batch.snapshots[index];
      return snapshots.get(sent.meta.sha256, () => sent);
    });
    return createMarket(opened, symbol, config.timeframe);
  });
}
