// The part of migration 0015 that SQL cannot do: stored results whose trades lie compressed together with everything
// else are taken apart. The formats are written out here, as they were and as they became, and do not follow later
// changes.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Queryable } from './connect.ts';

/** At about a millisecond per result, a slice takes less than a second. */
const SLICE = 200;
const TRADES_PER_PART = 5_000;
const MAX_BYTES = 1 << 30;

interface OldRow {
  readonly id: string;
  readonly detail: Uint8Array;
  readonly resolvedConfig: object | null;
  readonly reproducibility: object | null;
  readonly warnings: object[];
}

/** Does nothing when it was done before; resumes where it was interrupted. */
export async function splitDetails(connection: Queryable): Promise<void> {
  const [{ isLeft }] = await connection<[{ isLeft: boolean }]>`
    select to_regclass('unsplit_details') is not null as "isLeft"`;
  if (!isLeft) return;
  for (;;) {
    const rows = await connection<OldRow[]>`
      select id, detail, resolved_config as "resolvedConfig", reproducibility, warnings from unsplit_details
        order by id limit ${SLICE}`;
    if (rows.length === 0) break;
    for (const row of rows) {
      const { detail, trades } = split(row);
      await connection`
        with old as (
          delete from unsplit_details where id = ${row.id} returning id
        ), made as (
          insert into backtest_details (id, detail, trades) select id, ${detail}, ${trades} from old returning id
        )
        select add_result_bytes(array_agg(b.workspace_id), array_agg(${detail.length + trades.length}::bigint))::text
        from made join backtests b on b.id = made.id having count(*) > 0`;
    }
  }
  await connection`drop table unsplit_details`;
}

function split({ detail, resolvedConfig, reproducibility, warnings }: OldRow): { detail: Buffer; trades: Buffer } {
  const text = zstdDecompressSync(detail, { maxOutputLength: MAX_BYTES }).toString();
  const { summary, trades } = JSON.parse(text) as { summary: object; trades: object[] };
  const parts: Buffer[] = [];
  for (let at = 0; at < trades.length; at += TRADES_PER_PART)
    parts.push(compress(trades.slice(at, at + TRADES_PER_PART)));
  const head = Buffer.from(new Uint32Array([parts.length, ...parts.map((part) => part.length)]).buffer);
  return {
    detail: compress({ summary, warnings, resolvedConfig, reproducibility }),
    trades: Buffer.concat([head, ...parts]),
  };
}

const compress = (value: unknown): Buffer =>
  zstdCompressSync(JSON.stringify(value), { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
