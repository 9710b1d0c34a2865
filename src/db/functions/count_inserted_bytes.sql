-- Counts the bytes of stored versions, answers and labels in workspace_storage.
create function count_inserted_bytes() returns trigger language plpgsql as $$
begin
  perform add_stored_bytes(array_agg(workspace_id), array_agg(bytes::bigint)) from new_rows having count(*) > 0;
  return null;
end $$;

create trigger strategy_versions_count_insert after insert on strategy_versions
  referencing new table as new_rows for each statement execute function count_inserted_bytes();
create trigger idempotent_answers_count_insert after insert on idempotent_answers
  referencing new table as new_rows for each statement execute function count_inserted_bytes();
create trigger labels_count_insert after insert on labels
  referencing new table as new_rows for each statement execute function count_inserted_bytes();
