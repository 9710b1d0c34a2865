// The names of the advisory locks. Postgres knows a lock by a number, so statements take
// `hashtextextended(name, 0)`, here and in src/db/functions/.

export const LOCKS = {
  /** Of several hosts that start at the same time, one migrates. */
  migrations: 'candlepool migrations',
  /** Claims of backtests take turns; only claim_backtests.sql takes this lock. */
  claims: 'candlepool claims',
  /** Each worker process holds one of these locks while it lives, hashed with its own lock_key in place of 0. */
  worker: 'candlepool worker',
  /** One process at a time looks for dead worker processes. */
  takeOver: 'candlepool take-over',
  /** Processes that stop using the embedded Postgres leave one after the other. */
  leave: 'candlepool leave',
  /** Processes that delete what is past its retention take turns. */
  prune: 'candlepool prune',
  /** Held shared while a series is pointed to a snapshot, so that no snapshot is removed in between. */
  snapshots: 'candlepool snapshots',
} as const;
