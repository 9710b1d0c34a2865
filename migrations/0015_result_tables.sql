-- A backtest is written once where it was written three times: what was accepted never changes again, a small row leads it through the
-- queue, and its result is inserted when it ends. Trades lie apart from the rest of a result, so that a reader of one does not decode the other.

drop function claim_backtests (uuid, integer, double precision, jsonb);
alter table backtests rename to old_backtests;

create table backtests (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null,
  strategy_id uuid not null,
  -- The version belongs to the strategy and the workspace, and goes when either does.
  strategy_version_id uuid not null references strategy_versions (id) on delete cascade,
  symbol text not null,
  timeframe text not null,
  -- As it was sent, in the author's order of members.
  config json not null,
  -- sha256 of the snapshots it may read: an import after it was accepted does not change what it runs on.
  snapshots text[] not null,
  -- Equal keys, equal result: engine, strategy, snapshots and config.
  run_key text not null,
  created_at timestamptz(3) not null default now()
);

-- The backtests that are queued or running, and no others.
create table backtest_queue (
  id uuid primary key,
  workspace_id uuid not null,
  -- About how many bars of work; what its workspace's turn is charged.
  cost double precision not null check (cost > 0),
  -- Counts the claims; only the holder of the latest may write a result.
  attempt integer not null default 0,
  -- How often its worker process ended under it.
  kills integer not null default 0,
  -- The worker that runs it; null: it is queued.
  claimed_by uuid,
  -- Claimed with nothing beside it, so that a death of the process is its own doing.
  is_alone boolean not null default false,
  cancel_requested_at timestamptz(3),
  started_at timestamptz(3),
  bars_done double precision not null default 0,
  bars_total double precision not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- How a backtest ended. Inserted when it leaves the queue, and never changed.
create table backtest_results (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in ('completed', 'failed', 'cancelled')),
  -- An equal run of the workspace had the result already.
  is_cached boolean not null default false,
  -- How often it was claimed.
  attempt integer not null default 0,
  cancel_requested_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3) not null default now(),
  bars_done double precision not null default 0,
  bars_total double precision not null default 0,
  -- The flat keys of summaryJson.
  summary jsonb,
  -- The codes of its warnings, and of the first entry of its diagnosis.
  warnings text[] not null default '{}',
  diagnosis text,
  error json,
  check ((status = 'completed') = (summary is not null))
);

-- Of completed backtests (src/engine/pool/detail.ts).
create table backtest_details (
  id uuid primary key,
  -- Everything else of a result but its trades.
  detail bytea not null,
  trades bytea not null
) with (toast_tuple_target = 8160);
-- Already compressed. What fits into a page stays in the row, which is cheaper than an entry per two kilobytes elsewhere.
alter table backtest_details alter column detail set storage external, alter column trades set storage external;

insert into backtests (id, workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots, run_key, created_at)
select id, workspace_id, strategy_id, strategy_version_id, symbol, timeframe, config, snapshots, run_key, created_at
from old_backtests order by id;
insert into backtest_queue (id, workspace_id, cost, attempt, kills, claimed_by, is_alone, cancel_requested_at, started_at, bars_done,
  bars_total)
select id, workspace_id, cost, attempt, kills, claimed_by, is_alone, cancel_requested_at, started_at, bars_done, bars_total
from old_backtests where status in ('queued', 'running') order by id;
insert into backtest_results (id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at, finished_at, bars_done, bars_total, summary,
  warnings, error)
select id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at, finished_at, bars_done, bars_total,
  case when status = 'completed' then summary end, array(select warning ->> 'code' from json_array_elements(warnings) as warning), error
from old_backtests where finished_at is not null order by id;
-- What only code can take apart: src/db/splitDetails.ts empties this table and drops it.
create table unsplit_details as
select id, detail, resolved_config, reproducibility, warnings from old_backtests where status = 'completed';
alter table unsplit_details add primary key (id);
drop table old_backtests;

create index backtests_by_creation on backtests (workspace_id, created_at, id);
create index backtests_by_version on backtests (strategy_version_id, created_at);
-- For finding an equal run.
create index backtests_by_run_key on backtests (hashtextextended(run_key, 0));
create index backtest_queue_due on backtest_queue (workspace_id, id) where claimed_by is null and kills = 0;
create index backtest_queue_suspect on backtest_queue (kills, id) where claimed_by is null and kills > 0;
create index backtest_queue_running on backtest_queue (claimed_by) where claimed_by is not null;
create index backtest_results_by_finish on backtest_results (workspace_id, finished_at, id);

-- A terminal state never changes, whatever the code above it does.
create or replace function refuse_terminal_change() returns trigger language plpgsql as $$
begin
  raise exception 'backtest % is % and never changes', old.id, old.status;
