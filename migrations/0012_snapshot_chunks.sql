-- The bytes of snapshots, for hosts that share Postgres and no folder. All chunks of a snapshot are written in one transaction and never change.

create table snapshot_chunks (
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  ordinal integer not null check (ordinal >= 0),
  bytes bytea not null,
  primary key (sha256, ordinal)
);
-- Columns of floating-point numbers hardly compress.
alter table snapshot_chunks alter column bytes set storage external;
