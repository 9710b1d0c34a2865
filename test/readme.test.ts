// README.md, docs/architecture.md and docs/language.md as written: the example prints what it says, tables are complete, files exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeVariables, ROOT } from '../src/config.ts';
import { EXPRESSION_SHAPES } from '../src/engine/language/shapes.ts';
import * as words from '../src/engine/language/words.ts';
import { runCommand } from './support/command.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const README = read('README.md');

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

test('the example prints what the README says it prints', async () => {
  const files = [...README.matchAll(/`(\w+\.json)`:\n\n```json\n(.*?)```/gs)];
  const [, command] = README.match(/```sh\nbin\/candlepool (.*?)\n```/s)!;
  const [, printed] = README.match(/```text\n(.*?)```/s)!;
  const folder = await mkdtemp(join(tmpdir(), 'candlepool-readme-'));
  try {
    expect(files.map(([, name]) => name)).toEqual(['strategy.json', 'config.json']);
    await Promise.all(files.map(([, name, content]) => writeFile(join(folder, name), content)));
    const args = command.split(' ').map((arg) => (arg.endsWith('.json') ? join(folder, arg) : arg));
    const { code, stdout, stderr } = await runCommand(args);
    expect([code, stderr]).toEqual([0, '']);
    // A terminal shows a table, a pipe gets tabs.
    const words = (text: string): string[] => text.trim().split(/\s+/);
    expect(words(stdout)).toEqual(words(printed));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the commands it tells to type are scripts and commands there are', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const [, name] of README.matchAll(/npm (?:run )?(demo|test|start|check|bench)\b/g)) {
    expect(Object.keys(scripts)).toContain(name);
  }
  const commands = tableUnder('The command').map(([name]) => name);
  for (const [, name] of README.matchAll(/bin\/candlepool ([a-z]+)/g)) expect(commands).toContain(name);
});

test('the table of commands is that of the command line', () => {
  const known = [...read('src/main.ts').matchAll(/\['(\w+)', '([^']+)', \(\) =>/g)].map(([, name, what]) => [
    name,
    what,
  ]);
  expect(known.length).toBeGreaterThan(10);
  expect(tableUnder('The command').map(([name, what]) => [name, what])).toEqual(known);
});

test('the table of environment variables is that of the configuration', () => {
  const described = describeVariables().map((one) => [one.name, one.default, one.meaning.replaceAll('`', '')]);
  expect(tableUnder('Environment')).toEqual(described);
});

describe('docs/architecture.md', () => {
  const text = read('docs/architecture.md');
  const names = [...text.matchAll(/`([\w/.]+\.(?:ts|md))`/g)].map(([, name]) => name);
  const known = new Set(globSync('src/**/*.ts', { cwd: ROOT }).map((file) => basename(file)));

  test('names many files, and every one of them exists', () => {
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !(name.includes('/') ? existsSync(join(ROOT, name)) : known.has(name)))).toEqual([]);
  });

  test('is short', () => {
    expect(text.split('\n').length).toBeLessThan(80);
  });
});

test('every document the README points to exists', () => {
  const pointed = [...README.matchAll(/`((?:docs|data|bench)\/[\w.]+)`/g)].map(([, path]) => path);
  expect(pointed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('bench/README.md lists the suites that npm run bench knows, and each is a file', () => {
  const [, list] = read('bench/run.ts').match(/SUITES = \[(.*?)\]/s)!;
  const suites = [...list.matchAll(/'(\w+)'/g)].map(([, name]) => name);
  const listed = [...read('bench/README.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(suites);
  expect(suites.filter((name) => !existsSync(join(ROOT, 'bench', `${name}.ts`)))).toEqual([]);
});

describe('docs/language.md', () => {
  const text = read('docs/language.md');
  const named = new Set([...text.matchAll(/[a-z]\w*/g)].map(([word]) => word));

  test('has a row for every kind of value and condition, with every member it takes', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    const ofEveryNode = ['id', 'label', 'description', 'meta', 'kind'];
    for (const [kind, shape] of [...EXPRESSION_SHAPES.value, ...EXPRESSION_SHAPES.condition]) {
      const row =
        rows.find((line) => line.split('|')[1].includes(`\`${kind}\``)) ??
        (kind === 'and' || kind === 'or' ? text : '');
      const members = [...shape.fields.keys()].filter((name) => !ofEveryNode.includes(name));
      expect([kind, members.filter((name) => !new RegExp(`\\b${name}\\b`).test(row))]).toEqual([kind, []]);
    }
  });

  test('names every word of the closed lists', () => {
    const lists = [
      words.MARKET_FIELDS,
      words.ROLLING_OPS,
      words.MATH_OPS,
      words.COMPARE_OPS,
      words.CROSS_OPS,
      words.TIME_FIELDS,
    ];
    const more = [words.SESSIONS, words.ROLLING_WINDOW_MODES, words.STATE_CONFLICT_POLICIES];
    expect([...lists, ...more].flat().filter((word) => !named.has(word))).toEqual([]);
  });
});
