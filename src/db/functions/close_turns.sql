-- Counts running backtests of each workspace that have ended, and the bytes of their results. Rows are locked in the
-- order of their ids, as change_turns does.
create function close_turns(workspaces uuid[], open_changes integer[], amounts bigint[]) returns void language plpgsql
-- finish_backtests, which calls it, allows hash joins.
set enable_seqscan = off set plan_cache_mode = force_generic_plan set enable_hashjoin = off as $$
begin
  perform 1 from workspace_turns where workspace_id = any (workspaces) order by workspace_id for update;
  update workspace_turns as turn set open = turn.open + change.open, result_bytes = turn.result_bytes + change.bytes
  from unnest(workspaces, open_changes, amounts) as change (workspace_id, open, bytes)
  where turn.workspace_id = change.workspace_id;
end $$;
