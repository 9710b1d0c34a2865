// Parts of sweeps and robustness checks on a thread, over the columns that the thread keeps for them.
import { ColumnStore } from '../evaluate/columnStore.ts';
import { runSteps } from '../robustness/robustnessSteps.ts';
import { historyOf } from '../sweep/rounds.ts';
import { rowOf, finishSweep } from '../sweep/sweepResult.ts';
import { bestRows } from '../sweep/scores.ts';
import { runShard, sceneOf, type SweepScene } from '../sweep/shard.ts';
import { metricOf, joinRows, type SweepRows } from '../sweep/sweepRows.ts';
import { objectiveOf } from '../sweep/sweepJob.ts';
import { sweepPage } from '../sweep/page/sweepPage.ts';
import type { Runner } from './messages.ts';
import { sweepPageAssets } from './pageAssets.ts';
import { decodeRows, encodeRows } from './sweepBytes.ts';

/** A thread keeps as much, and as much again in buffers to be written on: two threads stay below half a gigabyte. */
const SWEEP_STORE_BYTES = 96 << 20;
const store = new ColumnStore(SWEEP_STORE_BYTES);

export const runSweepWork: NonNullable<Runner['runSweepWork']> = (job, work, marketOf, control) => {
  const scene = sceneOf(job, marketOf, store);
  if (work.kind === 'shard') {
    const rows = runShard(scene, work.range, control);
    return rows && { kind: 'rows', bytes: encodeRows(rows), evaluated: rows.indexes.length, best: bestOf(scene, rows) };
  }
  const rows = joinRows(work.shards.map(decodeRows));
  const result = finishSweep(scene, rows, work.earlierTrials);
  return { kind: 'result', result, page: sweepPage(scene, rows, result, work.title, sweepPageAssets()) };
};

export const runRobustnessSteps: NonNullable<Runner['runRobustnessSteps']> = (job, range, marketOf, control) =>
  runSteps(job, range, marketOf, store, control);

function bestOf(scene: SweepScene, rows: SweepRows) {
  const [best] = bestRows(historyOf(scene, rows).scores, 1);
  if (best === undefined) return null;
  const { variant, params } = rowOf(scene.space, rows, best);
  return { variant, params, value: metricOf(rows, objectiveOf(scene.job.spec).key)[best] };
}
