// The engine as the pool's threads import it: the only connection between the pool and what it runs. Parts of sweeps
// and of robustness checks run over columns that the thread keeps for them.
import { buildArtifact as build } from '../artifacts.ts';
import { limitKept, runBacktest as run } from '../backtest.ts';
import { decodeDetail, decodeTrades, encodeResult } from './result.ts';
import type { Runner } from './messages.ts';
import { pageAssets, sweepPageAssets } from './pageAssets.ts';
import { ColumnStore } from '../evaluate/columnStore.ts';
import { RunStopped } from '../evaluate/evaluatePlan.ts';
import { runSteps } from '../robustness/robustnessSteps.ts';
import { finishSweep } from '../sweep/sweepResult.ts';
import { rankingRows } from '../sweep/rankingRows.ts';
import { runShard, sweepContext, type SweepContext } from '../sweep/shard.ts';
import { paramsOf } from '../sweep/space.ts';
import type { SweepRows } from '../sweep/sweepRows.ts';
import { objectiveOf } from '../sweep/sweepJob.ts';
import { sweepPage } from '../sweep/page/sweepPage.ts';
import { encodeRows } from './sweepBytes.ts';

/** A thread keeps this much in columns, and as much again in buffers to reuse. */
const SWEEP_STORE_BYTES = 64 << 20;
const store = new ColumnStore(SWEEP_STORE_BYTES);

/** Bounds what this thread keeps between variants. */
const limitSweepColumns = (maxBytes: number): void => store.limit(Math.min(maxBytes, SWEEP_STORE_BYTES));

export const runSweepWork: NonNullable<Runner['runSweepWork']> = (job, work, marketOf, control) => {
  const context = sweepContext(job, marketOf, store);
  if (work.kind === 'shard') {
    const rows = runShard(context, work.range, control);
    return (
      rows && { kind: 'rows', bytes: encodeRows(rows), evaluated: rows.indexes.length, best: bestOf(context, rows) }
    );
  }
  const { rows } = work;
  store.clear();
  try {
    const result = finishSweep({ ...context, control }, rows, work.earlierTrials);
    return { kind: 'result', result, page: sweepPage(context, rows, result, work.title, sweepPageAssets()) };
  } catch (error) {
    if (error instanceof RunStopped) return null;
    throw error;
  }
};

export const runRobustnessSteps: NonNullable<Runner['runRobustnessSteps']> = (job, range, marketOf, control) =>
  runSteps(job, range, marketOf, store, control);

function bestOf(context: SweepContext, rows: SweepRows) {
  const [best] = rankingRows(context, rows).top;
  if (best === undefined) return null;
  const { variant, coordinates, metrics } = best;
  return { variant, params: paramsOf(context.space, coordinates), value: metrics[objectiveOf(context.job.spec).key]! };
}

/** Runs a task and encodes its result on the thread that ran it. */
export const runBacktest: Runner['runBacktest'] = (task, market, control) => {
  const outcome = run(task, market, control);
  return outcome.ok ? { ok: true, result: encodeResult(outcome, task.owner) } : outcome;
};

/** Builds an artifact, with the pages' assets and the stored result that it is compared with. */
export const buildArtifact: Runner['buildArtifact'] = (task, market, control, request, write) => {
  const { stored } = request;
  const storedResult =
    stored &&
    (() => {
      const trades = [...decodeTrades(stored.trades)].flat();
      return { ...stored, summary: { ...stored.summary, ...decodeDetail(stored.detail).summary }, trades };
    });
  return build(task, market, control, request, { pageAssets, storedResult: storedResult ?? null }, write);
};

/**
 * Of ten parts, seven are for the columns of backtests and two for those of sweeps; half of each is for buffers to
 * reuse (evaluate/columnStore.ts). The last part is for the trade log of the last run.
 */
export const keepBytes: NonNullable<Runner['keepBytes']> = (bytes) => {
  limitKept({ columns: bytes * 0.35, trades: bytes * 0.1 });
  limitSweepColumns(bytes * 0.1);
};
