// Deleting results: backtests and sweeps go with everything that refers to them. The deleted_trials table keeps the
// number of their trials; without it, later sweeps would take luck for skill.
import type { PendingQuery, Row } from 'postgres';
import type { Queryable } from './connect.ts';

/** A query whose rows have an `id`. */
type Ids = PendingQuery<Row[]>;

/**
 * Deletes backtests that have ended, with their robustness checks that have ended. Of several equal backtests, only the
 * last to be deleted counts as a trial.
 * @returns how many backtests were deleted
 */
export async function deleteBacktests(sql: Queryable, ids: Ids): Promise<number> {
  const deleted = await sql`
    with gone as materialized (
      select b.id, b.strategy_version_id, b.snapshots, b.run_key, b.workspace_id, r.status
      from backtests b join backtest_results r using (id) where b.id in (${ids})
    ), tried as (
      select distinct v.strategy_id, gone.snapshots, gone.run_key
      from gone join strategy_versions v on v.id = gone.strategy_version_id
      where gone.status = 'completed' and not exists (
        select 1 from backtests other join backtest_results r using (id)
          join strategy_versions ov on ov.id = other.strategy_version_id
        where hashtextextended(other.run_key, 0) = hashtextextended(gone.run_key, 0) and other.run_key = gone.run_key
          and other.workspace_id = gone.workspace_id and ov.strategy_id = v.strategy_id
          and r.status = 'completed' and other.id not in (select id from gone))
    ), counted as (
      insert into deleted_trials as kept (strategy_id, kind, snapshots, trials)
      select strategy_id, 'backtest', snapshots, count(*) from tried group by strategy_id, snapshots
      on conflict (strategy_id, kind, snapshots) do update set trials = kept.trials + excluded.trials
    ), checks as (
      delete from sweeps where backtest_id in (select id from gone) and finished_at is not null
    )
    delete from backtests where id in (select id from gone)`;
  return deleted.count;
}

/**
 * Deletes sweeps and robustness checks that have ended.
 * @returns how many
 */
export async function deleteSweeps(sql: Queryable, ids: Ids): Promise<number> {
  const deleted = await sql`
    with gone as materialized (
      select id, strategy_id, snapshots, trials from sweeps where id in (${ids}) and finished_at is not null
    ), counted as (
      insert into deleted_trials as kept (strategy_id, kind, snapshots, trials)
      select strategy_id, 'sweep', snapshots, sum(trials) from gone where trials > 0 group by strategy_id, snapshots
      on conflict (strategy_id, kind, snapshots) do update set trials = kept.trials + excluded.trials
    )
    delete from sweeps where id in (select id from gone)`;
  return deleted.count;
}

/**
 * Deleted trials of a strategy: of backtests that read no other snapshots, and of sweeps that read exactly these, or
 * `others` besides.
 */
export const deletedTrials = (
  sql: Queryable,
  strategyId: string,
  snapshots: readonly string[],
  { others }: { readonly others: boolean } = { others: false },
): Ids => sql`
  select coalesce(sum(trials), 0) from deleted_trials
  where strategy_id = ${strategyId} and case kind
    when 'sweep' then snapshots ${others ? sql`@>` : sql`=`} ${snapshots as string[]}
    else snapshots <@ ${snapshots as string[]} end`;
