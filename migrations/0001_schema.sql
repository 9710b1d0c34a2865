-- The tables, with their constraints and indexes. Functions and the triggers that call them are in src/db/functions/.

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

-- Workspaces, the people in them, and what they authenticate with.

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

-- Counters may be lost in a crash: the worst is one minute of requests too many, and no write-ahead log is spent on
-- them.
create unlogged table request_counts (
  key_id text not null,
  -- Start of the minute.
  window_start timestamptz(0) not null,
  used integer not null,
  primary key (key_id, window_start)
);

-- Market data: what snapshots there are, and which one each series points to.

create table snapshots (
  sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  symbol text not null check (length(symbol) between 1 and 100),
  timeframe text not null check (timeframe in ('1m', '5m', '15m', '1h', '4h', '1d')),
  bars integer not null check (bars > 0),
  -- Open of the first bar and close of the last, ms UTC: [start, end) as config.range has it.
  start_ms bigint not null,
  end_ms bigint not null check (end_ms > start_ms),
  -- Places where bars are absent, and how many bars are absent there.
  gaps integer not null check (gaps >= 0),
  missing_bars bigint not null check (missing_bars >= gaps),
  byte_length bigint not null,
  instrument jsonb not null,
  imported_at timestamptz not null default now(),
  -- The file that it was imported from, so that a command that runs on it can name the file. Null: made by a generator.
  source_file text
);

-- The bytes of snapshots, for hosts that share Postgres and no folder. All chunks of a snapshot are written in one
-- transaction and never change.
create table snapshot_chunks (
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  ordinal integer not null check (ordinal >= 0),
  bytes bytea not null,
  primary key (sha256, ordinal)
);
-- Columns of floating-point numbers hardly compress.
alter table snapshot_chunks alter column bytes set storage external;

-- The pointer moves with an import; snapshots stay for the backtests that pinned them.
create table series (
  symbol text not null,
  timeframe text not null,
  -- Null: the series was removed. Its row stays, so that a shipped series is not imported again at the next start.
  sha256 text references snapshots (sha256),
  updated_at timestamptz not null default now(),
  primary key (symbol, timeframe)
);

-- Strategies and their versions.

create table strategies (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  name text not null check (char_length(name) between 1 and 200),
  description text not null default '' check (char_length(description) <= 2000),
  -- The template it was copied from; templates live in the code.
  template_key text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- When it left the lists and the quota; it keeps its versions and backtests. Null: it is in use.
  archived_at timestamptz(3)
);
create index strategies_by_creation on strategies (workspace_id, created_at, id);
create index strategies_by_update on strategies (workspace_id, updated_at, id);
create index strategies_by_name on strategies (workspace_id, name collate "C", id);

-- A ready version never changes (refuse_ready_change.sql).
create table strategy_versions (
  id uuid primary key default uuidv7(),
  strategy_id uuid not null references strategies (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  version integer not null check (version >= 1),
  status text not null check (status in ('draft', 'ready')),
  forked_from_version_id uuid references strategy_versions (id) on delete set null,
  -- Payloads are json, not jsonb: they are read back as they were sent, in the author's order of members.
  settings json not null,
  strategy_ast json not null,
  signal_graph json,
  strategy_hash text not null,
  created_at timestamptz(3) not null default now(),
  ready_at timestamptz(3),
  bytes integer not null generated always as (
    octet_length(settings::text) + octet_length(strategy_ast::text)
      + coalesce(octet_length(signal_graph::text), 0)) stored,
  unique (strategy_id, version),
  check ((status = 'ready') = (ready_at is not null))
);
create index strategy_versions_by_hash on strategy_versions (workspace_id, strategy_hash, ready_at)
  where status = 'ready';
create index strategy_versions_forks on strategy_versions (forked_from_version_id)
  where forked_from_version_id is not null;

-- The answers kept for Idempotency-Key.
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
  bytes integer not null generated always as (
    octet_length(path) + octet_length(key) + octet_length(body::text)) stored,
  primary key (workspace_id, method, path, key)
);
create index idempotent_answers_by_age on idempotent_answers (created_at);

-- One row for each Idempotency-Key under which backtests were created, inserted by the statement that inserts them. The
-- answer under the key is kept by another statement of the same transaction; should the two ever come apart, this key
-- still keeps the work from being done twice.
create table idempotent_work (
  -- sha256 of the workspace, method, path and key.
  request_key bytea primary key,
  created_at timestamptz(3) not null default now()
);
create index idempotent_work_by_age on idempotent_work (created_at);

-- How many bytes a workspace keeps in versions and in answers under Idempotency-Keys, which its tier limits
-- (add_stored_bytes.sql).
create table workspace_storage (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  bytes bigint not null
);

-- Backtests. The row of an accepted backtest never changes, a small row leads it through the queue, and its result is
-- inserted when it ends. Between these tables there are no foreign keys, which are checked for each row that is
-- inserted: delete_backtest_parts.sql deletes what belongs to a backtest with the backtest.

