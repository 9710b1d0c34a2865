// The compressed part of a stored result: what is read with one backtest and never searched.
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';

/** Members of summaryJson that are kept compressed beside the trades; the others are searchable JSON. */
export const DETAIL_MEMBERS = ['strategyTrace', 'ruleStatsSummary', 'equityPreview'] as const;

export interface ResultDetail {
  /** The members above, as far as the summary has them. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly trades: readonly object[];
}

/** Level 1 takes about 30 µs for 20 KB and leaves a fifth; level 3 takes twice as long for 5 % less. */
const COMPRESSION_LEVEL = 1;
/** A detail is a few KB; a run of a million trades may reach this. Beyond it the stored bytes are not a detail. */
const MAX_DETAIL_BYTES = 1 << 30;

export function splitSummary(summaryJson: object): {
  summary: Record<string, unknown>;
  detail: Record<string, unknown>;
} {
  const summary: Record<string, unknown> = { ...summaryJson };
  const detail: Record<string, unknown> = {};
  for (const member of DETAIL_MEMBERS) {
    if (!(member in summary)) continue;
    detail[member] = summary[member];
    delete summary[member];
  }
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
