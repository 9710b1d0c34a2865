-- Changes how many bytes the results of a workspace's backtests take. Rows are locked in the order of their ids, as
-- change_turns does.
create function add_result_bytes(workspaces uuid[], amounts bigint[]) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  perform 1 from workspace_turns where workspace_id = any (workspaces) order by workspace_id for update;
  update workspace_turns as turn set result_bytes = turn.result_bytes + change.amount
  from (select id, sum(amount) as amount from unnest(workspaces, amounts) as added (id, amount) group by id) as change
  where turn.workspace_id = change.id;
end $$;
