-- Market data of workspaces: what they have uploaded, which no other workspace reads.

create table workspace_series (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  symbol text not null check (length(symbol) between 1 and 100),
  timeframe text not null,
  sha256 text not null references snapshots (sha256),
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, symbol, timeframe)
);
create index workspace_series_by_snapshot on workspace_series (sha256);

-- Every snapshot that a workspace has uploaded and that still exists, current or not: what its tier counts.
create table workspace_snapshots (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  sha256 text not null references snapshots (sha256) on delete cascade,
  -- When a series last began or ceased to point to it: a request may have read the pointer just before.
  touched_at timestamptz(3) not null default now(),
  primary key (workspace_id, sha256)
);
create index workspace_snapshots_by_snapshot on workspace_snapshots (sha256);
