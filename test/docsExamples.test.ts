// Every fenced block of the pages people read is run: this finds the blocks, says which test runs those of a page, and
// runs the ones that need no page of tests for themselves.
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../src/config.ts';
import type { Worker } from '../src/jobs/runner.ts';
import { createApiApp, type ApiApp, type Client } from './support/apiApp.ts';
import { startApiWorker } from './support/apiWorker.ts';
import { createTestDatabase } from './support/database.ts';
import { runShell, shellBlocks } from './support/shellBlocks.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

/** Every fenced block of a Markdown text, indented ones and those without a language included. */
function fencedBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const fence = /^\s*(?:```|~~~)(.*)$/.exec(line);
    if (open === undefined) {
      if (fence) open = { language: fence[1].trim(), lines: [] };
    } else if (fence) {
      blocks.push({ language: open.language, text: open.lines.join('\n') });
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`A block of ${open.language} does not end.`);
  return blocks;
}

/**
 * Page and language → the test that runs all blocks of that language on that page. Blocks of ```text are what the
 * commands above them print.
 */
const RUN_BY: Readonly<Record<string, string>> = {
  'README.md sh': 'test/readme.test.ts',
  'README.md json': 'test/readme.test.ts',
  'docs/getting-started.md sh': 'test/gettingStarted.test.ts',
  'docs/config.md json': 'test/configDoc.test.ts',
  'docs/language.md json': 'test/language.test.ts',
  'docs/mcp.md json': 'test/api/mcp.test.ts',
  'docs/operations.md sh': 'test/operations.test.ts',
  'docs/market-data.md json': 'test/api/marketDataReads.test.ts',
  'docs/market-data.md sh': 'test/docsExamples.test.ts',
  'docs/robustness.md sh': 'test/docsExamples.test.ts',
  'docs/robustness.md json': 'test/docsExamples.test.ts',
  'docs/sweeps.md sh': 'test/docsExamples.test.ts',
  'docs/compare.md json': 'test/api/compare.test.ts',
  'docs/labels.md json': 'test/api/labels.test.ts',
  'docs/python.md python': 'python/tests/test_docs.py',
  'docs/webhooks.md json': 'test/jobs/webhooks.test.ts',
  'docs/sweeps.md json': 'test/docsExamples.test.ts',
};

describe('the set of fenced blocks', () => {
  it('is run by a test, block by block', () => {
    expect(PAGES.length).toBeGreaterThan(10);
    const blocks = PAGES.flatMap((page) => fencedBlocks(read(page)).map(({ language }) => `${page} ${language}`));
    const found = new Set(blocks.filter((block) => !block.endsWith(' text')));
    expect([...found].toSorted()).toEqual(Object.keys(RUN_BY).toSorted());
    for (const [block, test] of Object.entries(RUN_BY)) expect(read(test)).toContain(block.split(/[/ ]/).at(-2));
  });

  it('has no block of text that is not the output of the commands above it', () => {
    for (const page of PAGES) {
      const markdown = read(page);
      const printed = shellBlocks(markdown).filter((block) => block.printed !== null);
      const texts = fencedBlocks(markdown).filter(({ language }) => language === 'text');
      expect([page, texts.map(({ text }) => `${text}\n`)]).toEqual([page, printed.map((block) => block.printed)]);
    }
  });

  it('has every command that a reader is to run, none of them indented', () => {
    const indented = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^ {4,}(?:bin\/)?(?:candlepool|npm|node|curl|python3?) .*$/gm)].map(
        ([line]) => page + line,
      ),
    );
    expect(indented).toEqual([]);
  });

  it('would be found with any fence', () => {
    const markdown = '```ts\na\n```\n\n~~~\nb\n~~~\n\n- item\n\n  ```py\n  c\n  ```\n';
    expect(fencedBlocks(markdown).map(({ language }) => language)).toEqual(['ts', '', 'py']);
    expect(() => fencedBlocks('```sh\nnpm')).toThrow('does not end');
  });
});

const jsonOf = (page: string): Record<string, unknown>[] =>
  fencedBlocks(read(page))
    .filter(({ language }) => language === 'json')
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

