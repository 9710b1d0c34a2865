-- How many bytes a workspace keeps in versions and in answers under Idempotency-Keys, which its tier limits.

alter table strategy_versions add column bytes integer not null generated always as (
  octet_length(settings::text) + octet_length(strategy_ast::text) + coalesce(octet_length(signal_graph::text), 0)) stored;
alter table idempotent_answers add column bytes integer not null generated always as (
  octet_length(path) + octet_length(key) + octet_length(body::text)) stored;

create table workspace_storage (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  bytes bigint not null
);

-- Kept here and nowhere else, so that no statement can forget it. The row is the last that a transaction locks, and several are locked in
-- the order of their ids.
create function add_stored_bytes(changes uuid[], amounts bigint[]) returns void language sql as $$
  insert into workspace_storage as storage (workspace_id, bytes)
  select id, sum(amount) from unnest(changes, amounts) as change (id, amount)
  -- The workspace itself may be going.
  where exists (select 1 from workspaces w where w.id = change.id)
  group by id having sum(amount) <> 0 order by id
  on conflict (workspace_id) do update set bytes = storage.bytes + excluded.bytes
$$;

create function count_inserted_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(bytes::bigint)) from new_rows having count(*) > 0;
  return null;
end $$;

create function count_deleted_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(-bytes::bigint)) from old_rows having count(*) > 0;
  return null;
end $$;

create function count_updated_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(bytes::bigint)) from (
    select workspace_id, bytes from new_rows union all select workspace_id, -bytes from old_rows) as change having count(*) > 0;
  return null;
end $$;

create trigger strategy_versions_count_insert after insert on strategy_versions
  referencing new table as new_rows for each statement execute function count_inserted_bytes();
create trigger strategy_versions_count_update after update on strategy_versions
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_bytes();
create trigger strategy_versions_count_delete after delete on strategy_versions
  referencing old table as old_rows for each statement execute function count_deleted_bytes();
create trigger idempotent_answers_count_insert after insert on idempotent_answers
  referencing new table as new_rows for each statement execute function count_inserted_bytes();
create trigger idempotent_answers_count_update after update on idempotent_answers
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_bytes();
create trigger idempotent_answers_count_delete after delete on idempotent_answers
  referencing old table as old_rows for each statement execute function count_deleted_bytes();

insert into workspace_storage (workspace_id, bytes)
select workspace_id, sum(bytes) from (
  select workspace_id, bytes from strategy_versions union all select workspace_id, bytes from idempotent_answers) as kept
group by workspace_id;
