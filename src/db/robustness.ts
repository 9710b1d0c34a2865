// What a robustness check needs to know of the backtest that it checks. The checks themselves are rows of sweeps.ts.
import { BACKTEST_TABLES, STATUS_COLUMN } from './backtests.ts';
import type { RunStatus } from './runStatus.ts';
import type { Queryable } from './connect.ts';
import { deletedTrials } from './deletedTrials.ts';
import type { ShardClaim } from './sweepShards.ts';

/** What the robustness check of a backtest is made from. */
export interface CheckedBacktest {
  readonly status: RunStatus;
  readonly strategyId: string;
  readonly strategyVersionId: string;
  readonly config: object;
  /** The snapshots that it is pinned to. */
  readonly snapshots: readonly string[];
  /** How many bars it evaluated; 0 until it has completed. */
  readonly bars: number;
}

export async function findCheckedBacktest(
  sql: Queryable,
  workspaceId: string,
  id: string,
): Promise<CheckedBacktest | undefined> {
  const [row] = await sql<CheckedBacktest[]>`
    select ${sql.unsafe(STATUS_COLUMN)} as status,
      b.strategy_id as "strategyId", b.strategy_version_id as "strategyVersionId", b.config, b.snapshots,
      coalesce(r.bars_total, 0)::float8 as bars
    from ${sql.unsafe(BACKTEST_TABLES)}
    where b.workspace_id = ${workspaceId} and b.id = ${id}`;
  return row;
}

/** How the report of a check names the strategy that was checked. */
export async function findCheckedStrategy(
  sql: Queryable,
  workspaceId: string,
  strategyVersionId: string,
): Promise<{ readonly name: string; readonly version: number }> {
  const [row] = await sql<{ name: string; version: number }[]>`
    select s.name, v.version from strategy_versions v join strategies s on s.id = v.strategy_id
    where v.id = ${strategyVersionId} and v.workspace_id = ${workspaceId}`;
  return row;
}

/** A completed sweep of the lineage, as far as a check reads it. */
interface SweepOfLineage {
  readonly id: string;
  readonly strategyVersionId: string;
  readonly config: object;
  readonly verdict: { readonly code: string; readonly text: string };
  readonly overfitting: { readonly trials: number; readonly expectedMaximum: number | null };
  readonly top: readonly {
    readonly rank: number;
    readonly returnPct: number | null;
    readonly sharpeRatio: number | null;
    readonly totalPositions: number | null;
    readonly plateau: { readonly score: number | null; readonly isCliff: boolean };
  }[];
}

/** The latest sweeps of a lineage decide; each has up to 20 rows to read. */
const MAX_SWEEPS = 100;

/**
 * What the workspace had tried on this lineage and data when the check was started, the checked backtest included
 * (semantics §5.4), and its sweeps there, the latest first. A sweep on more data than the backtest reads counts.
 */
export async function lineageOf(
  sql: Queryable,
  { workspaceId, strategyId, snapshots, createdAt }: ShardClaim,
): Promise<{ readonly trials: number; readonly sweeps: readonly SweepOfLineage[] }> {
  const read = snapshots as string[];
  const isOfLineage = sql`
    workspace_id = ${workspaceId} and strategy_id = ${strategyId} and status = 'completed' and trials is not null
    and snapshots @> ${read} and finished_at <= ${createdAt}`;
  const [{ trials }] = await sql<[{ trials: number }]>`
    select (
      coalesce((select sum(trials) from sweeps where ${isOfLineage}), 0)
      + (select count(distinct run_key) from backtests b join backtest_results r using (id)
        where b.workspace_id = ${workspaceId} and b.strategy_version_id in (select id from strategy_versions
          where strategy_id = ${strategyId})
        and r.status = 'completed' and snapshots <@ ${read} and created_at <= ${createdAt})
      + (${deletedTrials(sql, strategyId, snapshots, { others: true })})
    )::float8 as trials`;
  const sweeps = await sql<SweepOfLineage[]>`
    select id, strategy_version_id as "strategyVersionId", spec -> 'config' as config, result -> 'verdict' as verdict,
      result -> 'overfitting' as overfitting,
      (select coalesce(json_agg(json_build_object('rank', row -> 'rank', 'plateau', row -> 'plateau',
          'returnPct', row #> '{metrics,returnPct}', 'sharpeRatio', row #> '{metrics,sharpeRatio}',
          'totalPositions', row #> '{metrics,totalPositions}')), '[]')
        from json_array_elements(result -> 'top') as row) as top
    from sweeps where ${isOfLineage} order by finished_at desc, id desc limit ${MAX_SWEEPS}`;
  return { trials, sweeps };
}
