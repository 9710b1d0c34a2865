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
    insert into backtest_results (id, workspace_id, status, attempt, cancel_requested_at, started_at,
      bars_done, bars_total, error)
    select id, workspace_id, final_status, attempt,
      case when final_status = 'cancelled' then coalesce(cancel_requested_at, now()) else cancel_requested_at end,
      started_at, bars_done, bars_total, final_error
    from gone
  ), change as (
    select workspace_id, -count(*) filter (where claimed_by is null and kills = 0)::integer as due,
      -count(*)::integer as open
    from gone group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(open)
  into workspaces, due_changes, open_changes from change;
  perform change_turns(workspaces, due_changes, open_changes);
end $$;
