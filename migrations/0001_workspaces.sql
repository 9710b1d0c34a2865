-- Workspaces, the people in them, and what they authenticate with.

-- Ids sort by time, which keeps indexes dense and lists in order. Postgres 18 has uuidv7() built in and finds that one
-- first (pg_catalog); an older server of the operator's own gets the same from here.
do $$
begin
  if current_setting('server_version_num')::int < 180000 then
    create or replace function public.uuidv7() returns uuid language sql volatile as $f$
      select encode(
        set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
            from 1 for 6),
          52, 1), 53, 1), 'hex')::uuid
    $f$;
  end if;
end $$;

create table workspaces (
  id uuid primary key default uuidv7(),
  name text not null check (char_length(name) between 1 and 200),
  tier text not null default 'free' check (tier in ('free', 'plus', 'pro')),
  created_at timestamptz not null default now()
);

create table users (
  id uuid primary key default uuidv7(),
  -- `sub` of the tokens that speak for this user.
  subject text not null unique,
  email text not null,
  name text not null,
  created_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

-- A membership that has ended keeps its row: keys its user made must be refused, not orphaned.
create table members (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (workspace_id, user_id)
);
create index members_user on members (user_id);

create table api_keys (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- The public part in svc_live_<keyId>_<secret>.
  key_id text not null unique,
  -- argon2id, in its own encoding; the secret itself is nowhere.
  secret_hash text not null,
  name text not null check (char_length(name) between 1 and 100),
  description text check (char_length(description) <= 500),
  role text not null check (role in ('viewer', 'member')),
  scopes text[] not null check (cardinality(scopes) >= 1),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_keys_workspace on api_keys (workspace_id, created_at desc);

-- Signs the tokens of `candlepool token`. In Postgres, so that a token made on one host holds on all.
create table signing_keys (
  id uuid primary key default uuidv7(),
  algorithm text not null,
  public_jwk jsonb not null,
  private_jwk jsonb not null,
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);
create unique index signing_keys_one_active on signing_keys (is_active) where is_active;
