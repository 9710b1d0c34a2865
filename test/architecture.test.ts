// The architecture as a test: who may import whom, which package belongs where, what keeps the engine pure, and how a file begins.
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../src/config.ts';

const FILES = globSync('src/**/*.ts', { cwd: ROOT })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.d.ts'))
  .toSorted();

interface Import {
  readonly file: string;
  /** A path from the root, or a package's name. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

/** Comments out, so that what they speak of is not taken for code. */
const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8')
    .replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
    .replaceAll(/ \/\/ .*$/gm, '');

const IMPORT =
  /^(?:(?<statement>import|export)(?<type> type)?\b[^;'"]*?from\s*|import\s*)['"](?<name>[^'"]+)['"]|\bimport\(\s*['"](?<lazy>[^'"]+)['"]/gm;

const IMPORTS: readonly Import[] = FILES.flatMap((file) =>
  [...codeOf(file).matchAll(IMPORT)].map(({ groups }) => {
    const name = groups!.name ?? groups!.lazy;
    const target = name.startsWith('.') ? posix.join(posix.dirname(file), name) : packageOf(name);
    return { file, target, isTypeOnly: groups!.type !== undefined };
  }),
);

function packageOf(name: string): string {
  if (name.startsWith('node:')) return name;
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** `cli` of src/cli/serve.ts; a file of src itself is its own area. */
const areaOf = (file: string): string => file.split('/')[1];
const lines = (imports: readonly Import[]): string[] => imports.map(({ file, target }) => `${file} → ${target}`);

test('the imports of the sources are found', () => {
  expect(FILES.length).toBeGreaterThan(200);
  expect(lines(IMPORTS)).toContain('src/cli/worker.ts → src/jobs/runner.ts');
  expect(lines(IMPORTS)).toContain('src/main.ts → src/cli/serve.ts');
  expect(lines(IMPORTS)).toContain('src/engine/pool/pool.ts → piscina');
});

describe('the arrows', () => {
  /** Words everybody speaks: what a tier may, how the process is configured, where it logs. */
  const SHARED = ['config.ts', 'log.ts', 'tiers.ts'];
  const ARROWS: Readonly<Record<string, readonly string[]>> = {
    'main.ts': ['cli'],
    'config.ts': [],
    'tiers.ts': [],
    'log.ts': ['config.ts'],
    cli: ['api', 'jobs', 'engine', 'market', 'db', ...SHARED],
    api: ['jobs', 'engine', 'market', 'db', ...SHARED],
    jobs: ['engine', 'market', 'db', ...SHARED],
    market: ['engine', 'db', ...SHARED],
    db: ['engine', ...SHARED],
    engine: [],
  };

  test('every area of src has its line here', () => {
    expect([...new Set(FILES.map(areaOf))].toSorted()).toEqual(Object.keys(ARROWS).toSorted());
  });

  test.each(Object.keys(ARROWS))('%s imports only what it may', (area) => {
    const wrong = IMPORTS.filter(({ file, target }) => {
      if (areaOf(file) !== area || !target.startsWith('src/')) return false;
      return areaOf(target) !== area && !ARROWS[area].includes(areaOf(target));
    });
    expect(lines(wrong)).toEqual([]);
  });

  test('outsiders enter the engine by its one door; market, which makes columns, by columns as well', () => {
    const wrong = IMPORTS.filter(({ file, target }) => {
      if (!target.startsWith('src/engine/') || areaOf(file) === 'engine' || target === 'src/engine/index.ts')
        return false;
      return !(areaOf(file) === 'market' && target.startsWith('src/engine/columns/'));
    });
    expect(lines(wrong)).toEqual([]);
  });

  test('the API knows of the jobs only how to put one in the queue', () => {
    const wrong = IMPORTS.filter(({ file, target }) => areaOf(file) === 'api' && target.startsWith('src/jobs/'));
    expect(new Set(wrong.map(({ target }) => target))).toEqual(new Set(['src/jobs/enqueue.ts']));
  });

  test('the database knows of the engine only the names of types', () => {
    const wrong = IMPORTS.filter(({ file, target }) => areaOf(file) === 'db' && target.startsWith('src/engine/'));
    expect(lines(wrong.filter(({ isTypeOnly }) => !isTypeOnly))).toEqual([]);
  });
});

describe('packages', () => {
  /** Where a package may be imported; a package that is not named here is imported wherever it is wanted. */
  const PLACES: Readonly<Record<string, readonly string[]>> = {
    'apache-arrow': ['src/engine/columns/', 'src/market/'],
    piscina: ['src/engine/pool/'],
    postgres: ['src/db/'],
    fastify: ['src/api/'],
    jose: ['src/api/'],
    argon2: ['src/api/'],
    'prom-client': ['src/api/'],
    'graphile-worker': ['src/jobs/', 'src/db/migrate.ts'],
    commander: ['src/cli/', 'src/main.ts'],
    pino: ['src/log.ts'],
    hyparquet: ['src/market/'],
    papaparse: ['src/market/'],
  };

  test.each(Object.entries(PLACES))('%s is imported only in %j', (name, places) => {
    const users = IMPORTS.filter(({ target }) => target === name);
    expect(users.length).toBeGreaterThan(0);
    expect(lines(users.filter(({ file }) => !places.some((place) => file.startsWith(place))))).toEqual([]);
  });

  test('fastify’s own plugins too', () => {
    const users = IMPORTS.filter(({ target }) => target.startsWith('@fastify/') || target.startsWith('fastify-'));
    expect(lines(users.filter(({ file }) => !file.startsWith('src/api/')))).toEqual([]);
  });

  test('what package.json lists is used, and what is used it lists', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const used = new Set(IMPORTS.map(({ target }) => target).filter((name) => !/^(node:|src\/)/.test(name)));
    const text = FILES.map(codeOf).join('\n');
    expect([...used].filter((name) => !Object.hasOwn(manifest.dependencies, name))).toEqual([]);
    const isNamed = (name: string): boolean =>
      used.has(name) || text.includes(`'${name}'`) || text.includes(`'${name}/`);
    expect(Object.keys(manifest.dependencies).filter((name) => !isNamed(name) && !UNIMPORTED.has(name))).toEqual([]);
  });

  /** A peer that fastify-zod-openapi asks for, and the chart library whose text goes into reports. */
  const UNIMPORTED = new Set(['zod-openapi', 'lightweight-charts']);
});

describe('purity', () => {
  const ENGINE = FILES.filter((file) => file.startsWith('src/engine/'));
  const findings = (files: readonly string[], pattern: RegExp): string[] =>
    files.flatMap((file) => [...codeOf(file).matchAll(pattern)].map(([found]) => `${file}: ${found}`));

  test('the engine reads no file, no clock, no chance, no environment, and writes no log', () => {
    const impure =
      /\bprocess\.\w+|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.\w+|\bconsole\.\w+|\bfetch\(|\bset(?:Timeout|Interval)\b/g;
    expect(
      findings(
        ENGINE.filter((file) => !file.startsWith('src/engine/pool/')),
        impure,
      ),
    ).toEqual([]);
  });

  test('of Node’s modules the engine uses hashes only; its threads are the pool’s', () => {
    const used = IMPORTS.filter(({ file, target }) => ENGINE.includes(file) && target.startsWith('node:'));
    expect(
      lines(used.filter(({ file, target }) => !file.startsWith('src/engine/pool/') && target !== 'node:crypto')),
    ).toEqual([]);
    // node:fs: the chart library's text, which pool/chartLibrary.ts reads for reports.
    const allowed = ['node:fs', 'node:os', 'node:url', 'node:worker_threads', 'node:zlib'];
    const pool = used.filter(({ file }) => file.startsWith('src/engine/pool/'));
    expect(lines(pool.filter(({ target }) => !allowed.includes(target)))).toEqual([]);
  });

  test('only src/config.ts reads the environment', () => {
    expect(
      findings(
        FILES.filter((file) => file !== 'src/config.ts'),
        /\bprocess\.env\b/g,
      ),
    ).toEqual([]);
  });
});

describe('files', () => {
  const all = [...FILES, ...globSync(['test/**/*.ts', 'bench/*.ts', 'scripts/*.ts'], { cwd: ROOT })].toSorted();

  test('begin with a sentence saying what they are for; of a test file its titles say it', () => {
    const own = all.filter((file) => !file.endsWith('.test.ts'));
    const silent = own.filter((file) => !/^(#!.*\n)?(\/\/ |\/\*\* ?)\S/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(silent).toEqual([]);
  });

  test('have at most 450 lines', () => {
    const long = all.filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 451);
    expect(long).toEqual([]);
  });

  test('are named for what they hold: no utils, helpers, lib or misc', () => {
    const vague = FILES.filter((file) => /\/(utils?|helpers?|lib|misc)(\.ts|\/)/.test(file));
    expect(vague).toEqual([]);
  });
});
