// Pruning: a worker deletes what is past its time, in slices with pauses between them, while it runs backtests.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../db/connect.ts';
import { deleteExpired } from '../db/retention.ts';
import { deleteOldWebhookMessages } from '../db/webhooks.ts';
import type { DeletedResults } from '../db/retention.ts';
import type { Log } from '../log.ts';
import { TIER_LIMITS } from '../tiers.ts';

/** Deleting this many takes tens of milliseconds. */
const SLICE = 500;
/** A sweep may have a thousand shards of rows. */
const SWEEP_SLICE = 10;
/** After each slice, so that pruning takes a fraction of the database's time. */
const PAUSE_MS = 200;
const PRUNE_EVERY_MS = 600_000;

interface PruneOptions {
  readonly pauseMs?: number;
  readonly signal?: AbortSignal;
}

/** Deletes every backtest and sweep that is past its time. @returns how many */
export async function pruneResults(sql: Sql, { pauseMs = 0, signal }: PruneOptions = {}): Promise<DeletedResults> {
  const total = { backtests: 0, sweeps: 0 };
  for (;;) {
    if (signal?.aborted) return total;
    const { backtests, sweeps } = await deleteExpired(sql, TIER_LIMITS, SLICE, SWEEP_SLICE);
    if (backtests + sweeps === 0) return total;
    total.backtests += backtests;
    total.sweeps += sweeps;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Prunes at the start and every ten minutes until it is disposed of. */
export function startPruning(
  sql: Sql,
  pruneSnapshots: (() => Promise<readonly object[]>) | undefined,
  log: Log,
): AsyncDisposable {
  const stopped = new AbortController();
  const { signal } = stopped;
  const prune = async (): Promise<void> => {
    const { backtests, sweeps } = await pruneResults(sql, { pauseMs: PAUSE_MS, signal });
    while (!signal.aborted && (await deleteOldWebhookMessages(sql, SLICE)) === SLICE)
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    const snapshots = signal.aborted ? 0 : ((await pruneSnapshots?.())?.length ?? 0);
    if (backtests + sweeps + snapshots > 0)
      log.info({ backtests, sweeps, snapshots }, 'deleted what was past its time');
  };
  const pruning = (async () => {
    while (!signal.aborted) {
      await prune().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'pruning failed, trying again later');
      });
      await sleep(PRUNE_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      stopped.abort();
      await pruning;
    },
  };
}
