// Market data in Postgres: the snapshots that exist, and which of them each series points to.
import type { Instrument, StoredTimeframe } from '../engine/index.ts';
import type { Queryable, Sql } from './connect.ts';

export interface SnapshotRow {
  readonly sha256: string;
  readonly symbol: string;
  readonly timeframe: StoredTimeframe;
  readonly bars: number;
  /** [start, end): open of the first bar, close of the last, ms UTC. */
  readonly start: number;
  readonly end: number;
  readonly gaps: number;
  readonly missingBars: number;
  readonly byteLength: number;
  readonly instrument: Instrument;
  readonly importedAt: Date;
}

/** The current snapshot of every series, by symbol, then finest timeframe first. */
export async function listSeries(sql: Queryable): Promise<SnapshotRow[]> {
  return sql<SnapshotRow[]>`
    select snapshots.sha256, series.symbol, series.timeframe, bars, start_ms as start, end_ms as "end", gaps,
      missing_bars as "missingBars", byte_length as "byteLength", instrument, imported_at as "importedAt"
    from series join snapshots using (sha256)
    order by series.symbol, array_position(array['1m', '5m', '15m', '1h', '4h', '1d'], series.timeframe)`;
}

/** Records a snapshot (once) and points its series to it, both or neither. */
export async function pointSeries(sql: Sql, row: Omit<SnapshotRow, 'importedAt'>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into snapshots (sha256, symbol, timeframe, bars, start_ms, end_ms, gaps, missing_bars, byte_length, instrument)
      values (${row.sha256}, ${row.symbol}, ${row.timeframe}, ${row.bars}, ${row.start}, ${row.end}, ${row.gaps},
        ${row.missingBars}, ${row.byteLength}, ${tx.json({ ...row.instrument })})
      on conflict (sha256) do nothing`;
    await tx`
      insert into series (symbol, timeframe, sha256) values (${row.symbol}, ${row.timeframe}, ${row.sha256})
      on conflict (symbol, timeframe) do update set sha256 = excluded.sha256, updated_at = now()
      where series.sha256 <> excluded.sha256`;
  });
}
