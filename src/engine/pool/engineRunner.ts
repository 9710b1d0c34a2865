// The engine as the pool's threads import it: the only connection between the pool and what it runs.
import { buildArtifact as build } from '../artifacts.ts';
import { limitKept, runBacktest as run } from '../backtest.ts';
import { limitSweepColumns } from './sweepWork.ts';
import { decodeDetail, decodeTrades, encodeResult } from './result.ts';
import type { Runner } from './messages.ts';
import { pageAssets } from './pageAssets.ts';

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

export { runRobustnessSteps, runSweepWork } from './sweepWork.ts';

/**
 * Of ten parts, seven are for the columns of backtests and two for those of sweeps; half of each is for buffers to
 * reuse (evaluate/columnStore.ts). The last part is for the trade log of the last run.
 */
export const keepBytes: NonNullable<Runner['keepBytes']> = (bytes) => {
  limitKept({ columns: bytes * 0.35, trades: bytes * 0.1 });
  limitSweepColumns(bytes * 0.1);
};
