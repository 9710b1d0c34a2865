// Advisory locks have names, which stand in one place.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { LOCKS } from '../../src/db/locks.ts';

const SOURCES = globSync(['src/**/*.{ts,sql}', 'migrations/*.sql'], { cwd: ROOT }).map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));
const TAKEN = /pg_(?:try_)?advisory_(?:xact_)?(?:un)?lock(?:_shared)?\((.*)/g;

it('are taken by a name that is hashed, never by a number', () => {
  const taken = SOURCES.flatMap(({ text }) => [...text.matchAll(TAKEN)].map(([, key]) => key));
  expect(taken.length).toBeGreaterThan(8);
  expect(taken.filter((key) => !key.startsWith('hashtextextended('))).toEqual([]);
});

it('have names of src/db/locks.ts in SQL functions', () => {
  const names = SOURCES.filter(({ file }) => file.endsWith('.sql')).flatMap(({ text }) =>
    [...text.matchAll(/advisory\w*\(hashtextextended\('([^']*)'/g)].map(([, name]) => name),
  );
  expect(names).toEqual([LOCKS.claims]);
});

it('differ from each other', () => {
  expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
});
