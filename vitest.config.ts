// Three kinds of test files. Most share a process with others, so that the code under test is loaded once; those of
// kernels share one with each other. Those that start and kill processes, or measure memory, have a process each: a
// leak must not reach another file.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders of such files, and those of their files that share a process all the same: they start none. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  bench: ['compare', 'flameGraph', 'peers', 'suites'],
  browser: [],
  cli: [
    'annualization',
    'compare',
    'contradictions',
    'data',
    'demoFolder',
    'explain',
    'importFiles',
    'outputs',
    'supervisor',
    'sweep',
    'tenants',
    'validate',
  ],
  'engine/pool': ['admission', 'compressedTexts', 'detailBytes', 'encodedRuns', 'tradeBytes', 'universes'],
  faults: [],
  hostile: [],
  jobs: [
    'claimer',
    'executor',
    'missingSnapshots',
    'shardPlaces',
    'statements',
    'sweepShards',
    'webhookRequest',
    'webhooks',
  ],
};
/** They share no process with others, for whose columns V8 would compile their loops again. */
const KERNELS = ['engine/fast', 'engine/kernels'];
/** Files that take twice as long where other files have run: V8 has compiled their loops for more kinds of values. */
const FILES = ['engine/simulate/truthTable', 'laws/sweepVerdict'];
/** Files that count the memory of their process, or start and lose servers. */
const OF_THEIR_PROCESS = ['engine/kernels/sharedMemory', 'db/embedded', 'db/lostConnection'];
const allIn = (folders: readonly string[]): string[] => folders.map((folder) => `test/${folder}/**/*.test.ts`);
const foldersAlone = Object.entries(FOLDERS).map(
  ([folder, sharing]) => `test/${folder}/${sharing.length === 0 ? '*' : `!(${sharing.join('|')})`}.test.ts`,
);
const ALONE = [...foldersAlone, ...[...FILES, ...OF_THEIR_PROCESS].map((file) => `test/${file}.test.ts`)];
const PROJECTS = ['alone', 'shared', 'kernels'];

/** Files that take longest, the longest first: none of them begins while a core has nothing else left to do. */
const LONGEST = [
  'jobs/crash',
  'cli/demo',
  'engine/pool/compiledCode',
  'hostile/hostile',
  'cli/serve',
  'engine/pool/memory',
  'faults/rounds',
  'faults/manyHosts',
  'db/embedded',
  'bench/arguments',
  'operations',
  'laws/robustnessVerdict',
  'docsExamples',
  'laws/fillRules',
  'api/backtestReads',
  'api/heavyQueue',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
      // A process is shared by files that follow each other.
      return PROJECTS.indexOf(project.name) * (LONGEST.length + 1) + (at === -1 ? LONGEST.length : at);
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    globalSetup: ['test/support/databaseRun.ts'],
    setupFiles: ['test/support/plain.ts'],
    sequence: { sequencer: LongestFirst },
    // For two cores: tests wait for Postgres and for processes now and then, and a third file uses what they leave.
    maxWorkers: 3,
    // Node loads the modules itself, as in operation. Rewritten by Vite, every use of an import goes through a getter,
    // which takes a quarter more time in tests of the engine, and no file starts from kept compiled code.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Above the patience of test/support/eventually.ts, whose message says what did not happen.
    testTimeout: 180_000,
    // A test without an assertion checks nothing.
    expect: { requireAssertions: true },
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      { extends: true, test: { name: 'kernels', include: allIn(KERNELS), exclude: ALONE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...allIn(KERNELS), 'test/oracles/**'],
          isolate: false,
          // They make many short-lived objects; with the 16 MiB of V8 a sixth of their time goes to collecting them.
          execArgv: ['--max-semi-space-size=32'],
        },
      },
    ],
  },
});
