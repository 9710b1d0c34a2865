-- Backtests, whose turn it is, the worker processes that run them, and runs repeated on demand.

create table backtests (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  strategy_id uuid not null references strategies (id) on delete cascade,
  strategy_version_id uuid not null references strategy_versions (id) on delete cascade,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  symbol text not null,
  timeframe text not null,
  -- As it was sent, in the author's order of members.
  config json not null,
  resolved_config json,
  -- sha256 of the snapshots it may read: an import after it was accepted does not change what it runs on.
  snapshots text[] not null,
  -- Equal keys, equal result: engine, strategy, snapshots and config.
  run_key text not null,
  -- About how many bars of work; what its workspace's turn is charged.
  cost double precision not null check (cost > 0),
  -- Counts the claims; only the holder of the latest may write a result.
  attempt integer not null default 0,
  -- How often its worker process ended under it.
  kills integer not null default 0,
  claimed_by uuid,
  -- Claimed with nothing beside it, so that a death of the process is its own doing.
  is_alone boolean not null default false,
  cancel_requested_at timestamptz(3),
  bars_done double precision not null default 0,
  bars_total double precision not null default 0,
  reproducibility json,
  is_cached boolean not null default false,
  -- The flat keys of summaryJson.
  summary jsonb,
  -- zstd of the rest: trace, rule statistics, equity preview, trades.
  detail bytea,
  warnings json not null default '[]',
  error json,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null)),
  check (status <> 'completed' or (summary is not null and detail is not null)),
  check ((status = 'running') = (claimed_by is not null))
);
-- Already compressed.
alter table backtests alter column detail set storage external;

create index backtests_by_creation on backtests (workspace_id, created_at, id);
create index backtests_by_finish on backtests (workspace_id, finished_at, id) where finished_at is not null;
create index backtests_by_version on backtests (strategy_version_id, created_at);
create index backtests_by_strategy on backtests (strategy_id, created_at);
create index backtests_due on backtests (workspace_id, id) where status = 'queued' and kills = 0;
create index backtests_suspect on backtests (kills, id) where status = 'queued' and kills > 0;
create index backtests_running on backtests (claimed_by) where status = 'running';
create index backtests_results on backtests (workspace_id, run_key) where status = 'completed';

-- A terminal state never changes, whatever the code above it does.
create function refuse_terminal_change() returns trigger language plpgsql as $$
begin
  raise exception 'backtest % is % and never changes', old.id, old.status;
end $$;
create trigger backtests_terminal_is_final before update on backtests
  for each row when (old.finished_at is not null) execute function refuse_terminal_change();

-- Start-time fair queueing: work goes to the workspace with the least virtual time, which grows by cost / weight as work is handed out.
create table workspace_turns (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  virtual_time double precision not null default 0,
  -- Queued and never suspected: what an ordinary claim may take.
  due integer not null default 0,
  -- Queued or running: what the tier limits.
  open integer not null default 0
);
create index workspace_turns_next on workspace_turns (virtual_time, workspace_id) where due > 0;

-- The two counts are kept here and nowhere else, so that no road between states can forget them. Rows are locked in the order of their
-- ids: two transactions that change backtests of the same workspaces may wait for each other, never both.
create function count_inserted_backtests() returns trigger language plpgsql as $$
declare
  -- A workspace that was idle starts where the others are: it has neither saved up turns nor lost any.
  now_at double precision := (select coalesce(min(virtual_time), 0) from workspace_turns where due > 0);
begin
  insert into workspace_turns as turn (workspace_id, virtual_time, due, open)
  select workspace_id, now_at, count(*) filter (where status = 'queued' and kills = 0),
    count(*) filter (where status in ('queued', 'running'))
  from new_rows group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set
    virtual_time = case when turn.due = 0 then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + excluded.due, open = turn.open + excluded.open;
  return null;
end $$;

create function count_updated_backtests() returns trigger language plpgsql as $$
declare
  changed uuid[] := array(
    select o.workspace_id from old_rows o join new_rows n using (id)
    where (o.status, o.kills = 0) is distinct from (n.status, n.kills = 0) group by o.workspace_id);
  now_at double precision;
begin
  if cardinality(changed) = 0 then return null; end if;
  perform 1 from workspace_turns where workspace_id = any (changed) order by workspace_id for update;
  now_at := (select coalesce(min(virtual_time), 0) from workspace_turns where due > 0);
  update workspace_turns as turn set
    virtual_time = case when turn.due = 0 and change.due > 0 then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + change.due, open = turn.open + change.open
  from (
    select n.workspace_id,
      sum((n.status = 'queued' and n.kills = 0)::integer - (o.status = 'queued' and o.kills = 0)::integer) as due,
      sum((n.status in ('queued', 'running'))::integer - (o.status in ('queued', 'running'))::integer) as open
    from old_rows o join new_rows n using (id) group by n.workspace_id
  ) as change
  where turn.workspace_id = change.workspace_id and (change.due <> 0 or change.open <> 0);
  return null;