end $$;
create trigger backtest_results_are_final before update on backtest_results
  for each row execute function refuse_terminal_change();

drop function count_inserted_backtests ();
drop function count_updated_backtests ();
drop function count_deleted_backtests ();

-- The one place that changes how many backtests of a workspace are due and open. Each statement that moves backtests knows how many, and says
-- so here. Rows are locked in the order of their ids: two transactions may wait for each other, never both.
create function change_turns(workspaces uuid[], due_changes integer[], open_changes integer[]) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  now_at double precision;
begin
  perform 1 from workspace_turns where workspace_id = any (workspaces) order by workspace_id for update;
  now_at := current_virtual_time();
  update workspace_turns as turn set
    -- A workspace that was idle starts where the others are: it has neither saved up turns nor lost any.
    virtual_time = case when turn.due = 0 and change.due > 0 then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + change.due, open = turn.open + change.open
  from unnest(workspaces, due_changes, open_changes) as change (workspace_id, due, open)
  where turn.workspace_id = change.workspace_id;
end $$;

-- Ends open backtests that have no result. The caller has locked their rows.
create function end_backtests(ended uuid[], final_status text, final_error json) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
begin
  with gone as (
    delete from backtest_queue where id = any (ended) returning *
  ), stored as (
    insert into backtest_results (id, workspace_id, status, attempt, cancel_requested_at, started_at, bars_done, bars_total, error)
    select id, workspace_id, final_status, attempt,
      case when final_status = 'cancelled' then coalesce(cancel_requested_at, now()) else cancel_requested_at end,
      started_at, bars_done, bars_total, final_error
    from gone
  ), change as (
    select workspace_id, -count(*) filter (where claimed_by is null and kills = 0)::integer as due, -count(*)::integer as open
    from gone group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(open) into workspaces, due_changes, open_changes from change;
  perform change_turns(workspaces, due_changes, open_changes);
end $$;

-- Puts running backtests back on the queue; `deaths` counts the worker process that ended under them. The caller has locked their rows.
create function requeue_backtests(returned uuid[], deaths integer) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
begin
  with back as (
    update backtest_queue set claimed_by = null, is_alone = false, bars_done = 0, bars_total = 0, started_at = null, kills = kills + deaths
    where id = any (returned) returning workspace_id, kills
  ), change as (
    select workspace_id, count(*) filter (where kills = 0)::integer as due from back group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(0) into workspaces, due_changes, open_changes from change;
  perform change_turns(workspaces, due_changes, open_changes);
end $$;

-- Backtests go with their workspace, strategy or version, or by themselves; what belongs to them goes in the same statement. A foreign key
-- would do the same, but is checked for each row that is inserted.
create function delete_backtest_parts() returns trigger language plpgsql as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
begin
  with gone as (
    delete from backtest_queue q using old_rows where q.id = old_rows.id returning q.*
  ), change as (
    select workspace_id, -count(*) filter (where claimed_by is null and kills = 0)::integer as due, -count(*)::integer as open
    from gone group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(open) into workspaces, due_changes, open_changes from change;
  if workspaces is not null then perform change_turns(workspaces, due_changes, open_changes); end if;
  delete from backtest_results r using old_rows where r.id = old_rows.id;
  delete from backtest_details d using old_rows where d.id = old_rows.id;
  return null;
end $$;
create trigger backtests_delete_parts after delete on backtests
  referencing old table as old_rows for each statement execute function delete_backtest_parts();

-- Hands out what is due: backtests of the workspaces with the least virtual time, oldest first, up to `max_runs` or `max_cost` (one at
-- least), and charges the workspaces. Those whose result is already stored get it copied and come back completed.
create function claim_backtests(worker uuid, max_runs integer, max_cost double precision, weights jsonb)
returns table (backtest backtests, backtest_cost double precision, backtest_attempt integer, workspace_tier text, is_cancelled boolean,
  is_copied boolean)
language plpgsql
-- Plans are made once per connection, perhaps while the tables are still empty.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
declare
  claimed uuid[];
  copied uuid[];
  workspaces uuid[];
  open_changes integer[];
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
          select id, cost from backtest_queue q
          where q.workspace_id = turn.workspace_id and q.claimed_by is null and q.kills = 0
            -- Not what this worker has just noted as missing.
            and not exists (
              select 1 from missing_snapshots m join backtests b on b.id = q.id
              where m.worker_id = worker and m.noted_at > now() - interval '10 seconds' and m.sha256 = any (b.snapshots))
          order by q.id limit max_runs for update skip locked
        ) as candidate
        limit max_runs
      ) as due
    ) as running
    where running.cost_before = 0 or running.cost_before < max_cost);
  if cardinality(claimed) = 0 then return; end if;
  perform 1 from workspace_turns t
  where t.workspace_id in (select q.workspace_id from backtest_queue q where q.id = any (claimed)) order by t.workspace_id for update;
  update workspace_turns as turn
  set virtual_time = turn.virtual_time + charge.cost / coalesce((weights ->> w.tier)::double precision, 1), due = turn.due - charge.count
  from (
    select workspace_id, sum(cost) as cost, count(*)::integer as count from backtest_queue q where q.id = any (claimed) group by workspace_id
  ) as charge
  join workspaces w on w.id = charge.workspace_id
  where turn.workspace_id = charge.workspace_id;

  -- Written so that there is one way to plan it: each row looks up its key, and each hit its result.
  with keyed as materialized (
    select own.id, (
      select d.id from backtests d
      where hashtextextended(d.run_key, 0) = hashtextextended(own.run_key, 0) and d.run_key = own.run_key
        and d.workspace_id is not distinct from own.workspace_id
        and (select r.status from backtest_results r where r.id = d.id) = 'completed'
      limit 1
    ) as done_id
    from backtests own where own.id = any (claimed)
  ), equal as materialized (
    select id, done_id from keyed where done_id is not null
  ), gone as (
    delete from backtest_queue q using equal where q.id = equal.id
    returning q.id, q.workspace_id, q.attempt, q.cancel_requested_at, equal.done_id
  ), stored as (
    insert into backtest_results (id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at, bars_done, bars_total,
      summary, warnings, diagnosis)
    select gone.id, gone.workspace_id, 'completed', true, gone.attempt + 1, gone.cancel_requested_at, now(), r.bars_done, r.bars_total,
      r.summary, r.warnings, r.diagnosis
    from gone join backtest_results r on r.id = gone.done_id
  ), detailed as (
    insert into backtest_details (id, detail, trades)
    select gone.id, d.detail, d.trades from gone join backtest_details d on d.id = gone.done_id
  ), change as (
    select workspace_id, array_agg(id) as ids, -count(*)::integer as open from gone group by workspace_id
  )
  select array(select id from gone), array_agg(workspace_id), array_agg(open) into copied, workspaces, open_changes from change;
  if cardinality(copied) > 0 then
    perform change_turns(workspaces, array_fill(0, array[cardinality(workspaces)]), open_changes);
  end if;

  return query
  with running as (
    update backtest_queue as q set claimed_by = worker, attempt = q.attempt + 1, started_at = now()
    where q.id = any (claimed)
    returning q.id, q.attempt, q.cost, q.cancel_requested_at
  )
  select b, running.cost, running.attempt, w.tier, running.cancel_requested_at is not null, false
  from running join backtests b on b.id = running.id join workspaces w on w.id = b.workspace_id
  union all
  select b, 0, 0, '', false, true from backtests b where b.id = any (copied);
