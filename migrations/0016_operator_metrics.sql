-- What an operator asks for: which backtests have failed lately, and which workers have died.

create index backtest_results_failed on backtest_results (id) where status = 'failed';

-- Rows of the last day; a worker that stops in peace leaves none.
create table worker_deaths (
  worker_id uuid not null,
  died_at timestamptz not null default now()
);
create index worker_deaths_by_time on worker_deaths (died_at);
