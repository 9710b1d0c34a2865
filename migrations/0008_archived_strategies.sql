-- When a strategy was archived: it leaves the lists and the quota, and keeps its versions and backtests. Null: it is in use.

alter table strategies add column archived_at timestamptz(3);
