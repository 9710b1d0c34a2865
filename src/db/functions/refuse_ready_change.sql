-- A ready version never changes, whatever the code above it does. Only the version that it was forked from may be
-- forgotten, when that is deleted.
create function refuse_ready_change() returns trigger language plpgsql as $$
begin
  if old.status = 'ready' and (new.id, new.strategy_id, new.workspace_id, new.version, new.status,
      new.settings::text, new.strategy_ast::text, new.signal_graph::text,
      new.strategy_hash, new.created_at, new.ready_at)
    is distinct from (old.id, old.strategy_id, old.workspace_id, old.version, old.status,
      old.settings::text, old.strategy_ast::text, old.signal_graph::text,
      old.strategy_hash, old.created_at, old.ready_at) then
    raise exception 'strategy version % is ready and never changes', old.id;
  end if;
  return new;
end $$;

create trigger strategy_versions_ready_is_final before update on strategy_versions
  for each row execute function refuse_ready_change();