create table backtests (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null,
  strategy_id uuid not null,
  -- The version belongs to the strategy and the workspace, and goes when either does (require_versions.sql,
  -- delete_version_backtests.sql).
  strategy_version_id uuid not null,
  symbol text not null,
  timeframe text not null,
  -- As it was sent, in the author's order of members.
  config json not null,
  -- sha256 of the snapshots it may read: an import after it was accepted does not change what it runs on.
  snapshots text[] not null,
  -- Equal keys, equal result: engine, strategy, snapshots and config.
  run_key text not null,
  created_at timestamptz(3) not null default now()
);
create index backtests_by_creation on backtests (workspace_id, created_at, id);
create index backtests_by_version on backtests (strategy_version_id, created_at);
-- For finding an equal run.
create index backtests_by_run_key on backtests (hashtextextended(run_key, 0));

-- The backtests that are queued or running, and no others.
create table backtest_queue (
  id uuid primary key,
  workspace_id uuid not null,
  -- About how many bars of work; what its workspace's turn is charged.
  cost double precision not null check (cost > 0),
  -- Counts the claims; only the holder of the latest may write a result.
  attempt integer not null default 0,
  -- How often its worker process ended under it.
  kills integer not null default 0,
  -- The worker that runs it; null: it is queued.
  claimed_by uuid,
  -- Claimed with nothing beside it, so that a death of the process is its own doing.
  is_alone boolean not null default false,
  cancel_requested_at timestamptz(3),
  started_at timestamptz(3),
  bars_done double precision not null default 0,
  bars_total double precision not null default 0,
  -- What it may need at its peak, besides the snapshots.
  memory_bytes double precision not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index backtest_queue_due on backtest_queue (workspace_id, id) where claimed_by is null and kills = 0;
create index backtest_queue_suspect on backtest_queue (kills, id) where claimed_by is null and kills > 0;
create index backtest_queue_running on backtest_queue (claimed_by) where claimed_by is not null;

-- How a backtest ended. Inserted when it leaves the queue, and never changed (refuse_terminal_change.sql).
create table backtest_results (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in ('completed', 'failed', 'cancelled')),
  -- An equal run of the workspace had the result already.
  is_cached boolean not null default false,
  -- How often it was claimed.
  attempt integer not null default 0,
  cancel_requested_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3) not null default now(),
  bars_done double precision not null default 0,
  bars_total double precision not null default 0,
  -- The flat summary, in the order of FLAT_KEYS (src/engine/report/flatSummary.ts); NaN stands for null. Making jsonb
  -- of it was a third of the time of storing a result, and took four times the room.
  summary_numbers double precision[],
  -- The codes of its warnings, and of the first entry of its diagnosis.
  warnings text[] not null default '{}',
  diagnosis text,
  error json,
  check ((status = 'completed') = (summary_numbers is not null))
-- Compressing the two kilobytes of a summary takes a fifth of the time of storing a result, and saves one of fourteen.
) with (toast_tuple_target = 8160);
create index backtest_results_by_finish on backtest_results (workspace_id, finished_at, id);
-- For an operator, who asks which backtests have failed lately.
create index backtest_results_failed on backtest_results (id) where status = 'failed';

-- Of completed backtests (src/engine/pool/detail.ts). Trades lie apart from the rest of a result, so that a reader of
-- one does not decode the other.
create table backtest_details (
  id uuid primary key,
  -- Everything else of a result but its trades.
  detail bytea not null,
  trades bytea not null
) with (toast_tuple_target = 8160);
-- Already compressed. What fits into a page stays in the row, which is cheaper than an entry per two kilobytes
-- elsewhere.
alter table backtest_details alter column detail set storage external, alter column trades set storage external;

-- Start-time fair queueing: work goes to the workspace with the least virtual time, which grows by cost / weight as
-- work is handed out. The functions that move backtests change the counts (change_turns.sql, close_turns.sql).
create table workspace_turns (
  workspace_id uuid primary key references workspaces (id) on delete cascade,
  virtual_time double precision not null default 0,
  -- Queued and never suspected: what an ordinary claim may take.
  due integer not null default 0,
  -- Queued or running: what the tier limits.
  open integer not null default 0,
  -- Of the results of its backtests, which the tier limits.
  result_bytes bigint not null default 0
);
create index workspace_turns_next on workspace_turns (virtual_time, workspace_id) where due > 0;

-- Worker processes.

-- Those that are alive: each holds a session advisory lock with its lock_key (src/db/locks.ts) for as long as its
-- process lives.
create table worker_processes (
  id uuid primary key,
  lock_key integer not null generated always as identity,
  -- Graphile Worker's name for the process; jobs it holds carry it in locked_by.
  pool_id text not null,
  host text not null,
  pid integer not null,
  threads integer not null,
  -- Since it started, for /metrics.
  busy_share double precision not null default 0,
  runs_done bigint not null default 0,
  bars_done double precision not null default 0,
  -- Sum of the times from accepted to ended.
  latency_seconds double precision not null default 0,
  started_at timestamptz(3) not null default now(),
  seen_at timestamptz(3) not null default now(),
  -- When it last took work: the process may be alive and its queue not.
  took_at timestamptz(3) not null default now()
);

