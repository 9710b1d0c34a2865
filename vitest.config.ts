// Two kinds of test files. Most share a process with others, so that the code under test is loaded once. Those that
// start and kill processes, or measure memory, have a process each: a leak must not reach another file.
import { defineConfig } from 'vitest/config';

const FOLDERS = [
  'bench',
  'browser',
  'cli',
  'db',
  'engine/fast',
  'engine/kernels',
  'engine/pool',
  'faults',
  'hostile',
  'jobs',
];
/** Files that take twice as long where other files have run: V8 has compiled their loops for more kinds of values. */
const FILES = ['engine/simulate/truthTable', 'laws/sweepVerdict'];
const ALONE = [
  ...FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
  ...FILES.map((file) => `test/${file}.test.ts`),
];

export default defineConfig({
  test: {
    pool: 'forks',
    globalSetup: ['test/support/databaseRun.ts'],
    setupFiles: ['test/support/plain.ts'],
    maxWorkers: 2,
    // Above the patience of test/support/eventually.ts, whose message says what did not happen.
    testTimeout: 180_000,
    // A test without an assertion checks nothing.
    expect: { requireAssertions: true },
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, 'test/oracles/**'],
          isolate: false,
        },
      },
    ],
  },
});
