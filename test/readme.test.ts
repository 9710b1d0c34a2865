// README.md and docs/architecture.md as written: the example prints what it says, tables are complete, files exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SUITES } from '../bench/suites.ts';
import { describeVariables, ROOT } from '../src/config.ts';
import { EXAMPLE_STRATEGY_AST } from '../src/api/strategies/strategyExamples.ts';
import { TIMEFRAMES } from '../src/engine/index.ts';
import { CreateBody } from '../src/api/strategies/strategySchemas.ts';
import { printedPattern, runShell, shellBlocks } from './support/shellBlocks.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const README = read('README.md');
/** Everything that a reader may be told to run. */
const PAGES = [...globSync(['*.md', 'docs/*.md'], { cwd: ROOT }), 'bench/README.md', 'data/README.md'];

/** Cells of the table rows under a heading, without the two rows of the table's head. */
function tableUnder(heading: string): string[][] {
  const section = README.split(`\n## ${heading}\n`)[1].split('\n## ')[0];
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' |')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('the README’s example', () => {
  it('equals the files it names', () => {
    const shown = [...README.matchAll(/`(docs\/examples\/\w+\.json)`:\n\n```json\n(.*?)```/gs)];
    expect(shown.map(([, path]) => path)).toEqual(['docs/examples/strategy.json', 'docs/examples/config.json']);
    for (const [, path, content] of shown) expect(content).toBe(read(path));
  });

  it('equals the example of the OpenAPI document, a body that the API accepts', () => {
    const { strategyAst, ...body } = JSON.parse(read('docs/examples/strategy.json')) as Record<string, unknown>;
    expect(strategyAst).toEqual(EXAMPLE_STRATEGY_AST);
    expect(CreateBody.safeParse({ ...body, strategyAst }).success).toBe(true);
  });

  it('prints what the README shows', async () => {
    const [install, ...blocks] = shellBlocks(README);
    // What npm run demo does has tests of its own.
    expect(install).toEqual({ commands: 'npm ci\nnpm run demo\n', printed: null });
    expect(blocks).toHaveLength(2);
    const folder = await mkdtemp(join(tmpdir(), 'candlepool-readme-'));
    try {
      const printed = await runShell(blocks, { cwd: ROOT, env: { DATA_DIR: folder, DATABASE_URL: '' } });
      for (const [index, block] of blocks.entries()) expect(printed[index]).toMatch(printedPattern(block.printed!));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

it('orders its sections as a newcomer needs them', () => {
  expect([...README.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual([
    'Sixty-second start',
    'Example',
    'Architecture',
    'Commands',
    'Scripts',
    'Environment',
    'Glossary',
    'More',
  ]);
});

describe('the glossary', () => {
  const rows = tableUnder('Glossary').filter(([word]) => !word.startsWith('**'));
  const defined = rows.flatMap(([word]) => word.split(', '));

  it('defines every word once', () => {
    expect(defined.filter((word, index) => defined.indexOf(word) !== index)).toEqual([]);
    expect(rows.filter(([, meaning]) => !meaning)).toEqual([]);
  });

  it('lists the timeframes', () => {
    const [, meaning] = rows.find(([word]) => word === 'timeframe')!;
    const [, listed] = /: ((?:\w+ )+)\(/.exec(meaning)!;
    expect(listed.trim().split(' ')).toEqual(TIMEFRAMES);
  });

  it('has the words that the code and its messages use with one meaning', () => {
    const terms = ['rule', 'issue', 'problem', 'run error', 'import error', 'diagnosis', 'funnel', 'near miss'];
    const more = ['artifact', 'snapshot', 'ticket', 'plan', 'column', 'condition', 'signal', 'order', 'fill', 'level'];
    const service = [
      'backtest',
      'batch',
      'sweep',
      'variant',
      'shard',
      'workspace',
      'tier',
      'key',
      'scope',
      'role',
      'config',
      'param',
      'patch',
    ];
    expect([...terms, ...more, ...service].filter((term) => !defined.includes(term))).toEqual([]);
  });
});

/** `npm run NAME`, and the two scripts that npm runs without `run`. */
const NPM_SCRIPT = /\bnpm (?:run (?:-s )?(?=[a-z])|(?=(?:start|test)\b))([\w:-]+)/g;
/** A command at the start of a line or of a quotation, or by its path. */
const COMMAND = /(?:bin\/|^ {4}|`)candlepool ([a-z]+)/gm;

it('names only commands and scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const commands = tableUnder('Commands').map(([name]) => name);
  const unknown = (page: string, known: readonly string[], pattern: RegExp): string[] =>
    [...read(page).matchAll(pattern)].filter(([, name]) => !known.includes(name)).map(([words]) => `${page}: ${words}`);
  const named = PAGES.map(read).join('\n');
  expect([...named.matchAll(NPM_SCRIPT)].length).toBeGreaterThan(5);
  expect([...named.matchAll(COMMAND)].length).toBeGreaterThan(10);
  expect(PAGES.flatMap((page) => unknown(page, Object.keys(scripts), NPM_SCRIPT))).toEqual([]);
  expect(PAGES.flatMap((page) => unknown(page, commands, COMMAND))).toEqual([]);
});

it('tells a script that exists from one that does not', () => {
  const names = [...'`npm run bench -- fills`, npm start, npm run -s test:longer'.matchAll(NPM_SCRIPT)];
  expect(names.map(([, name]) => name)).toEqual(['bench', 'start', 'test:longer']);
});

it('lists the commands of the command line', () => {
  const known = [...read('src/cli/program.ts').matchAll(/\['(\w+)', '([^']+)', \(\) =>/g)].map(([, name, what]) => [
    name,
    what,
  ]);
  expect(known.length).toBeGreaterThan(10);
  expect(tableUnder('Commands').map(([name, what]) => [name, what])).toEqual(known);
});

it('lists the environment variables of the configuration', () => {
  const described = describeVariables().map((one) => [one.name, one.default, one.meaning.replaceAll('`', '')]);
  expect(tableUnder('Environment')).toEqual(described);
});

describe('docs/architecture.md', () => {
  const text = read('docs/architecture.md');
  const names = [...text.matchAll(/`([\w/.]+\.(?:ts|md))`/g)].map(([, name]) => name);
  const known = new Set(globSync('src/**/*.ts', { cwd: ROOT }).map((file) => basename(file)));

  it('names many files, all of which exist', () => {
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !(name.includes('/') ? existsSync(join(ROOT, name)) : known.has(name)))).toEqual([]);
  });

  it('stays short', () => {
    expect(text.split('\n').length).toBeLessThan(130);
  });
});

it('links only to documents that exist', () => {
  const named = [...README.matchAll(/`((?:docs|data|bench)\/[\w./]+)`/g)].map(([, path]) => path);
  const linked = [...README.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path);
  const pointed = [...named, ...linked];
  expect(linked.length).toBeGreaterThan(8);
  expect(pointed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('links to every page of docs', () => {
  const linked = new Set([...README.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path));
  const pages = globSync('docs/*.md', { cwd: ROOT });
  expect(pages.length).toBeGreaterThan(8);
  expect(pages.filter((page) => !linked.has(page))).toEqual([]);
});

it('describes every script of package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
  const [, table] = README.match(/## Scripts\n(.*?)\n## /s)!;
  const cells = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) => cell.split(', '));
  expect(cells.map((name) => name.replaceAll('`', '')).toSorted()).toEqual(Object.keys(scripts).toSorted());
});

it('lists in bench/README.md the suites of npm run bench, each of which is a file', () => {
  const listed = [...read('bench/README.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual([...SUITES]);
  expect(SUITES.filter((name) => !existsSync(join(ROOT, 'bench', `${name}.ts`)))).toEqual([]);
});
