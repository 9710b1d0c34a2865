// Market data in Postgres: the snapshots that exist, and which of them each series points to.
import type { Instrument, Timeframe } from '../engine/index.ts';
import type { Queryable, Sql } from './connect.ts';
import { keepSnapshots } from './retention.ts';

export interface SnapshotRow {
  readonly sha256: string;
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly missingBars: number;
  readonly byteLength: number;
  readonly instrument: Instrument;
  readonly importedAt: Date;
  /** Name of the file it was imported from, without its folder; null: a generator made it, or it is not known. */
  readonly sourceFile: string | null;
}

/** The current snapshot of every series, by symbol, then finest timeframe first. */
export async function listSeries(sql: Queryable): Promise<SnapshotRow[]> {
  return sql<SnapshotRow[]>`
    select snapshots.sha256, series.symbol, series.timeframe, bars, start_ms as start, end_ms as "end", gaps,
      missing_bars as "missingBars", byte_length as "byteLength", instrument, imported_at as "importedAt",
      source_file as "sourceFile"
    from series join snapshots using (sha256)
    order by series.symbol, array_position(
      array['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '1w', '1M'], series.timeframe)`;
}

/** Series that were removed and not imported again. */
export async function listRemovedSeries(sql: Queryable): Promise<Pick<SnapshotRow, 'symbol' | 'timeframe'>[]> {
  return sql<Pick<SnapshotRow, 'symbol' | 'timeframe'>[]>`
    select symbol, timeframe from series where sha256 is null`;
}

/**
 * Records a snapshot (once) and points its series to it, both or neither.
 * @param replaces the snapshot the series points to until now; null: none, or the same one
 * @returns false when the series points elsewhere; then it still does
 */
export async function pointSeries(
  sql: Sql,
  row: Omit<SnapshotRow, 'importedAt'>,
  replaces: string | null,
): Promise<boolean> {
  const { symbol, timeframe, sha256 } = row;
  return sql.begin(async (tx) => {
    await keepSnapshots(tx);
    await tx`
      insert into snapshots
        (sha256, symbol, timeframe, bars, start_ms, end_ms, gaps, missing_bars, byte_length, instrument, source_file)
      values (${sha256}, ${symbol}, ${timeframe}, ${row.bars}, ${row.start}, ${row.end}, ${row.gaps},
        ${row.missingBars}, ${row.byteLength}, ${tx.json({ ...row.instrument })}, ${row.sourceFile})
      on conflict (sha256) do nothing`;
    const pointed =
      replaces === null
        ? await tx`
            insert into series (symbol, timeframe, sha256) values (${symbol}, ${timeframe}, ${sha256})
            on conflict (symbol, timeframe) do update set sha256 = excluded.sha256, updated_at = now()
            where series.sha256 is null or series.sha256 = excluded.sha256`
        : await tx`
            update series set sha256 = ${sha256}, updated_at = now()
            where symbol = ${symbol} and timeframe = ${timeframe} and sha256 = ${replaces}`;
    return pointed.count === 1;
  });
}

/**
 * Takes a series out of the list. Its snapshots stay for the backtests that pinned them.
 * @returns false when there is no such series
 */
export async function removeSeries(sql: Queryable, symbol: string, timeframe: Timeframe): Promise<boolean> {
  const removed = await sql`
    update series set sha256 = null, updated_at = now()
    where symbol = ${symbol} and timeframe = ${timeframe} and sha256 is not null`;
  return removed.count === 1;
}
