-- What a worker process cannot do: when it last took work, and the snapshots that it could not open.

-- The process itself may be alive and its queue not.
alter table worker_processes add column took_at timestamptz(3) not null default now();

-- Noted by the process that gave a backtest back for want of a file. For ten seconds it is not handed such backtests again.
create unlogged table missing_snapshots (
  worker_id uuid not null references worker_processes (id) on delete cascade,
  sha256 text not null,
  noted_at timestamptz(3) not null default now(),
  primary key (worker_id, sha256)
);

-- As before, but for the snapshots the worker has noted as missing.
create or replace function claim_backtests(worker uuid, max_runs integer, max_cost double precision, weights jsonb)
returns setof backtests language plpgsql as $$
declare
  claimed uuid[];
begin
  -- One claim at a time on all hosts: each takes a few milliseconds, and none finds a workspace's rows half taken.
  perform pg_advisory_xact_lock(7233020);
  claimed := array(
    select running.id from (
      select due.id, sum(due.cost) over (order by due.virtual_time, due.workspace_id, due.id) - due.cost as cost_before
      from (
        select turn.virtual_time, turn.workspace_id, candidate.id, candidate.cost
        from (
          select workspace_id, virtual_time from workspace_turns where due > 0
          order by virtual_time, workspace_id limit max_runs
        ) as turn
        cross join lateral (
          select id, cost from backtests b
          where b.workspace_id = turn.workspace_id and b.status = 'queued' and b.kills = 0
            and not exists (
              select 1 from missing_snapshots m
              where m.worker_id = worker and m.sha256 = any (b.snapshots) and m.noted_at > now() - interval '10 seconds')
          order by b.id limit max_runs for update skip locked
        ) as candidate
        limit max_runs
      ) as due
    ) as running
    where running.cost_before = 0 or running.cost_before < max_cost);
  perform 1 from workspace_turns t
  where t.workspace_id in (select b.workspace_id from backtests b where b.id = any (claimed)) order by t.workspace_id for update;
  update workspace_turns as turn
  set virtual_time = turn.virtual_time + charge.cost / coalesce((weights ->> w.tier)::double precision, 1)
  from (
    select workspace_id, sum(cost) as cost from backtests b where b.id = any (claimed) group by workspace_id
  ) as charge
  join workspaces w on w.id = charge.workspace_id
  where turn.workspace_id = charge.workspace_id;
  return query
  update backtests as b set
    status = case when done.id is null then 'running' else 'completed' end,
    claimed_by = case when done.id is null then worker end,
    attempt = b.attempt + 1,
    started_at = now(),
    finished_at = case when done.id is not null then now() end,
    is_cached = done.id is not null,
    summary = done.summary, detail = done.detail, resolved_config = done.resolved_config, reproducibility = done.reproducibility,
    warnings = coalesce(done.warnings, b.warnings), bars_done = coalesce(done.bars_done, 0), bars_total = coalesce(done.bars_total, 0)
  from unnest(claimed) as mine (id)
  join backtests as own on own.id = mine.id
  left join lateral (
    select * from backtests d
    where d.workspace_id = own.workspace_id and d.run_key = own.run_key and d.status = 'completed' limit 1
  ) as done on true
  where b.id = mine.id
  returning b.*;
end $$;