describe('the blocks of requests', () => {
  let api: ApiApp;
  let client: Client;
  let worker: Worker;
  let strategyVersionId: string;
  beforeAll(async () => {
    api = await createApiApp();
    client = await api.client();
    worker = await startApiWorker(api.services, 2);
    const made = await client.post('/strategies', JSON.parse(read('docs/examples/strategy.json')));
    const ready = await client.post(`/strategies/${made.body.id}/versions/finalize`, { version: 1 });
    expect(ready.status, ready.text).toBe(200);
    strategyVersionId = ready.body.id;
  });
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  it('of docs/sweeps.md are sweeps that complete', async () => {
    const bodies = jsonOf('docs/sweeps.md');
    expect(bodies.slice(0, 1)).toEqual([JSON.parse(read('docs/examples/sweep.json'))]);
    for (const body of bodies) {
      const made = await client.post('/sweeps', { ...body, strategyVersionId });
      expect(made.status, made.text).toBe(201);
      let sweep = made;
      for (let calls = 0; calls < 10 && !['completed', 'failed'].includes(sweep.body.status); calls++)
        sweep = await client.get(`/sweeps/${made.body.id}?wait=60`);
      expect(sweep.body.status, sweep.text).toBe('completed');
      expect(sweep.body.best).not.toBeNull();
    }
  }, 660_000);

  it('of docs/robustness.md are checks that complete, with every analysis they name', async () => {
    const bodies = jsonOf('docs/robustness.md');
    expect(bodies.length).toBeGreaterThan(0);
    const config = JSON.parse(read('docs/examples/config.json')) as object;
    const { id } = (await client.post('/backtests', { strategyVersionId, config })).body;
    expect((await client.get(`/backtests/${id}?wait=60`)).body.status).toBe('completed');
    for (const body of bodies) {
      const made = await client.post(`/backtests/${id}/robustness`, body);
      expect(made.status, made.text).toBe(201);
      let check = made;
      for (let calls = 0; calls < 10 && !['completed', 'failed'].includes(check.body.status); calls++)
        check = await client.get(`/backtests/${id}/robustness/${made.body.id}?wait=60`);
      expect(check.body.status, check.text).toBe('completed');
      expect(Object.keys(check.body.result)).toEqual(expect.arrayContaining([...(body.analyses as string[])]));
    }
  }, 660_000);
});

describe('the blocks of commands', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'candlepool-pages-'));
    // The reader stands in the repository; what the commands write belongs elsewhere.
    await Promise.all(['bin', 'docs'].map((name) => symlink(join(ROOT, name), join(folder, name))));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const run = async (page: string, env: Record<string, string>): Promise<string[]> => {
    const blocks = shellBlocks(read(page));
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks).toHaveLength(fencedBlocks(read(page)).filter(({ language }) => language === 'sh').length);
    const printed = await runShell(blocks, { cwd: folder, env: { DATA_DIR: join(folder, 'data'), ...env } });
    expect(printed).toHaveLength(blocks.length);
    return printed;
  };

  it('of docs/robustness.md print a verdict and the analyses that were asked for', async () => {
    const [printed] = await run('docs/robustness.md', { DATABASE_URL: '' });
    for (const words of ['trades drawn again', 'fees × 5']) expect(printed).toContain(words);
    expect(printed).not.toMatch(/^start \d/m);
  });

  it('of docs/sweeps.md print the best variants and write the report', async () => {
    const [printed] = await run('docs/sweeps.md', { DATABASE_URL: '' });
    for (const words of ['812 variants by sharpeRatio', '…/left/args/length', 'wrote sweep.html'])
      expect(printed).toContain(words);
    expect(readFileSync(join(folder, 'sweep.html'), 'utf8')).toContain('<h1>Golden cross</h1>');
  });

  it('of docs/market-data.md import a file, append another, export both as one, and remove them', async () => {
    await using database = await createTestDatabase();
    const hours = (from: number, count: number): string =>
      Array.from({ length: count }, (_, hour) => {
        const time = new Date(from + hour * 3_600_000).toISOString();
        return `${time},100,101,99,100.5,${hour + 1}\n`;
      }).join('');
    const header = 'time,open,high,low,close,volume\n';
    const year = Date.UTC(2024, 0);
    await writeFile(join(folder, 'BTCUSDT-1h.csv.gz'), gzipSync(header + hours(year - 48 * 3_600_000, 48)));
    await writeFile(join(folder, 'BTCUSDT-1h-2024.csv'), header + hours(year, 24));
    await run('docs/market-data.md', { DATABASE_URL: database.url });
    const all = gunzipSync(readFileSync(join(folder, 'BTCUSDT-all.csv.gz'))).toString('utf8');
    expect(all.trim().split('\n')).toHaveLength(1 + 48 + 24);
    const [{ count }] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from series where symbol = 'BTCUSDT' and sha256 is not null`;
    expect(count).toBe(0);
  });
});
