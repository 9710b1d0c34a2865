-- A sweep that has ended never changes, whatever the code above it does.
create function refuse_terminal_sweep_change() returns trigger language plpgsql as $$
begin
  raise exception 'sweep % is % and never changes', old.id, old.status;
end $$;

create trigger sweeps_terminal_is_final before update on sweeps
  for each row when (old.finished_at is not null) execute function refuse_terminal_sweep_change();
