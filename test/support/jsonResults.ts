// Results as JSON: what an earlier version stored, which is still read, and what the stand-in for the engine gives.
import { zstdCompressSync } from 'node:zlib';
import { FLAT_KEYS } from '../../src/engine/definitions/statistics/statistics.ts';

const FLAT_NAMES: ReadonlySet<string> = new Set(FLAT_KEYS);

/** The members of a summary that are numbers or null, and the others. */
export function splitSummary(summaryJson: object): {
  summary: Record<string, number | null>;
  detail: Record<string, unknown>;
} {
  const members = Object.entries(summaryJson);
  const isFlat = ([name]: [string, unknown]): boolean => FLAT_NAMES.has(name);
  return {
    summary: Object.fromEntries(members.filter(isFlat)),
    detail: Object.fromEntries(members.filter((member) => !isFlat(member))),
  };
}

export const jsonDetail = (detail: object): Uint8Array => zstdCompressSync(JSON.stringify(detail));

/** The number of parts and the length of each as u32, then the parts: here one, with all trades. */
export function jsonTrades(trades: readonly object[]): Uint8Array {
  const part = zstdCompressSync(JSON.stringify(trades));
  return Buffer.concat([new Uint8Array(Uint32Array.of(1, part.length).buffer), part]);
}
