// Every table of the spec's §2, §3, §5, §7 and §8 is named by a test, so that nobody need guess which one holds it.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const TITLES = globSync('test/**/*.test.ts')
  .filter((file) => !file.endsWith('spec.test.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

const SECTIONS = [
  '§2.1', '§2.2', '§2.3', '§2.4', '§2.5', '§2.6', '§2.7', '§2.8', '§2.9', '§2.10', '§3.1', '§3.2', '§3.3', '§5.1', '§5.2', '§5.3', '§7', '§8',
]; // prettier-ignore

it.each(SECTIONS)('spec %s is named by a test', (section) => {
  const named = new RegExp(`spec (?:§[\\d.]+, )*${section.replace('.', '\\.')}(?![\\d.]*\\d)`);
  expect(named.test(TITLES)).toBe(true);
});
