// Parts of sweeps and robustness checks on a thread, over the columns that the thread keeps for them.
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
import type { Runner } from './messages.ts';
import { sweepPageAssets } from './pageAssets.ts';
import { encodeRows } from './sweepBytes.ts';

/** A thread keeps this much in columns, and as much again in buffers to reuse. */
const SWEEP_STORE_BYTES = 64 << 20;
const store = new ColumnStore(SWEEP_STORE_BYTES);

/** Bounds what this thread keeps between variants. */
export const limitSweepColumns = (maxBytes: number): void => store.limit(Math.min(maxBytes, SWEEP_STORE_BYTES));

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
