-- Hands out what is due: backtests of the workspaces with the least virtual time, oldest first, up to `max_runs` or
-- `max_cost` (one at least), none of the `excluded` workspaces, and none that costs more than `most_cost`; and charges
-- the workspaces. Backtests whose result is already stored get it copied and come back as copied.
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
  perform pg_advisory_xact_lock(hashtextextended('candlepool claims', 0));
  claimed := array(
    select running.id from (
      select due.id, sum(due.cost) over (order by due.virtual_time, due.workspace_id, due.id) - due.cost as cost_before
      from (
        select turn.virtual_time, turn.workspace_id, candidate.id, candidate.cost
        from (
          select workspace_id, virtual_time from workspace_turns where due > 0 and workspace_id <> all (excluded)
          -- A claim of quick backtests looks further: most workspaces may have no quick one.
          order by virtual_time, workspace_id limit case when most_cost is null then max_runs else quick_workspaces end
        ) as turn
        cross join lateral (
          select id, cost from backtest_queue q
          where q.workspace_id = turn.workspace_id and q.claimed_by is null and q.kills = 0
            and (most_cost is null or q.cost <= most_cost and q.id <= coalesce((
              select o.id from backtest_queue o
              where o.workspace_id = turn.workspace_id and o.claimed_by is null and o.kills = 0
              order by o.id offset quick_look_ahead limit 1), q.id))
            -- Without a snapshot that this worker has just noted as missing.
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

  -- Nested selects leave the planner one plan: each row looks up its key, and each hit looks up its result.
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
      bars_done, bars_total, summary_numbers, warnings, diagnosis)
    select gone.id, gone.workspace_id, 'completed', true, gone.attempt + 1, gone.cancel_requested_at, now(),
      r.bars_done, r.bars_total, r.summary_numbers, r.warnings, r.diagnosis
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
