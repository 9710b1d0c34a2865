-- One row for each Idempotency-Key under which backtests were created, inserted by the statement that inserts them. The answer under the key
-- is kept by another statement of the same transaction; should the two ever come apart, this key still keeps the work from being done twice.

create table idempotent_work (
  -- sha256 of the workspace, method, path and key.
  request_key bytea primary key,
  created_at timestamptz(3) not null default now()
);
create index idempotent_work_by_age on idempotent_work (created_at);
