// The suites of the benches: what they name and what they make.
import { describe, expect, it } from 'vitest';
import { SUITES, taskNames } from '../../bench/suites.ts';

describe('a suite', () => {
  it.each(SUITES)('of %s names its tasks after itself, each once', async (suite) => {
    const names = await taskNames(suite);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !name.startsWith(`${suite}/`))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('makes nothing that its tasks need until they run', async () => {
    const modules = await Promise.all(SUITES.map((suite) => import(`../../bench/${suite}.ts`)));
    const before = process.memoryUsage().arrayBuffers;
    // They are kept, so that nothing of theirs is collected.
    const suites = modules.map((module: { suite(): object }) => module.suite());
    // The columns of a million bars, the usual size, take 48 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32e6);
    expect(suites).toHaveLength(SUITES.length);
  });
});
