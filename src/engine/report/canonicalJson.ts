// Canonical JSON: exactly one text per value, so that a hash of the text identifies the value.
import { hash } from 'node:crypto';

/**
 * Members are sorted by name, undefined ones left out, and numbers written as JavaScript does (RFC 8785 without its
 * string escapes).
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  for (const name of sortedNames(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/**
 * Quoted names. The first ones to occur are kept: those of configs and instruments, which are most of what is hashed.
 */
const QUOTED = new Map<string, string>();
const MAX_QUOTED = 500;
const MAX_QUOTED_LENGTH = 40;

function quoted(name: string): string {
  const known = QUOTED.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (QUOTED.size < MAX_QUOTED && name.length <= MAX_QUOTED_LENGTH) QUOTED.set(name, text);
  return text;
}

/** Longer lists are sorted by the runtime, whose sort takes longer to start. */
const FEW_NAMES = 24;

/** By code units, as RFC 8785 wants. */
function sortedNames(value: object): string[] {
  const names = Object.keys(value);
  if (names.length > FEW_NAMES) return names.sort();
  for (let index = 1; index < names.length; index++) {
    const name = names[index];
    let at = index;
    for (; at > 0 && names[at - 1] > name; at--) names[at] = names[at - 1];
    names[at] = name;
  }
  return names;
}

/** Hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');
/** The sha256 of the canonical JSON of a value. */
export const hashOf = (value: unknown): string => sha256(canonicalJson(value));
