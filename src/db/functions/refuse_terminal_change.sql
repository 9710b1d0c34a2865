-- The result of a backtest never changes, whatever the code above it does.
create function refuse_terminal_change() returns trigger language plpgsql as $$
begin
  raise exception 'backtest % is % and never changes', old.id, old.status;
end $$;

create trigger backtest_results_are_final before update on backtest_results
  for each row execute function refuse_terminal_change();