end $$;

create function count_deleted_backtests() returns trigger language plpgsql as $$
begin
  update workspace_turns as turn set due = turn.due - gone.due, open = turn.open - gone.open
  from (
    select workspace_id, count(*) filter (where status = 'queued' and kills = 0) as due,
      count(*) filter (where status in ('queued', 'running')) as open
    from old_rows group by workspace_id
  ) as gone
  where turn.workspace_id = gone.workspace_id;
  return null;
end $$;

create trigger backtests_count_insert after insert on backtests
  referencing new table as new_rows for each statement execute function count_inserted_backtests();
create trigger backtests_count_update after update on backtests
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_backtests();
create trigger backtests_count_delete after delete on backtests
  referencing old table as old_rows for each statement execute function count_deleted_backtests();

-- Worker processes that are alive: each holds the session advisory lock (class, lock_key) for as long as its process lives.
create table worker_processes (
  id uuid primary key,
  lock_key integer not null generated always as identity,
  -- Graphile Worker's name for the process; jobs it holds carry it in locked_by.
  pool_id text not null,
  host text not null,
  pid integer not null,
  threads integer not null,
  -- Since it started, for /metrics.
  busy_share double precision not null default 0,
  runs_done bigint not null default 0,
  bars_done double precision not null default 0,
  -- Sum of the times from accepted to ended.
  latency_seconds double precision not null default 0,
  started_at timestamptz(3) not null default now(),
  seen_at timestamptz(3) not null default now()
);

-- Hands out what is due: backtests of the workspaces with the least virtual time, oldest first, up to `max_runs` or `max_cost` (one at
-- least), and charges the workspaces. Those whose result is already stored get it copied and come back completed.
create function claim_backtests(worker uuid, max_runs integer, max_cost double precision, weights jsonb)
returns setof backtests language plpgsql as $$
declare
  claimed uuid[];
begin
  -- One claim at a time on all hosts: each takes a few milliseconds, and none finds a workspace's rows half taken.
  perform pg_advisory_xact_lock(7233020);
  claimed := array(
    select running.id from (
      select due.id, sum(due.cost) over (order by due.virtual_time, due.workspace_id, due.id) - due.cost as cost_before
      from (
        select turn.virtual_time, turn.workspace_id, candidate.id, candidate.cost
        from (
          select workspace_id, virtual_time from workspace_turns where due > 0
          order by virtual_time, workspace_id limit max_runs
        ) as turn
        cross join lateral (
          select id, cost from backtests b
          where b.workspace_id = turn.workspace_id and b.status = 'queued' and b.kills = 0
          order by b.id limit max_runs for update skip locked
        ) as candidate
        limit max_runs
      ) as due
    ) as running
    where running.cost_before = 0 or running.cost_before < max_cost);
  perform 1 from workspace_turns t
  where t.workspace_id in (select b.workspace_id from backtests b where b.id = any (claimed)) order by t.workspace_id for update;
  update workspace_turns as turn
  set virtual_time = turn.virtual_time + charge.cost / coalesce((weights ->> w.tier)::double precision, 1)
  from (
    select workspace_id, sum(cost) as cost from backtests b where b.id = any (claimed) group by workspace_id
  ) as charge
  join workspaces w on w.id = charge.workspace_id
  where turn.workspace_id = charge.workspace_id;
  return query
  update backtests as b set
    status = case when done.id is null then 'running' else 'completed' end,
    claimed_by = case when done.id is null then worker end,
    attempt = b.attempt + 1,
    started_at = now(),
    finished_at = case when done.id is not null then now() end,
    is_cached = done.id is not null,
    summary = done.summary, detail = done.detail, resolved_config = done.resolved_config, reproducibility = done.reproducibility,
    warnings = coalesce(done.warnings, b.warnings), bars_done = coalesce(done.bars_done, 0), bars_total = coalesce(done.bars_total, 0)
  from unnest(claimed) as mine (id)
  join backtests as own on own.id = mine.id
  left join lateral (
    select * from backtests d
    where d.workspace_id = own.workspace_id and d.run_key = own.run_key and d.status = 'completed' limit 1
  ) as done on true
  where b.id = mine.id
  returning b.*;
end $$;

-- Runs repeated on demand (artifacts, verify): the API asks, a worker answers, the asker deletes. They hold nothing that could not be
-- made again, so a crash may lose them and no write-ahead log is spent on them.
create unlogged table reruns (
  id uuid primary key default uuidv7(),
  backtest_id uuid not null,
  request json not null,
  outcome json,
  created_at timestamptz(3) not null default now()
);
create unlogged table rerun_chunks (
  rerun_id uuid not null references reruns (id) on delete cascade,
  ordinal integer not null,
  bytes bytea not null,
  primary key (rerun_id, ordinal)
);
alter table rerun_chunks alter column bytes set storage external;
