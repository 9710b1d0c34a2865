-- Puts running backtests back on the queue; `deaths` counts the worker process that ended under them. The caller has
-- locked their rows.
create function requeue_backtests(returned uuid[], deaths integer) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
begin
  with back as (
    update backtest_queue set claimed_by = null, is_alone = false, bars_done = 0, bars_total = 0, started_at = null,
      kills = kills + deaths
    where id = any (returned) returning workspace_id, kills
  ), change as (
    select workspace_id, count(*) filter (where kills = 0)::integer as due from back group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(0) into workspaces, due_changes, open_changes from change;
  perform change_turns(workspaces, due_changes, open_changes);
end $$;
