-- Counts the bytes of deleted versions, answers and labels in workspace_storage.
create function count_deleted_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(-bytes::bigint)) from old_rows having count(*) > 0;
  return null;
end $$;

create trigger strategy_versions_count_delete after delete on strategy_versions
  referencing old table as old_rows for each statement execute function count_deleted_bytes();
create trigger idempotent_answers_count_delete after delete on idempotent_answers
  referencing old table as old_rows for each statement execute function count_deleted_bytes();
create trigger labels_count_delete after delete on labels
  referencing old table as old_rows for each statement execute function count_deleted_bytes();
