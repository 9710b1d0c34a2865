// The suite that compares with other engines' numbers; their files lie outside the repository (CANDLEPOOL_SHARED).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/oracles/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
});
