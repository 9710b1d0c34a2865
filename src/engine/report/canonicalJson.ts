// Canonical JSON: exactly one text per value, so that a hash of the text identifies the value.
import { createHash } from 'node:crypto';

/**
 * Members are sorted by name, undefined ones left out, and numbers written as JavaScript does (RFC 8785 without its
 * string escapes).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** Hexadecimal. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const hashOf = (value: unknown): string => sha256(canonicalJson(value));
