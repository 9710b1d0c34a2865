-- Changes how many bytes a workspace keeps in versions, in labels and in answers under Idempotency-Keys. Only triggers
-- call it, so that no statement can forget it. The row of workspace_storage is the last that a transaction locks, and
-- several are locked in the order of their ids.
create function add_stored_bytes(changes uuid[], amounts bigint[]) returns void language sql as $$
  insert into workspace_storage as storage (workspace_id, bytes)
  select id, sum(amount) from unnest(changes, amounts) as change (id, amount)
  -- The workspace itself may be going.
  where exists (select 1 from workspaces w where w.id = change.id)
  group by id having sum(amount) <> 0 order by id
  on conflict (workspace_id) do update set bytes = storage.bytes + excluded.bytes
$$;