-- Noted by the process that gave a backtest back for want of a file. For ten seconds it is not handed such backtests
-- again.
create unlogged table missing_snapshots (
  worker_id uuid not null references worker_processes (id) on delete cascade,
  sha256 text not null,
  noted_at timestamptz(3) not null default now(),
  primary key (worker_id, sha256)
);

-- Rows of the last day; a worker that stops in peace leaves none.
create table worker_deaths (
  worker_id uuid not null,
  died_at timestamptz not null default now()
);
create index worker_deaths_by_time on worker_deaths (died_at);

-- Runs repeated on demand (artifacts, verify): the API asks, and a worker answers. Artifacts are kept for the next
-- request, as long as there is room. They hold nothing that could not be made again, so a crash may lose them and no
-- write-ahead log is spent on them.

create unlogged table reruns (
  id uuid primary key default uuidv7(),
  backtest_id uuid not null,
  request json not null,
  outcome json,
  created_at timestamptz(3) not null default now(),
  -- How many chunks its artifact has; null until all are stored.
  chunks integer,
  bytes double precision not null default 0,
  -- When it was last read.
  used_at timestamptz(3) not null default now()
);
create index reruns_by_backtest on reruns (backtest_id);

create unlogged table rerun_chunks (
  rerun_id uuid not null references reruns (id) on delete cascade,
  ordinal integer not null,
  bytes bytea not null,
  primary key (rerun_id, ordinal)
);
alter table rerun_chunks alter column bytes set storage external;

-- Sweeps, and the shards that they are run in. One that has ended never changes (refuse_terminal_sweep_change.sql).

create table sweeps (
  id uuid primary key default uuidv7(),
  workspace_id uuid not null references workspaces (id) on delete cascade,
  strategy_id uuid not null references strategies (id) on delete cascade,
  strategy_version_id uuid not null references strategy_versions (id) on delete cascade,
  status text not null default 'queued' check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  -- The request with every default filled in, in the author's order of members.
  spec json not null,
  -- [{symbol, timeframe, snapshots}]: what variants on each symbol and timeframe read.
  markets json not null,
  -- sha256 of everything they read, sorted: trials on the same data count together.
  snapshots text[] not null,
  variants integer not null check (variants > 0),
  indexes double precision not null,
  -- Indexes that finished shards have gone through, and the best row so far.
  indexes_done double precision not null default 0,
  best json,
  -- Distinct variants evaluated; what later sweeps of the lineage on the same data count as earlier trials.
  trials integer,
  result json,
  -- zstd of the HTML report.
  page bytea,
  error json,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  -- The backtest whose robustness is checked: a check is run like a sweep, in shards, on any host, charged to its
  -- workspace's turn. Null: a sweep.
  backtest_id uuid,
  -- Of its result, page and rows, which the tier limits.
  bytes bigint not null default 0,
  check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null))
);
alter table sweeps alter column page set storage external;
create index sweeps_by_creation on sweeps (workspace_id, created_at, id);
create index sweeps_by_lineage on sweeps (strategy_id) where status = 'completed';
create index sweeps_open on sweeps (workspace_id) where status in ('queued', 'running');
create index sweeps_by_backtest on sweeps (backtest_id) where backtest_id is not null;
-- For retention.
create index sweeps_by_finish on sweeps (workspace_id, finished_at, id) where finished_at is not null;
-- Deleting a version looks for the sweeps that have run it: without an index, among those of all workspaces.
create index sweeps_by_version on sweeps (strategy_version_id);

create table sweep_shards (
  sweep_id uuid not null references sweeps (id) on delete cascade,
  ordinal integer not null,
  -- Indexes [first_index, last_index); both null for the last step, which puts the rows of all shards into the result.
  first_index double precision,
  last_index double precision,
  status text not null default 'queued' check (status in ('queued', 'running', 'done')),
  -- About how many bars of work; what its workspace's turn is charged.
  cost double precision not null check (cost > 0),
  attempt integer not null default 0,
  -- How often its worker process ended under it.
  kills integer not null default 0,
  claimed_by uuid,
  -- engine/pool/sweepBytes.ts
  rows bytea,
  primary key (sweep_id, ordinal),
  check ((status = 'running') = (claimed_by is not null))
);
alter table sweep_shards alter column rows set storage external;
create index sweep_shards_due on sweep_shards (sweep_id, ordinal) where status = 'queued';
create index sweep_shards_running on sweep_shards (claimed_by) where status = 'running';

-- Trials that are not there any more: what a lineage has tried counts for later sweeps though the results were deleted
-- (semantics §5.4).
create table deleted_trials (
  strategy_id uuid not null references strategies (id) on delete cascade,
  kind text not null check (kind in ('backtest', 'sweep')),
  -- sha256 of what they read, in the order in which the row that was deleted names them.
  snapshots text[] not null,
  trials integer not null check (trials > 0),
  primary key (strategy_id, kind, snapshots)
);
