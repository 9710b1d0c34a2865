-- The virtual time at which a workspace that was idle starts. It counts workspaces that have only sweeps: without them
-- it would start at zero, and the workspace would take every turn until it had caught up.
create function current_virtual_time() returns double precision stable language sql as $$
  select coalesce(least(
    (select min(virtual_time) from workspace_turns where due > 0),
    (select min(virtual_time) from workspace_turns
      where workspace_id in (select workspace_id from sweeps where status in ('queued', 'running')))), 0)
$$;
