-- Accepting and claiming take fewer steps per backtest.

-- That the version of a backtest exists was a foreign key, which is looked up and locked for each row that is
-- inserted. Here it is once per statement, with the same locks: a version that is being deleted is waited for, and
-- one that is referred to is not deleted meanwhile.
alter table backtests drop constraint backtests_strategy_version_id_fkey1;

create function require_versions() returns trigger language plpgsql as $$
declare
  referred uuid[] := array(select distinct strategy_version_id from new_rows);
  found integer;
begin
  perform 1 from strategy_versions v where v.id = any (referred) order by v.id for key share;
  get diagnostics found = row_count;
  if found < cardinality(referred) then
    raise foreign_key_violation using message = 'a backtest refers to a strategy version that does not exist';
  end if;
  return null;
end $$;
create trigger backtests_require_versions after insert on backtests
  referencing new table as new_rows for each statement execute function require_versions();

create function delete_version_backtests() returns trigger language plpgsql
-- The plan is made once per connection, perhaps while the table is still empty.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  delete from backtests b using old_rows where b.strategy_version_id = old_rows.id;
  return null;
end $$;
create trigger strategy_versions_delete_backtests after delete on strategy_versions
  referencing old table as old_rows for each statement execute function delete_version_backtests();

drop function claim_backtests (uuid, integer, double precision, jsonb, uuid[], double precision);
-- As before, but that it returns the columns themselves, and that a backtest is not compared with itself.
create function claim_backtests(worker uuid, max_runs integer, max_cost double precision, weights jsonb,
  excluded uuid[] default '{}', most_cost double precision default null)
returns table (id uuid, workspace_id uuid, strategy_version_id uuid, config json, snapshots text[],
  run_key text, created_at timestamptz, tier text, cost double precision, memory_bytes double precision,
  attempt integer, is_cancelled boolean, is_copied boolean)
language plpgsql
-- Plans are made once per connection, perhaps while the tables are still empty.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- How far a claim of quick backtests looks, so that a long queue does not make it slow.
  quick_workspaces constant integer := 1000;
  quick_look_ahead constant integer := 200;
  claimed uuid[];
  copied uuid[];
  workspaces uuid[];
  open_changes integer[];
  amounts bigint[];
begin
  -- One claim at a time on all hosts: each takes a few milliseconds, and none finds a workspace's rows half taken.
  perform pg_advisory_xact_lock(7233020);
  claimed := array(
    select running.id from (
      select due.id, sum(due.cost) over (order by due.virtual_time, due.workspace_id, due.id) - due.cost as cost_before
      from (
        select turn.virtual_time, turn.workspace_id, candidate.id, candidate.cost
        from (
          select workspace_id, virtual_time from workspace_turns where due > 0 and workspace_id <> all (excluded)
          -- Most of them may have none that is quick.
          order by virtual_time, workspace_id limit case when most_cost is null then max_runs else quick_workspaces end
        ) as turn
        cross join lateral (
          select id, cost from backtest_queue q
          where q.workspace_id = turn.workspace_id and q.claimed_by is null and q.kills = 0
            and (most_cost is null or q.cost <= most_cost and q.id <= coalesce((
              select o.id from backtest_queue o
              where o.workspace_id = turn.workspace_id and o.claimed_by is null and o.kills = 0
              order by o.id offset quick_look_ahead limit 1), q.id))
            -- Not what this worker has just noted as missing.
            and not exists (
              select 1 from missing_snapshots m join backtests b on b.id = q.id
              where m.worker_id = worker and m.noted_at > now() - interval '10 seconds'
                and m.sha256 = any (b.snapshots))
          order by q.id limit max_runs for update skip locked
        ) as candidate
        limit max_runs
      ) as due
    ) as running
    where running.cost_before = 0 or running.cost_before < max_cost);
  if cardinality(claimed) = 0 then return; end if;
  perform 1 from workspace_turns t
  where t.workspace_id in (select q.workspace_id from backtest_queue q where q.id = any (claimed))
  order by t.workspace_id for update;
  update workspace_turns as turn
  set virtual_time = turn.virtual_time + charge.cost / coalesce((weights ->> w.tier)::double precision, 1),
    due = turn.due - charge.count
  from (
    select workspace_id, sum(cost) as cost, count(*)::integer as count from backtest_queue q
    where q.id = any (claimed) group by workspace_id
  ) as charge
  join workspaces w on w.id = charge.workspace_id
  where turn.workspace_id = charge.workspace_id;

  -- Written so that there is one way to plan it: each row looks up its key, and each hit its result.
  with keyed as materialized (
    select own.id, (
      select d.id from backtests d
      where hashtextextended(d.run_key, 0) = hashtextextended(own.run_key, 0) and d.run_key = own.run_key
        and d.workspace_id is not distinct from own.workspace_id and d.id <> own.id
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
    insert into backtest_results (id, workspace_id, status, is_cached, attempt, cancel_requested_at, started_at,
      bars_done, bars_total, summary, summary_numbers, warnings, diagnosis)
    select gone.id, gone.workspace_id, 'completed', true, gone.attempt + 1, gone.cancel_requested_at, now(),
      r.bars_done, r.bars_total, r.summary, r.summary_numbers, r.warnings, r.diagnosis
    from gone join backtest_results r on r.id = gone.done_id
  ), detailed as (
    insert into backtest_details (id, detail, trades)
    select gone.id, d.detail, d.trades from gone join backtest_details d on d.id = gone.done_id
    returning id, octet_length(detail)::bigint + octet_length(trades) as amount
  ), change as (
    select gone.workspace_id, -count(*)::integer as open, coalesce(sum(detailed.amount), 0)::bigint as amount
    from gone left join detailed on detailed.id = gone.id group by gone.workspace_id
  )
  select array(select id from gone), array_agg(workspace_id), array_agg(open), array_agg(amount)
  into copied, workspaces, open_changes, amounts from change;
  if cardinality(copied) > 0 then perform close_turns(workspaces, open_changes, amounts); end if;

  return query
  with running as (
    update backtest_queue as q set claimed_by = worker, attempt = q.attempt + 1, started_at = now()
    where q.id = any (claimed)
    returning q.id, q.attempt, q.cost, q.memory_bytes, q.cancel_requested_at
  )
  select b.id, b.workspace_id, b.strategy_version_id, b.config, b.snapshots, b.run_key, b.created_at,
    w.tier, running.cost, running.memory_bytes, running.attempt, running.cancel_requested_at is not null, false
  from running join backtests b on b.id = running.id join workspaces w on w.id = b.workspace_id
  union all
  select b.id, b.workspace_id, b.strategy_version_id, b.config, b.snapshots, b.run_key, b.created_at,
    '', 0, 0, 0, false, true
  from backtests b where b.id = any (copied);
end $$;
