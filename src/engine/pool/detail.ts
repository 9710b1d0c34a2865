// A result in the form in which it is stored: the flat summary, which is searched and sorted by; the detail, which is
// read with one backtest; and the trades, which can be a thousand times as large and are read by themselves.
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';
import type { ResolvedConfig } from '../config.ts';
import type { BacktestOutcome, Reproducibility } from '../task.ts';

/** A result as a thread encodes it; nothing on its way into the database takes it apart again. */
export interface EncodedResult {
  /** JSON in UTF-8 of the flat members of summaryJson. */
  readonly summary: Uint8Array;
  /** `decodeDetail` */
  readonly detail: Uint8Array;
  /** `decodeTrades` */
  readonly trades: Uint8Array;
  /** The codes of the warnings. */
  readonly warnings: readonly string[];
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
}

export interface ResultDetail {
  /** The members of summaryJson that are objects or lists: trace, rule statistics, breakdowns, equity preview. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly warnings: readonly object[];
  readonly resolvedConfig: ResolvedConfig;
  readonly reproducibility: Reproducibility;
}

/** Level 1 takes about 30 µs for 20 KB and shrinks it to a fifth; level 3 takes twice as long for 5 % less. */
const COMPRESSION_LEVEL = 1;
/** A detail is a few KB, and 5,000 trades are 3 MB. Beyond this the stored bytes are neither. */
const MAX_PART_BYTES = 1 << 28;
/** Trades of one part: a reader of many parts goes through one in about ten milliseconds. */
const TRADES_PER_PART = 5_000;

export function encodeResult(outcome: BacktestOutcome & { readonly ok: true }): EncodedResult {
  const { summary, detail } = splitSummary(outcome.summaryJson);
  const { trades, warnings, resolvedConfig, reproducibility } = outcome;
  return {
    // A copy: Node cuts small buffers from a pool, and sending one to another thread would send the pool.
    summary: Uint8Array.from(Buffer.from(JSON.stringify(summary))),
    detail: encodeDetail({ summary: detail, warnings, resolvedConfig, reproducibility }),
    trades: encodeTrades(trades),
    warnings: warnings.map((warning) => String((warning as { readonly code?: unknown }).code)),
    diagnosis: firstDiagnosis(detail),
  };
}

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

function firstDiagnosis(detail: Readonly<Record<string, unknown>>): string | null {
  const trace = detail.strategyTrace as { readonly diagnosis?: readonly { readonly code: string }[] } | undefined;
  return trace?.diagnosis?.[0]?.code ?? null;
}

export const encodeDetail = (detail: ResultDetail): Uint8Array => compress(detail);

export const decodeDetail = (bytes: Uint8Array): ResultDetail => decompress(bytes) as ResultDetail;

/** Layout: the number of parts and the length of each as u32, then the parts, each a compressed list of trades. */
export function encodeTrades(trades: readonly object[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < trades.length; at += TRADES_PER_PART)
    parts.push(compress(trades.slice(at, at + TRADES_PER_PART)));
  const head = new Uint32Array([parts.length, ...parts.map((part) => part.length)]);
  const bytes = new Uint8Array(head.byteLength + parts.reduce((sum, part) => sum + part.length, 0));
  bytes.set(new Uint8Array(head.buffer));
  let at = head.byteLength;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Part by part, so that a reader of many trades can let others go first in between. */
export function* decodeTrades(bytes: Uint8Array): Generator<readonly object[], void, undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(0, true);
  let at = 4 * (count + 1);
  for (let part = 1; part <= count; part++) {
    const length = view.getUint32(4 * part, true);
    yield decompress(bytes.subarray(at, at + length)) as readonly object[];
    at += length;
  }
}

/** In a buffer of its own, for the same reason as the summary. */
function compress(value: unknown): Uint8Array {
  const bytes = zstdCompressSync(JSON.stringify(value), {
    params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL },
  });
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes);
}

const decompress = (bytes: Uint8Array): unknown =>
  JSON.parse(zstdDecompressSync(bytes, { maxOutputLength: MAX_PART_BYTES }).toString());
