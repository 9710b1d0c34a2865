// docs/fills.md names a test for its rules; this keeps the names true.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs', 'fills.md'), 'utf8').replaceAll(/\n +/g, ' ');
const named = page.matchAll(/\[`([^`]+\.test\.ts)`: (.+?)\](?=[\s.]|$)/gm);

describe('docs/fills.md', () => {
  const tests = [...named].map(([, file, title]) => [file, title] as const);

  it('names many tests', () => {
    expect(tests.length).toBeGreaterThan(50);
  });

  it.each(tests)('%s has a test that says: %s', (file, title) => {
    const path = join(root, 'test', file);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(title);
  });
});
