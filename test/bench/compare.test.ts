// The verdict of bench:compare, with measurements that are given.
import { describe, expect, it } from 'vitest';
import { keepBest, slowerTasks, type MeasureBoth } from '../../bench/compare.ts';

/** A `MeasureBoth` that answers the tries in turn, and notes which suites were asked for. */
function tries(...answers: readonly Readonly<Record<string, readonly [before: number, after: number]>>[]) {
  const asked: (readonly string[])[] = [];
  const measureBoth: MeasureBoth = (suites, _rounds, before, after) => {
    for (const [task, [was, is]] of Object.entries(answers[asked.length])) {
      if (!suites.some((suite) => task.startsWith(`${suite}/`))) continue;
      keepBest(before, [{ task, ns: was }]);
      keepBest(after, [{ task, ns: is }]);
    }
    asked.push(suites);
  };
  return { asked, measureBoth };
}

describe('a comparison of two revisions', () => {
  it('ends after one try when no task is beyond the limit', () => {
    const { asked, measureBoth } = tries({ 'a/x': [10, 11.4], 'b/y': [10, 5] });
    const { all, slower } = slowerTasks(['a', 'b'], 1.15, 4, measureBoth);
    expect(slower).toEqual([]);
    expect(all.map(({ task }) => task)).toEqual(['a/x', 'b/y']);
    expect(asked).toEqual([['a', 'b']]);
  });

  it('fails a task that is beyond the limit on both tries, and asks again only for its suite', () => {
    const { asked, measureBoth } = tries({ 'a/x': [10, 13], 'b/y': [10, 10] }, { 'a/x': [10, 12.9] });
    const { slower } = slowerTasks(['a', 'b'], 1.15, 4, measureBoth);
    expect(slower).toEqual([{ task: 'a/x', before: 10, after: 12.9, ratio: 1.29 }]);
    expect(asked).toEqual([['a', 'b'], ['a']]);
  });

  it('passes a task whose second try, or whose best rounds together, are within the limit', () => {
    const quick = tries({ 'a/x': [10, 13] }, { 'a/x': [10, 10.5] });
    expect(slowerTasks(['a'], 1.15, 4, quick.measureBoth).slower).toEqual([]);
    const shifted = tries({ 'a/x': [10, 12] }, { 'a/x': [12, 14] });
    expect(slowerTasks(['a'], 1.15, 4, shifted.measureBoth).slower.map(({ ratio }) => ratio)).toEqual([1.2]);
    const noisy = tries({ 'a/x': [10.5, 12.5] }, { 'a/x': [10.6, 12.3] });
    expect(slowerTasks(['a'], 1.18, 4, noisy.measureBoth).slower).toEqual([]);
  });

  it('compares only the tasks that both revisions have', () => {
    const { measureBoth } = tries({ 'a/x': [10, 10] });
    const both: MeasureBoth = (suites, rounds, before, after) => {
      measureBoth(suites, rounds, before, after);
      keepBest(after, [{ task: 'a/new', ns: 100 }]);
    };
    expect(slowerTasks(['a'], 1.15, 4, both).all.map(({ task }) => task)).toEqual(['a/x']);
  });
});
