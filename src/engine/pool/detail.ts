// The compressed part of a stored result: what is read with one backtest and never searched.
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';

export interface ResultDetail {
  /** The members of summaryJson that are objects or lists: trace, rule statistics, breakdowns, equity preview. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly trades: readonly object[];
}

/** Level 1 takes about 30 µs for 20 KB and shrinks it to a fifth; level 3 takes twice as long for 5 % less. */
const COMPRESSION_LEVEL = 1;
/** A detail is a few KB; a run of a million trades may reach this. Beyond it the stored bytes are not a detail. */
const MAX_DETAIL_BYTES = 1 << 30;

/**
 * Numbers and text can be searched and listed; objects and lists are compressed, which costs a tenth of storing them as
 * jsonb.
 */
export function splitSummary(summaryJson: object): {
  summary: Record<string, unknown>;
  detail: Record<string, unknown>;
} {
  const summary: Record<string, unknown> = {};
  const detail: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(summaryJson))
    (typeof value === 'object' && value !== null ? detail : summary)[name] = value;
  return { summary, detail };
}

export function encodeDetail(detail: ResultDetail): Uint8Array {
  return zstdCompressSync(JSON.stringify(detail), {
    params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL },
  });
}

export function decodeDetail(bytes: Uint8Array): ResultDetail {
  return JSON.parse(zstdDecompressSync(bytes, { maxOutputLength: MAX_DETAIL_BYTES }).toString()) as ResultDetail;
}
