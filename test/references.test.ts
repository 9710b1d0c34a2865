// Every section that a comment, a test or a page cites is a heading of a page in this repository.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import { headingsOf, referenceFaults, type Pages } from './support/references.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const glob = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

const PAGES = glob('docs/*.md');
const pages: Pages = {
  headings: new Map(PAGES.map((file) => [basename(file, '.md'), headingsOf(read(file))])),
  hasFile: (path) => existsSync(join(ROOT, path)),
};

/** Checkers and their tests plant violations on purpose. */
const PLANTED = ['test/references.test.ts', 'test/support/references.ts', 'test/api/citations.test.ts'];
const FILES = ['src', 'test', 'bench', 'scripts', 'bin', 'migrations', 'data']
  .flatMap((folder) => glob(`${folder}/**/*.{ts,mjs,js,sql,md,html}`))
  .concat(PAGES, 'README.md')
  .filter((file) => !PLANTED.includes(file));

describe('the set of references', () => {
  it('leads to headings in this repository only', () => {
    const faults = FILES.flatMap((file) => {
      const own = file.startsWith('docs/') ? basename(file, '.md') : null;
      return referenceFaults(read(file), pages, own).map((fault) => `${file}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  it('is large, which shows that the search works', () => {
    const cited = FILES.flatMap((file) => [...read(file).matchAll(/\bsemantics §\d/g)]);
    expect(cited.length).toBeGreaterThan(60);
  });

  it('links only to pages that exist', () => {
    const links = [...PAGES, 'README.md'].flatMap((file) =>
      [...read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target]) =>
        join(file.startsWith('docs/') ? 'docs' : '.', target),
      ),
    );
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
  });
});

describe('the check of references', () => {
  it.each([
    ['// Levels (semantics §2.99).', 'has no heading 2.99'],
    ['// Slots (semantics §2.2, §9.1).', 'has no heading 9.1'],
    ['// Chapters: semantics §2 to §9.', 'has no heading 9'],
    ['/** docs/semantics.md §10 rules it. */', 'has no heading 10'],
    ['// Errors (spec §7).', 'not in docs/'],
    ['// The result (design §5).', 'not in docs/'],
    ['// Levels (§2.5).', 'does not say which document'],
    ['// See docs/missing.md.', 'does not exist'],
    ['// Told in design.md.', 'outside the repository'],
    ["// The design's word for it.", 'outside the repository'],
    ['// Read from ../shared.', 'outside the repository'],
    ['// Fixed by issue 9.', 'outside the repository'],
  ])('refuses %s', (text, fault) => {
    const faults = referenceFaults(text, pages);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  it.each([
    '// Levels (semantics §2.5).',
    '// Levels: docs/semantics.md §2.5, §2.6 and §3.1.',
    '// The loop: semantics §2 to §4.',
    '// Weak comparison (RFC 9110 §13.1.2).',
    '// See docs/fills.md.',
  ])('accepts %s', (text) => {
    expect(referenceFaults(text, pages)).toEqual([]);
  });

  it('resolves a bare section number within its own page', () => {
    expect(referenceFaults('As §2.5 says.', pages, 'semantics')).toEqual([]);
    expect(referenceFaults('As §2.99 says.', pages, 'semantics')).toHaveLength(1);
  });
});
