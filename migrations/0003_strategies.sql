-- Strategies and their versions, the answers kept for Idempotency-Key, and the request counters of the rate limits.

create table strategies (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null check (char_length(name) between 1 and 200),
  description text not null default '' check (char_length(description) <= 2000),
  -- The template it was copied from; templates live in the code.
  template_key text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index strategies_by_creation on strategies (workspace_id, created_at, id);
create index strategies_by_update on strategies (workspace_id, updated_at, id);
create index strategies_by_name on strategies (workspace_id, name collate "C", id);

-- Payloads are json, not jsonb: they are read back as they were sent, in the author's order of members.
create table strategy_versions (
  id uuid primary key default uuidv7(),
  strategy_id uuid not null references strategies (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  version integer not null check (version >= 1),
  status text not null check (status in ('draft', 'ready')),
  forked_from_version_id uuid references strategy_versions (id) on delete set null,
  settings json not null,
  strategy_ast json not null,
  signal_graph json,
  strategy_hash text not null,
  created_at timestamptz(3) not null default now(),
  ready_at timestamptz(3),
  unique (strategy_id, version),
  check ((status = 'ready') = (ready_at is not null))
);
create index strategy_versions_by_hash on strategy_versions (workspace_id, strategy_hash, ready_at) where status = 'ready';
create index strategy_versions_forks on strategy_versions (forked_from_version_id) where forked_from_version_id is not null;

-- A ready version never changes, whatever the code above it does. Only a deleted origin may be forgotten.
create function refuse_ready_change() returns trigger language plpgsql as $$
begin
  if old.status = 'ready' and (new.id, new.strategy_id, new.workspace_id, new.version, new.status, new.settings::text, new.strategy_ast::text,
      new.signal_graph::text, new.strategy_hash, new.created_at, new.ready_at)
    is distinct from (old.id, old.strategy_id, old.workspace_id, old.version, old.status, old.settings::text, old.strategy_ast::text,
      old.signal_graph::text, old.strategy_hash, old.created_at, old.ready_at) then
    raise exception 'strategy version % is ready and never changes', old.id;
  end if;
  return new;
end $$;
create trigger strategy_versions_ready_is_final before update on strategy_versions
  for each row execute function refuse_ready_change();

create table idempotent_answers (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  method text not null,
  path text not null,
  key text not null,
  body_sha256 bytea not null,
  status integer not null,
  location text,
  body json not null,
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, method, path, key)
);
create index idempotent_answers_by_age on idempotent_answers (created_at);

-- Counters may be lost in a crash: the worst is one minute of requests too many, and no write-ahead log is spent on them.
create unlogged table request_counts (
  key_id text not null,
  -- Start of the minute.
  window_start timestamptz(0) not null,
  used integer not null,
  primary key (key_id, window_start)
);
