-- Trials that are not there any more: what a lineage has tried counts for later sweeps though the results were deleted (semantics §5.4).
create table deleted_trials (
  strategy_id uuid not null references strategies (id) on delete cascade,
  kind text not null check (kind in ('backtest', 'sweep')),
  -- sha256 of what they read, in the order in which the row that was deleted names them.
  snapshots text[] not null,
  trials integer not null check (trials > 0),
  primary key (strategy_id, kind, snapshots)
);

-- What retention looks for.
create index sweeps_by_finish on sweeps (workspace_id, finished_at, id) where finished_at is not null;
