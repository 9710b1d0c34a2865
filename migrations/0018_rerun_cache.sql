-- Artifacts are kept for the next request, as long as there is room: how many chunks one has, and when it was last read.
alter table reruns add column chunks integer;
alter table reruns add column bytes double precision not null default 0;
alter table reruns add column used_at timestamptz(3) not null default now();
create index reruns_by_backtest on reruns (backtest_id);
