-- Labels: what people and agents remember of a strategy or a run. They have a table of their own: rows of backtests
-- never change and their inserts must stay cheap, ended sweeps never change, and most runs have no label.

create table labels (
  -- Of a backtest, a sweep or a strategy; goes with it (delete_backtest_parts.sql, delete_labels.sql).
  id uuid primary key,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- Null for strategies, which have a name and the time of their archiving in their own row.
  name text check (char_length(name) between 1 and 200),
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  note text check (char_length(note) between 1 and 4000),
  -- When it left the lists. Null: it is in them.
  archived_at timestamptz(3),
  -- Of name, tags and note in UTF-8, which the tier limits (add_stored_bytes.sql).
  bytes integer not null default 0
);
create index labels_by_workspace on labels (workspace_id);
create index labels_archived on labels (workspace_id) where archived_at is not null;
