-- The version of a backtest exists. A foreign key would be looked up and locked for each row that is inserted; here it
-- is once per statement, with the same locks: a version that is being deleted is waited for, and one that is referred
-- to is not deleted meanwhile.
create function require_versions() returns trigger language plpgsql as $$
declare
  referred uuid[] := array(select distinct strategy_version_id from new_rows);
  found integer;
begin
  perform 1 from strategy_versions v where v.id = any (referred) order by v.id for key share;
  get diagnostics found = row_count;
  if found < cardinality(referred) then
    raise foreign_key_violation using message = 'a backtest refers to a strategy version that does not exist';
  end if;
  return null;
end $$;

create trigger backtests_require_versions after insert on backtests
  referencing new table as new_rows for each statement execute function require_versions();
