-- Changes how many backtests of a workspace are due and open. Each statement that moves backtests knows how many, and
-- says so here; close_turns does it for results. Rows are locked in the order of their ids: two transactions may wait
-- for each other, never both.
create function change_turns(workspaces uuid[], due_changes integer[], open_changes integer[]) returns void
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  now_at double precision;
begin
  perform 1 from workspace_turns where workspace_id = any (workspaces) order by workspace_id for update;
  now_at := current_virtual_time();
  update workspace_turns as turn set
    -- A workspace that was idle starts where the others are: it has neither saved up turns nor lost any.
    virtual_time = case when turn.due = 0 and change.due > 0
      then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + change.due, open = turn.open + change.open
  from unnest(workspaces, due_changes, open_changes) as change (workspace_id, due, open)
  where turn.workspace_id = change.workspace_id;
end $$;
