// Canonical JSON: the text that hashes are made of is that of the plain rule, whatever is faster.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../../src/engine/report/canonicalJson.ts';

/** Members by code units, undefined ones left out, everything else as JSON. */
function plainly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainly).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const byName = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${byName.map(([name, member]) => `${JSON.stringify(name)}:${plainly(member)}`).join(',')}}`;
}

const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-0, NaN, Infinity, 1e21, 1e-7));
const name = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 2 }),
  fc.constant('__proto__'),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.string({ unit: 'binary' }),
    fc.constantFrom(null, undefined, true, 'a\ud800'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  ),
}));

function requirePlain(any: unknown): void {
  expect(canonicalJson(any)).toBe(plainly(any));
}

it('writes what the plain rule writes', () => {
  fc.assert(fc.property(value, (any) => requirePlain(any)));
});

it('sorts the members of objects of every size', () => {
  fc.assert(fc.property(fc.dictionary(name, number, { maxKeys: 60, size: 'max' }), (any) => requirePlain(any)));
});
