-- A robustness check of a backtest is run like a sweep: in shards, on any host, charged to its workspace's turn. Null: a sweep.

alter table sweeps add column backtest_id uuid;
create index sweeps_by_backtest on sweeps (backtest_id) where backtest_id is not null;
