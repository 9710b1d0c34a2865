-- Backtests go with their version, as with a foreign key (require_versions.sql).
create function delete_version_backtests() returns trigger language plpgsql
-- The plan is made once per connection, perhaps while the table is still empty.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  delete from backtests b using old_rows where b.strategy_version_id = old_rows.id;
  return null;
end $$;

create trigger strategy_versions_delete_backtests after delete on strategy_versions
  referencing old table as old_rows for each statement execute function delete_version_backtests();
