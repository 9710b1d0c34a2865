-- Market data: what snapshots there are, and which one each series points to. The bars lie in files named by sha256.

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
  imported_at timestamptz not null default now()
);

-- The pointer moves with an import; snapshots stay for the backtests that pinned them.
create table series (
  symbol text not null,
  timeframe text not null,
  sha256 text not null references snapshots (sha256),
  updated_at timestamptz not null default now(),
  primary key (symbol, timeframe)
);