end $$;

-- Writes how claims ended. `rows` says of each where its parts lie in `bytes`; one that is no longer the latest claim writes nothing.
-- @returns the ids that were written
create function finish_backtests(rows json, bytes bytea) returns uuid[] language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
declare
  written uuid[];
  workspaces uuid[];
  open_changes integer[];
begin
  with gone as (
    delete from backtest_queue q
    using json_to_recordset(rows) as r (id uuid, attempt integer, status text, "isCached" boolean, error json, "barsDone" double precision,
      "barsTotal" double precision, "summaryAt" integer, "summaryLength" integer, "detailAt" integer, "detailLength" integer,
      "tradesAt" integer, "tradesLength" integer, warnings json, diagnosis text)
    where q.id = r.id and q.attempt = r.attempt and q.claimed_by is not null
    returning q.workspace_id, q.started_at, q.cancel_requested_at, r.*
  ), stored as (
    insert into backtest_results (id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at, bars_done, bars_total, error,
      summary, warnings, diagnosis)
    select id, workspace_id, status, "isCached", attempt, cancel_requested_at, started_at, "barsDone", "barsTotal", error,
      convert_from(substr(bytes, "summaryAt", "summaryLength"), 'UTF8')::jsonb,
      case when warnings is null then '{}' else array(select json_array_elements_text(warnings)) end, diagnosis
    from gone
  ), detailed as (
    insert into backtest_details (id, detail, trades)
    select id, substr(bytes, "detailAt", "detailLength"), substr(bytes, "tradesAt", "tradesLength") from gone where "detailAt" is not null
  ), change as (
    select workspace_id, -count(*)::integer as open from gone group by workspace_id
  )
  select array(select id from gone), array_agg(workspace_id), array_agg(open) into written, workspaces, open_changes from change;
  if cardinality(written) > 0 then
    perform change_turns(workspaces, array_fill(0, array[cardinality(workspaces)]), open_changes);
  end if;
  return written;
end $$;
