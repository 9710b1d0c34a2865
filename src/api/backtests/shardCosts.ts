// What the shards of sweeps and robustness checks cost, measured in bars.

/**
 * Some tenths of a second of work on one thread: when shards hold all threads, another workspace waits that long for
 * its turn.
 */
export const COST_PER_SHARD = 30_000_000;
/** What a run of a shard costs however few its bars are. */
export const COST_PER_RUN = 50_000;
