-- Webhooks: where a workspace wants to be told that a run has ended, and the messages on their way there.

create table webhooks (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  url text not null,
  description text,
  -- Kinds of messages, such as backtest.ended.
  events text[] not null check (cardinality(events) > 0),
  -- Signs every message (Standard Webhooks); it has to be known in the clear.
  secret text not null,
  is_enabled boolean not null default true,
  -- Why it was disabled by us; null: its workspace did it.
  disabled_reason text,
  -- How many deliveries in a row failed with all their messages, and until when it therefore rests.
  failures integer not null default 0,
  rests_until timestamptz(3),
  -- Messages with a due_at.
  waiting integer not null default 0,
  -- Messages that were not kept, because too many were waiting.
  missed bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  last_delivered_at timestamptz(3)
);
create index webhooks_by_workspace on webhooks (workspace_id, id);

create table webhook_messages (
  id uuid primary key default uuidv7(),
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event text not null,
  -- The body, byte for byte the same on every attempt.
  body text not null,
  attempts integer not null default 0,
  -- When it is tried next; null: it was delivered, or given up after the last attempt.
  due_at timestamptz(3) default now(),
  delivered_at timestamptz(3),
  -- The status of the last answer; null: there was none.
  last_status integer,
  -- What went wrong at the last attempt; null: nothing.
  last_error text,
  created_at timestamptz(3) not null default now(),
  check (delivered_at is null or due_at is null)
);
create index webhook_messages_due on webhook_messages (webhook_id, due_at, id) where due_at is not null;
create index webhook_messages_by_webhook on webhook_messages (webhook_id, id);
-- For retention.
create index webhook_messages_by_creation on webhook_messages (created_at);
