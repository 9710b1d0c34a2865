// Console files: everything that a browser loads for the console. They are built once per process from src/console, the
// shared style sheet and the packages that the console imports.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../../config.ts';
import { FLAT_DESCRIPTIONS, FLAT_KEYS, isFraction, statisticOf } from '../../engine/index.ts';
import { tagged, type TaggedBody } from '../http/etag.ts';

interface ConsoleFile extends TaggedBody {
  readonly type: string;
}
interface ConsoleFiles {
  /** Part of the address of every file, so that browsers may keep them: another version has other addresses. */
  readonly digest: string;
  /** By the path behind the digest. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly page: TaggedBody;
  /** The source of the page's import map for its Content-Security-Policy; the page has no other inline script. */
  readonly importMapHash: string;
}

/** What the modules of the console import, by name: a file below node_modules. */
const SHELL_MODULES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  '@preact/signals': '@preact/signals/dist/signals.module.js',
  '@preact/signals-core': '@preact/signals-core/dist/signals-core.module.js',
  htm: 'htm/dist/htm.module.js',
  '@tanstack/virtual-core': '@tanstack/virtual-core/dist/esm/index.js',
};
/** Loaded when a view draws a chart, or opens an editor. */
const LATE_MODULES: Readonly<Record<string, string>> = {
  'lightweight-charts': 'lightweight-charts/dist/lightweight-charts.standalone.production.mjs',
  'fast-json-patch': 'fast-json-patch/index.mjs',
  '@codemirror/state': '@codemirror/state/dist/index.js',
  '@codemirror/view': '@codemirror/view/dist/index.js',
  '@codemirror/streamparser': '@codemirror/streamparser/dist/index.js',
  '@codemirror/language': '@codemirror/language/dist/index.js',
  '@codemirror/commands': '@codemirror/commands/dist/index.js',
  '@codemirror/lint': '@codemirror/lint/dist/index.js',
  '@codemirror/lang-json': '@codemirror/lang-json/dist/index.js',
  '@lezer/common': '@lezer/common/dist/index.js',
  '@lezer/highlight': '@lezer/highlight/dist/index.js',
  '@lezer/json': '@lezer/json/dist/index.js',
  '@lezer/lr': '@lezer/lr/dist/index.js',
  '@marijn/find-cluster-break': '@marijn/find-cluster-break/src/index.js',
  crelt: 'crelt/index.js',
  'style-mod': 'style-mod/src/style-mod.js',
  'w3c-keyname': 'w3c-keyname/index.js',
};
/** Files beside those, which they import by relative paths. */
const INNER_FILES = [
  '@tanstack/virtual-core/dist/esm/ios-gesture.js',
  '@tanstack/virtual-core/dist/esm/lazy-measurements.js',
  '@tanstack/virtual-core/dist/esm/scroll-classifier.js',
  '@tanstack/virtual-core/dist/esm/utils.js',
  'fast-json-patch/module/core.mjs',
  'fast-json-patch/module/duplex.mjs',
  'fast-json-patch/module/helpers.mjs',
];
const SOURCES = join(ROOT, 'src', 'console');
const KIT = join(ROOT, 'src', 'engine', 'report', 'kit', 'kit.css');
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

let made: Promise<ConsoleFiles> | undefined;

export const consoleFiles = (): Promise<ConsoleFiles> => (made ??= readConsoleFiles());

async function readConsoleFiles(): Promise<ConsoleFiles> {
  const names = (await readdir(SOURCES)).toSorted();
  const modules = names.filter((name) => name.endsWith('.ts'));
  const files = new Map<string, ConsoleFile>();
  for (const name of modules) {
    const source = await readFile(join(SOURCES, name), 'utf8');
    files.set(name, { ...tagged(withoutTypes(source)), type: SCRIPT });
  }
  const styles = [KIT, join(SOURCES, 'console.css')].map((path) => readFile(path, 'utf8'));
  files.set('console.css', { ...tagged((await Promise.all(styles)).join('\n')), type: STYLE });
  for (const path of [...Object.values({ ...SHELL_MODULES, ...LATE_MODULES }), ...INNER_FILES]) {
    const source = await readFile(join(ROOT, 'node_modules', path), 'utf8');
    files.set(packagePath(path), { ...tagged(forBrowsers(source)), type: SCRIPT });
  }
  const hash = createHash('sha256');
  for (const [name, { body }] of files) hash.update(`${name}\n${body.length}\n${body}`);
  const digest = hash.digest('hex').slice(0, 16);
  const importMap = importMapOf(digest);
  return {
    digest,
    files,
    page: tagged(pageOf(digest, importMap, modules)),
    importMapHash: `'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
  };
}

/** Node says once that the function is experimental, on the error output of the service, where it helps nobody. */
function withoutTypes(source: string): string {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What some packages ask of Node, and bundlers replace. */
const NODE_MODE = ['process', 'env', 'NODE_ENV'].join('.');
/** As a bundler would: without what only Node has, and without the address of a map that is not served. */
const forBrowsers = (source: string): string =>
  source.replaceAll(NODE_MODE, '"production"').replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '');

const packagePath = (path: string): string => `packages/${path}`;

const importMapOf = (digest: string): string =>
  JSON.stringify({
    imports: Object.fromEntries(
      Object.entries({ ...SHELL_MODULES, ...LATE_MODULES }).map(([name, path]) => [
        name,
        `./assets/${digest}/${packagePath(path)}`,
      ]),
    ),
  });

/** Modules that are loaded when an editor is opened. */
const LATE_VIEWS = /^editor/;

/** The page, with relative addresses, so that it works below any path under which a proxy serves it. */
function pageOf(digest: string, importMap: string, modules: readonly string[]): string {
  const base = `./assets/${digest}`;
  const preloads = [
    ...modules.filter((name) => !LATE_VIEWS.test(name)),
    ...[...Object.values(SHELL_MODULES), ...INNER_FILES.filter((path) => path.startsWith('@tanstack'))].map(
      packagePath,
    ),
  ];
  const statistics = JSON.stringify(FLAT_KEYS.map(describedStatistic)).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Candlepool</title>
<link rel="icon" href="../docs/icon.svg">
<script type="importmap">${importMap}</script>
<link rel="stylesheet" href="${base}/console.css">
${preloads.map((name) => `<link rel="modulepreload" href="${base}/${name}">`).join('\n')}
<script type="application/json" id="statistics">${statistics}</script>
<script type="module" src="${base}/main.ts"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}

/** What the console shows of a statistic: its name and how its values are written. */
function describedStatistic(key: (typeof FLAT_KEYS)[number]) {
  const { unit, better, row, canBeNull } = statisticOf(key);
  const written = isFraction(key) ? 'percent' : unit === 'barTime' || unit === 'instant' ? 'time' : unit;
  return {
    key,
    name: row.name,
    about: FLAT_DESCRIPTIONS[key],
    written,
    better,
    canBeNull,
    ...(row.isSigned && { isSigned: true }),
  };
}
