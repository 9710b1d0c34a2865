-- How many bytes the results of a workspace take, which its tier limits: of backtests as one number of the workspace, of sweeps in each row.

alter table workspace_turns add column result_bytes bigint not null default 0;
alter table sweeps add column bytes bigint not null default 0;

-- Rows are locked in the order of their ids, as change_turns does.
create function add_result_bytes(workspaces uuid[], amounts bigint[]) returns void language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  perform 1 from workspace_turns where workspace_id = any (workspaces) order by workspace_id for update;
  update workspace_turns as turn set result_bytes = turn.result_bytes + change.amount
  from (select id, sum(amount) as amount from unnest(workspaces, amounts) as added (id, amount) group by id) as change
  where turn.workspace_id = change.id;
end $$;

-- However a result is stored: by its run, as a copy of an equal one, or by an upgrade.
create function count_inserted_details() returns trigger language plpgsql as $$
begin
  perform add_result_bytes(array_agg(b.workspace_id), array_agg(octet_length(d.detail)::bigint + octet_length(d.trades)))
  from new_rows d join backtests b on b.id = d.id having count(*) > 0;
  return null;
end $$;
create trigger backtest_details_count_insert after insert on backtest_details
  referencing new table as new_rows for each statement execute function count_inserted_details();

create or replace function delete_backtest_parts() returns trigger language plpgsql as $$
declare
  workspaces uuid[];
  due_changes integer[];
  open_changes integer[];
  amounts bigint[];
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
  with gone as (
    delete from backtest_details d using old_rows where d.id = old_rows.id
    returning old_rows.workspace_id, octet_length(d.detail)::bigint + octet_length(d.trades) as bytes
  )
  select array_agg(workspace_id), array_agg(-bytes) into workspaces, amounts from gone;
  if workspaces is not null then perform add_result_bytes(workspaces, amounts); end if;
  return null;
end $$;

update workspace_turns as turn set result_bytes = kept.bytes
from (
  select b.workspace_id, sum(octet_length(d.detail)::bigint + octet_length(d.trades)) as bytes
  from backtest_details d join backtests b on b.id = d.id group by b.workspace_id
) as kept
where turn.workspace_id = kept.workspace_id;

-- What has ended does not change, but for this.
alter table sweeps disable trigger sweeps_terminal_is_final;
update sweeps as sweep set bytes = coalesce(octet_length(sweep.result::text), 0)::bigint + coalesce(octet_length(sweep.page), 0)
  + coalesce((select sum(octet_length(shard.rows)) from sweep_shards shard where shard.sweep_id = sweep.id), 0);
alter table sweeps enable trigger sweeps_terminal_is_final;
