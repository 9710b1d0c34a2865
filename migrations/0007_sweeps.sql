-- Sweeps, and the shards that they are run in.

create table sweeps (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  strategy_id uuid not null references strategies (id) on delete cascade,
  strategy_version_id uuid not null references strategy_versions (id) on delete cascade,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  -- The request with every default filled in, in the author's order of members.
  spec json not null,
  -- [{symbol, timeframe, snapshots}]: what variants on each symbol and timeframe read.
  markets json not null,
  -- sha256 of everything they read, sorted: trials on the same data count together.
  snapshots text[] not null,
  variants integer not null check (variants > 0),
  indexes double precision not null,
  -- Indexes that finished shards have gone through, and the best row so far.
  indexes_done double precision not null default 0,
  best json,
  -- Distinct variants evaluated; what later sweeps of the lineage on the same data count as earlier trials.
  trials integer,
  result json,
  -- zstd of the HTML report.
  page bytea,
  error json,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null))
);
alter table sweeps alter column page set storage external;
create index sweeps_by_creation on sweeps (workspace_id, created_at, id);
create index sweeps_by_lineage on sweeps (strategy_id) where status = 'completed';
create index sweeps_open on sweeps (workspace_id) where status in ('queued', 'running');

create function refuse_terminal_sweep_change() returns trigger language plpgsql as $$
begin
  raise exception 'sweep % is % and never changes', old.id, old.status;
end $$;
create trigger sweeps_terminal_is_final before update on sweeps
  for each row when (old.finished_at is not null) execute function refuse_terminal_sweep_change();

create table sweep_shards (
  sweep_id uuid not null references sweeps (id) on delete cascade,
  ordinal integer not null,
  -- Indexes [first_index, last_index); both null for the last step, which puts the rows of all shards into the result.
  first_index double precision,
  last_index double precision,
  status text not null default 'queued' check (status in ('queued', 'running', 'done')),
  -- About how many bars of work; what its workspace's turn is charged.
  cost double precision not null check (cost > 0),
  attempt integer not null default 0,
  -- How often its worker process ended under it.
  kills integer not null default 0,
  claimed_by uuid,
  -- engine/pool/sweepBytes.ts
  rows bytea,
  primary key (sweep_id, ordinal),
  check ((status = 'running') = (claimed_by is not null))
);
alter table sweep_shards alter column rows set storage external;
create index sweep_shards_due on sweep_shards (sweep_id, ordinal) where status = 'queued';
create index sweep_shards_running on sweep_shards (claimed_by) where status = 'running';
