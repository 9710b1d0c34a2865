-- Labels go with their sweep or strategy; those of backtests are deleted by delete_backtest_parts.
create function delete_labels() returns trigger language plpgsql as $$
begin
  delete from labels l using old_rows where l.id = old_rows.id;
  return null;
end $$;

create trigger sweeps_delete_labels after delete on sweeps
  referencing old table as old_rows for each statement execute function delete_labels();
create trigger strategies_delete_labels after delete on strategies
  referencing old table as old_rows for each statement execute function delete_labels();
