-- Backtests go with their workspace, strategy or version, or by themselves; what belongs to them goes in the same
-- statement. A foreign key would do the same, but is checked for each row that is inserted.
create function delete_backtest_parts() returns trigger language plpgsql as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
  amounts bigint[];
begin
  with gone as (
    delete from backtest_queue q using old_rows where q.id = old_rows.id returning q.*
  ), change as (
    select workspace_id, -count(*) filter (where claimed_by is null and kills = 0)::integer as due,
      -count(*)::integer as open
    from gone group by workspace_id
  )
  select array_agg(workspace_id), array_agg(due), array_agg(open)
  into workspaces, due_changes, open_changes from change;
  if workspaces is not null then perform change_turns(workspaces, due_changes, open_changes); end if;
  delete from backtest_results r using old_rows where r.id = old_rows.id;
  with gone as (
    delete from backtest_details d using old_rows where d.id = old_rows.id
    returning old_rows.workspace_id, octet_length(d.detail)::bigint + octet_length(d.trades) as bytes
  )
  select array_agg(workspace_id), array_agg(-bytes) into workspaces, amounts from gone;
  if workspaces is not null then perform add_result_bytes(workspaces, amounts); end if;
  -- Last, since it locks the row of workspace_storage.
  delete from labels l using old_rows where l.id = old_rows.id;
  return null;
end $$;

create trigger backtests_delete_parts after delete on backtests
  referencing old table as old_rows for each statement execute function delete_backtest_parts();
