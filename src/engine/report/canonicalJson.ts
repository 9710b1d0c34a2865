// Canonical JSON: exactly one text per value, so that a hash of the text identifies the value.
import { hash } from 'node:crypto';

/**
 * Members are sorted by name, undefined ones left out, and numbers written as JavaScript does (RFC 8785 without its
 * string escapes).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  let members = '';
  // By code units, as RFC 8785 wants.
  for (const name of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');
export const hashOf = (value: unknown): string => sha256(canonicalJson(value));
