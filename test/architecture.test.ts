// The architecture as a test: who may import whom, which package belongs where, what keeps the engine pure, and how a
// file begins.
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
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

const IMPORT = new RegExp(
  [
    /^(?:(?:import|export)(?<type> type)?\b[^;'"]*?from\s*|import\s*)['"](?<name>[^'"]+)['"]/,
    /\bimport\(\s*['"](?<lazy>[^'"]+)['"]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);

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

it('finds the imports of the sources', () => {
  expect(FILES.length).toBeGreaterThan(200);
  expect(lines(IMPORTS)).toContain('src/cli/worker.ts → src/jobs/runner.ts');
  expect(lines(IMPORTS)).toContain('src/main.ts → src/cli/program.ts');
  expect(lines(IMPORTS)).toContain('src/engine/pool/dispatcher.ts → piscina');
});

const ARCHITECTURE = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');

describe('the map of areas', () => {
  /** Words everybody speaks: what a tier may, how the process is configured, where it logs. */
  const SHARED = ['config.ts', 'folders.ts', 'log.ts', 'tiers.ts'];
  /** What of an area may be imported, where it is not all of it; tests below see to it. */
  const ONLY: Readonly<Record<string, string>> = { 'db engine': 'engine (types only)' };
  const ARROWS: Readonly<Record<string, readonly string[]>> = {
    'main.ts': ['cli'],
    'config.ts': [],
    'folders.ts': [],
    'tiers.ts': [],
    'log.ts': ['config.ts'],
    cli: ['api', 'jobs', 'engine', 'market', 'db', ...SHARED],
    api: ['engine', 'market', 'db', ...SHARED],
    console: [],
    jobs: ['engine', 'market', 'db', ...SHARED],
    market: ['engine', 'db', ...SHARED],
    db: ['engine', ...SHARED],
    engine: [],
  };

  it('is the table of docs/architecture.md', () => {
    const folders = Object.entries(ARROWS).filter(([area]) => !area.endsWith('.ts'));
    const mapped = folders.map(([area, targets]) => {
      const own = targets.filter((target) => !SHARED.includes(target));
      return [area, own.map((target) => ONLY[`${area} ${target}`] ?? target).join(', ') || 'nothing'];
    });
    const rows = [...ARCHITECTURE.matchAll(/^\| `src\/(\w+)\/` \|.*\| ([^|]+) \|$/gm)];
    expect(rows.map(([, area, targets]) => [area, targets])).toEqual(mapped);
  });

  it('lists every area of src', () => {
    expect([...new Set(FILES.map(areaOf))].toSorted()).toEqual(Object.keys(ARROWS).toSorted());
  });

  it.each(Object.keys(ARROWS))('lets %s import only what its entry allows', (area) => {
    const wrong = IMPORTS.filter(({ file, target }) => {
      if (areaOf(file) !== area || !target.startsWith('src/')) return false;
      return areaOf(target) !== area && !ARROWS[area].includes(areaOf(target));
    });
    expect(lines(wrong)).toEqual([]);
  });

  it('lets outsiders import only src/engine/index.ts, and market also src/engine/bars', () => {
    const wrong = IMPORTS.filter(({ file, target }) => {
      if (!target.startsWith('src/engine/') || areaOf(file) === 'engine' || target === 'src/engine/index.ts')
        return false;
      return !(areaOf(file) === 'market' && target.startsWith('src/engine/bars/'));
    });
    expect(lines(wrong)).toEqual([]);
  });

  it('lets the database import only types from the engine', () => {
    const wrong = IMPORTS.filter(({ file, target }) => areaOf(file) === 'db' && target.startsWith('src/engine/'));
    expect(lines(wrong.filter(({ isTypeOnly }) => !isTypeOnly))).toEqual([]);
  });
});

describe('the order inside the engine', () => {
  /**
   * The stages in the order of the pipeline: a file imports from its own stage and from earlier ones, types included.
   */
  const STAGES = [
    'kernels', 'bars', 'indicators', 'patterns', 'definitions', 'config.ts', 'language', 'configForm.ts',
    'configChecks.ts', 'task.ts', 'version.ts', 'plan', 'estimateBacktest.ts', 'evaluate', 'simulate', 'report',
    'fast', 'boundInput.ts', 'failedRun.ts', 'portfolioBacktest.ts', 'backtest.ts',
    'comparedRun.ts', 'sweep', 'robustness', 'explainStrategy.ts',
  'computeColumns.ts', 'artifacts.ts', 'pool', 'index.ts',
  ]; // prettier-ignore
  const stageOf = (file: string): string => file.split('/')[2];
  const ENGINE = IMPORTS.filter(({ file, target }) => [file, target].every((path) => path.startsWith('src/engine/')));

  it('is the line of docs/architecture.md', () => {
    const [line] = ARCHITECTURE.match(/^ {4}kernels → .*(?:\n {4}→ .*)*$/m)!;
    expect(line.trim().split(/\s+→ |, /)).toEqual(STAGES.filter((stage) => !stage.endsWith('.ts')));
  });

  it('gives every folder and file a place in the order', () => {
    const stages = new Set(FILES.filter((file) => file.startsWith('src/engine/')).map(stageOf));
    expect([...stages].filter((stage) => !STAGES.includes(stage))).toEqual([]);
  });

  it('lets a stage import only earlier stages', () => {
    expect(lines(arrowsAgainst(STAGES, ENGINE, stageOf))).toEqual([]);
  });

  it('lets only backtest.ts import the accelerators', () => {
    const users = ENGINE.filter(
      ({ file, target }) => target.startsWith('src/engine/fast/') && !file.startsWith('src/engine/fast/'),
    );
    expect(lines(users)).toEqual(['src/engine/backtest.ts → src/engine/fast/index.ts']);
  });

  it('lets a folder of the language import only earlier ones', () => {
    const [, line] = ARCHITECTURE.match(/^ {4}language: (.*)$/m)!;
    const layers = ['pointer.ts', ...line.split(/ → |, /), 'fieldCapabilities.ts', 'capabilities.ts'];
    const layerOf = (file: string): string => file.split('/')[3];
    const language = FILES.filter((file) => file.startsWith('src/engine/language/'));
    expect([...new Set(language.map(layerOf))].toSorted()).toEqual(layers.toSorted());
    const among = ENGINE.filter(({ file, target }) => language.includes(file) && language.includes(target));
    expect(lines(arrowsAgainst(layers, among, layerOf))).toEqual([]);
  });

  it('rejects a planted import of a later stage', () => {
    const planted = { file: 'src/engine/kernels/bits.ts', target: 'src/engine/plan/plan.ts', isTypeOnly: true };
    expect(arrowsAgainst(STAGES, [...ENGINE, planted], stageOf)).toEqual([planted]);
  });
});

const arrowsAgainst = (
  stages: readonly string[],
  imports: readonly Import[],
  stageOf: (file: string) => string,
): Import[] => imports.filter(({ file, target }) => stages.indexOf(stageOf(target)) > stages.indexOf(stageOf(file)));

describe('the check for cycles', () => {
  it('finds no file that imports itself through others, types included', () => {
    expect(findCycle(IMPORTS)).toBeNull();
  });

  it('finds a planted cycle', () => {
    const planted = [
      { file: 'src/engine/kernels/bits.ts', target: 'src/engine/plan/plan.ts', isTypeOnly: true },
      { file: 'src/engine/plan/plan.ts', target: 'src/engine/kernels/bits.ts', isTypeOnly: true },
    ];
    expect(findCycle([...IMPORTS, ...planted])).toContain('src/engine/kernels/bits.ts');
  });
});

/**
 * The files of one cycle in the order of their imports, or null. Depth first: a file met again on its own path closes
 * one.
 */
function findCycle(imports: readonly Import[]): string[] | null {
  const targets = Map.groupBy(imports, ({ file }) => file);
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return null;
    path.push(file);
    for (const { target } of targets.get(file) ?? []) {
      const cycle = visit(target);
      if (cycle !== null) return cycle;
    }
    path.pop();
    finished.add(file);
    return null;
  };
  for (const file of targets.keys()) {
    const cycle = visit(file);
    if (cycle !== null) return cycle;
  }
  return null;
}

describe('a file name', () => {
  it('is unique within its area, apart from index.ts', () => {
    const byName = Map.groupBy(
      FILES.filter((file) => !file.endsWith('/index.ts')),
      (file) => `${areaOf(file)} ${posix.basename(file)}`,
    );
    expect([...byName.values()].filter((files) => files.length > 1)).toEqual([]);
  });
});

describe('the map of packages', () => {
  /** Where a package may be imported; a package that is not named here is imported wherever it is wanted. */
  const PLACES: Readonly<Record<string, readonly string[]>> = {
    'apache-arrow': ['src/engine/bars/arrowPackage.ts'],
    piscina: ['src/engine/pool/'],
    postgres: ['src/db/'],
    fastify: ['src/api/'],
    jose: ['src/api/'],
    argon2: ['src/api/'],
    'prom-client': ['src/api/'],
    '@modelcontextprotocol/server': ['src/api/mcp/'],
    '@modelcontextprotocol/node': ['src/api/mcp/'],
    'graphile-worker': ['src/jobs/', 'src/db/migrate.ts'],
    commander: ['src/cli/'],
    pino: ['src/log.ts'],
    hyparquet: ['src/market/'],
    papaparse: ['src/market/', 'src/api/mcp/rowTools.ts'],
  };

  it.each(Object.entries(PLACES))('lets %s be imported only in %j', (name, places) => {
    const users = IMPORTS.filter(({ target }) => target === name);
    expect(users.length).toBeGreaterThan(0);
    expect(lines(users.filter(({ file }) => !places.some((place) => file.startsWith(place))))).toEqual([]);
  });

  it('lets only src/api import plugins of fastify', () => {
    const users = IMPORTS.filter(({ target }) => target.startsWith('@fastify/') || target.startsWith('fastify-'));
    expect(lines(users.filter(({ file }) => !file.startsWith('src/api/')))).toEqual([]);
  });

  it('finds every listed package used and every used package listed', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const used = new Set(
      IMPORTS.map(({ target }) => target).filter((name) => !/^(node:|src\/|package\.json$)/.test(name)),
    );
    const text = FILES.map(codeOf).join('\n');
    expect([...used].filter((name) => !Object.hasOwn(manifest.dependencies, name))).toEqual([]);
    const isNamed = (name: string): boolean =>
      used.has(name) || text.includes(`'${name}'`) || text.includes(`'${name}/`);
    expect(Object.keys(manifest.dependencies).filter((name) => !isNamed(name) && !UNIMPORTED.has(name))).toEqual([]);
  });

  /** A peer that fastify-zod-openapi asks for, and the chart library whose text goes into reports. */
  const UNIMPORTED = new Set(['zod-openapi', 'lightweight-charts']);
});

describe('the check of purity', () => {
  const ENGINE = FILES.filter((file) => file.startsWith('src/engine/'));
  const findings = (files: readonly string[], pattern: RegExp): string[] =>
    files.flatMap((file) => [...codeOf(file).matchAll(pattern)].map(([found]) => `${file}: ${found}`));

  it('keeps files, clocks, randomness, the environment and logs out of the engine', () => {
    const impure = [
      /\b(?:process|performance|console)\.\w+/g,
      /\b(?:Date\.now|Math\.random|setTimeout|setInterval)\b/g,
      /\bnew Date\(\)|\bfetch\(/g,
    ];
    const pure = ENGINE.filter((file) => !file.startsWith('src/engine/pool/'));
    expect(impure.flatMap((pattern) => findings(pure, pattern))).toEqual([]);
  });

  it('lets the engine import node:crypto, node:module for packages, and threads only in its pool', () => {
    const used = IMPORTS.filter(({ file, target }) => ENGINE.includes(file) && target.startsWith('node:'));
    const outside = used.filter(({ file }) => !file.startsWith('src/engine/pool/'));
    expect(lines(outside.filter(({ target }) => !['node:crypto', 'node:module'].includes(target)))).toEqual([]);
    // node:fs: the texts of the report page, which pool/pageAssets.ts reads; node:module: compiled code that is kept.
    const allowed = ['node:fs', 'node:module', 'node:os', 'node:url', 'node:v8', 'node:worker_threads', 'node:zlib'];
    const pool = used.filter(({ file }) => file.startsWith('src/engine/pool/'));
    expect(lines(pool.filter(({ target }) => !allowed.includes(target)))).toEqual([]);
  });

  it('lets only src/config.ts read the environment', () => {
    expect(
      findings(
        FILES.filter((file) => file !== 'src/config.ts'),
        // Setting a variable for threads is not reading one.
        /\bprocess\.env\b(?!\.\w+ = )/g,
      ),
    ).toEqual([]);
  });
});

describe('the check for spreads', () => {
  /** A call with about 120,000 arguments overflows the stack. Lists that cannot grow so long, and why: */
  const BOUNDED: Readonly<Record<string, string>> = {
    'src/engine/language/form/structure.ts': 'the steps of one patch',
    'src/engine/language/check/checkPayload.ts': 'the children of one node, bounded by MAX_CONTAINERS',
    'src/engine/language/prepare/prepare.ts': 'the children of one node, bounded by MAX_CONTAINERS',
    'src/engine/language/issues/repair.ts': 'the steps of one patch',
    'src/engine/indicators/ichimoku.ts': 'three lengths',
    'src/engine/indicators/almaAlligator.ts': 'three lines',
    'src/engine/indicators/oscillators.ts': 'three lengths',
    'src/engine/indicators/oscillatorsBeyondTalib.ts': 'four steps',
    'src/engine/patterns/patternProgram.ts': 'the items of one condition of a pattern',
    'src/engine/kernels/arithmetic.ts': 'at most 64 arguments',
    'src/engine/kernels/logic.ts': 'the items of one condition, bounded by MAX_CONTAINERS',
    'src/engine/definitions/expressions/intervals.ts': 'the arguments of one call, at most 64',
    'src/engine/definitions/expressions/mathValue.ts': 'the arguments of one call, at most 64',
    'src/engine/definitions/expressions/junctions.ts': 'the items of one node, bounded by MAX_CONTAINERS',
    'src/market/import/sourceFile.ts': 'the first six bytes of a file',
    'src/cli/demoAgent.ts': 'the issues or rows of one answer',
  };
  const SPREAD =
    /\.(?:push|unshift|splice)\((?:[^(){}]*,\s*)?\.\.\.|Math\.(?:min|max)\(\.\.\.|String\.from\w+\(\.\.\.|\.apply\(/;

  it('finds no list of unbounded length that is spread into a call', () => {
    const spreading = FILES.filter((file) => SPREAD.test(codeOf(file)));
    expect(spreading.filter((file) => !Object.hasOwn(BOUNDED, file))).toEqual([]);
    expect(Object.keys(BOUNDED).filter((file) => !spreading.includes(file))).toEqual([]);
  });
});

const glob = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));

describe('an export', () => {
  const users = [...FILES, ...glob('{test,bench,scripts}/**/*.ts')];
  const REEXPORT = /^export (?:type )?\{([^}]*)\} from .*$/gm;
  const namesIn = (list: string): string[] => list.match(/\w+/g)!.filter((name) => name !== 'type');

  const EXPORT = /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm;

  it('is named in another file', () => {
    const exported = FILES.flatMap((file) => [...codeOf(file).matchAll(EXPORT)].map(([, name]) => ({ file, name })));
    expect(exported.length).toBeGreaterThan(1_000);
    // Without re-exports: to pass a name on is not to use it.
    const words = users.flatMap((file) => [...new Set(codeOf(file).replaceAll(REEXPORT, '').match(/\w+/g))]);
    const files = Map.groupBy(words, (word) => word);
    expect(exported.filter(({ name }) => files.get(name)!.length === 1)).toEqual([]);
  });

  it('of the engine is imported from its index', () => {
    const imports = /^import (?:type )?\{([^}]*)\} from '[^']*engine\/index\.ts'/gm;
    const used = users.flatMap((file) => [...codeOf(file).matchAll(imports)].flatMap(([, list]) => namesIn(list)));
    const index = codeOf('src/engine/index.ts');
    const offered = [...index.matchAll(REEXPORT)].flatMap(([, list]) => namesIn(list));
    expect(offered.length).toBeGreaterThan(100);
    expect(index).not.toContain('export *');
    expect(offered.filter((name) => !used.includes(name))).toEqual([]);
  });
});

describe('the path of a run', () => {
  /** A getter of an object literal: one of a class ends without a comma. */
  const LITERAL_GETTER = /^( +)get \w+\(\)[^\n]*\{\n[\s\S]*?\n\1\},/m;
  const path = FILES.filter((file) => file.startsWith('src/engine/') && !file.startsWith('src/engine/pool/'));

  it('has no getters of object literals, which would keep every run in the old generation', () => {
    expect(path.length).toBeGreaterThan(150);
    expect(path.filter((file) => LITERAL_GETTER.test(codeOf(file)))).toEqual([]);
  });

  it('would find one', () =>
    expect(LITERAL_GETTER.test('return {\n  get trades() {\n    return rows;\n  },\n};')).toBe(true));
});

describe('a file', () => {
  const all = [...FILES, ...glob('test/**/*.ts', 'bench/**/*.ts', 'scripts/*.ts')].toSorted();

  it('begins with a sentence saying what it is for, unless it is a test file, whose titles say it', () => {
    const own = all.filter((file) => !file.endsWith('.test.ts'));
    const silent = own.filter((file) => !/^(#!.*\n)?(\/\/ |\/\*\* ?)\S/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(silent).toEqual([]);
  });

  const lineCount = (file: string): number => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1;

  it('has at most 320 lines where it is a source, else 450', () => {
    const most = (file: string): number => (file.startsWith('src/') ? 320 : 450);
    expect(all.filter((file) => lineCount(file) > most(file))).toEqual([]);
  });

  /** Lines that have to be as long as they are, and why. */
  const LONG_LINES: Readonly<Record<string, string>> = {
    'src/api/discovery/manifest.ts': 'the table of steps, and sentences of the answer, one per line',
    'src/market/import/times.ts': 'one regular expression',
    'scripts/notices.ts': 'the text of a generated page',
    'test/engine/language/hostile.test.ts': 'a table of cases, one per line',
    'test/engine/language/issues.test.ts': 'a table of cases, one per line',
    'test/engine/plan/explain.test.ts': 'lines of printed plans',
  };
  const longLines = (file: string, partOf = (text: string): string => text): string[] =>
    partOf(readFileSync(join(ROOT, file), 'utf8'))
      .split('\n')
      .flatMap((line) => (line.length > 120 ? [`${file}: ${line}`] : []));

  it('has lines of at most 120 columns', () => {
    const sql = glob('{migrations,src}/**/*.sql');
    const own = [...all, ...sql, ...glob('{bench,data,test}/**/*.py', '.ci/run', 'scripts/*.mjs', 'src/**/*.{js,wat}')];
    expect(own.length).toBeGreaterThan(850);
    expect(own.filter((file) => !Object.hasOwn(LONG_LINES, file)).flatMap((file) => longLines(file))).toEqual([]);
    expect(Object.keys(LONG_LINES).filter((file) => longLines(file).length === 0)).toEqual([]);
  });

  it('has lines of at most 120 columns where it is prose, apart from tables and what a command prints', () => {
    const pages = glob('*.md', '{docs,data,bench}/**/*.md');
    expect(pages.length).toBeGreaterThan(12);
    const prose = (page: string): string => page.replaceAll(/^(\|.*|```text\n[^]*?\n```)$/gm, '');
    expect(pages.flatMap((file) => longLines(file, prose))).toEqual([]);
  });

  it('that guides newcomers through the code, docs/architecture.md, has at most 170 lines', () => {
    expect(ARCHITECTURE.trimEnd().split('\n').length).toBeLessThanOrEqual(170);
  });

  it('of a migration has the number after the one before', () => {
    const numbers = globSync('migrations/*.sql', { cwd: ROOT }).map((file) => Number(file.split('/')[1].slice(0, 4)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  });

  it('is named for what it holds, not utils, helpers, lib or misc', () => {
    const vague = FILES.filter((file) => /\/(utils?|helpers?|lib|misc)(\.ts|\/)/.test(file));
    expect(vague).toEqual([]);
  });
});
