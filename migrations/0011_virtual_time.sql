-- The virtual time at which a workspace that was idle starts counts workspaces that have only sweeps: without them it would start at zero and
-- take every turn until it had caught up.

create function current_virtual_time() returns double precision stable language sql as $$
  select coalesce(least(
    (select min(virtual_time) from workspace_turns where due > 0),
    (select min(virtual_time) from workspace_turns
      where workspace_id in (select workspace_id from sweeps where status in ('queued', 'running')))), 0)
$$;

-- As before, but for current_virtual_time().
create or replace function count_inserted_backtests() returns trigger language plpgsql as $$
declare
  -- A workspace that was idle starts where the others are: it has neither saved up turns nor lost any.
  now_at double precision := current_virtual_time();
begin
  insert into workspace_turns as turn (workspace_id, virtual_time, due, open)
  select workspace_id, now_at, count(*) filter (where status = 'queued' and kills = 0),
    count(*) filter (where status in ('queued', 'running'))
  from new_rows group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set
    virtual_time = case when turn.due = 0 then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + excluded.due, open = turn.open + excluded.open;
  return null;
end $$;

create or replace function count_updated_backtests() returns trigger language plpgsql as $$
declare
  changed uuid[] := array(
    select o.workspace_id from old_rows o join new_rows n using (id)
    where (o.status, o.kills = 0) is distinct from (n.status, n.kills = 0) group by o.workspace_id);
  now_at double precision;
begin
  if cardinality(changed) = 0 then return null; end if;
  perform 1 from workspace_turns where workspace_id = any (changed) order by workspace_id for update;
  now_at := current_virtual_time();
  update workspace_turns as turn set
    virtual_time = case when turn.due = 0 and change.due > 0 then greatest(turn.virtual_time, now_at) else turn.virtual_time end,
    due = turn.due + change.due, open = turn.open + change.open
  from (
    select n.workspace_id,
      sum((n.status = 'queued' and n.kills = 0)::integer - (o.status = 'queued' and o.kills = 0)::integer) as due,
      sum((n.status in ('queued', 'running'))::integer - (o.status in ('queued', 'running'))::integer) as open
    from old_rows o join new_rows n using (id) group by n.workspace_id
  ) as change
  where turn.workspace_id = change.workspace_id and (change.due <> 0 or change.open <> 0);
  return null;
end $$;
