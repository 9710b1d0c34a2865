// What the shards of sweeps and robustness checks cost, measured in bars.

/** About a second of work on one thread. */
export const COST_PER_SHARD = 50_000_000;
/** What a run of a shard costs however few its bars are. */
export const COST_PER_RUN = 50_000;
