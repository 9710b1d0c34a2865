-- Counts the bytes of changed versions, answers and labels in workspace_storage.
create function count_updated_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(bytes::bigint)) from (
    select workspace_id, bytes from new_rows union all select workspace_id, -bytes from old_rows) as change
  having count(*) > 0;
  return null;
end $$;

create trigger strategy_versions_count_update after update on strategy_versions
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_bytes();
create trigger idempotent_answers_count_update after update on idempotent_answers
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_bytes();
create trigger labels_count_update after update on labels
  referencing old table as old_rows new table as new_rows for each statement execute function count_updated_bytes();
