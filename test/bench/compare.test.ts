// The verdict of bench:compare, with measurements that are given.
import { describe, expect, it } from 'vitest';
import { add, compareSuites, type Measured, type MeasureBoth } from '../../bench/comparison.ts';

type Times = Readonly<Record<string, number>>;
interface Round {
  readonly before: Times;
  readonly after: Times;
  /** The pace of the processor; 1 is alone. */
  readonly pace?: number;
}

/** A `MeasureBoth` that gives these rounds, the last one again and again, and notes which suites were asked for. */
function machine(...rounds: readonly Round[]) {
  const asked: string[] = [];
  const measureBoth: MeasureBoth = async (suites, round, earlier, later) => {
    const { before, after, pace = 1 } = rounds[Math.min(round, rounds.length - 1)];
    asked.push(suites.join(' '));
    const measured = (times: Times): Measured[] =>
      Object.entries(times)
        .filter(([task]) => suites.some((suite) => task.startsWith(`${suite}/`)))
        .map(([task, ns]) => ({ task, ns, alone: { rounds: 50, pace } }));
    add(earlier, measured(before));
    add(later, measured(after));
  };
  /** @param rounds after which time has run out */
  const verdicts = async (suites: readonly string[], rounds = Infinity) => {
    const all = await compareSuites(suites, 1.15, 2, 6, measureBoth, () => asked.length >= rounds);
    return Object.fromEntries(all.map(({ task, verdict, ratio }) => [task, [verdict, ratio]]));
  };
  return { asked, verdicts };
}

describe('a comparison of two revisions', () => {
  it('ends after the least number of rounds when every task is within the limit', async () => {
    const { asked, verdicts } = machine({ before: { 'a/x': 10, 'b/y': 10 }, after: { 'a/x': 11, 'b/y': 5 } });
    expect(await verdicts(['a', 'b'])).toEqual({ 'a/x': ['alike', 1.1], 'b/y': ['alike', 0.5] });
    expect(asked).toEqual(['a b', 'a b']);
  });

  it('measures only the suite that has a slower task again, as often as it may, and then fails it', async () => {
    const { asked, verdicts } = machine({ before: { 'a/x': 10, 'b/y': 10 }, after: { 'a/x': 13, 'b/y': 10 } });
    expect(await verdicts(['a', 'b'])).toEqual({ 'a/x': ['slower', 1.3], 'b/y': ['alike', 1] });
    expect(asked).toEqual(['a b', 'a b', 'a', 'a', 'a', 'a']);
  });

  it('passes a task whose times have two forms once both revisions have shown the fast one', async () => {
    const slow: Round = { before: { 'a/x': 10 }, after: { 'a/x': 18 } };
    const { asked, verdicts } = machine(slow, slow, slow, { before: { 'a/x': 18 }, after: { 'a/x': 10 } });
    expect(await verdicts(['a'])).toEqual({ 'a/x': ['alike', 1] });
    expect(asked).toHaveLength(5);
  });

  it('does not take a slower task for alike while only busy rounds of the earlier revision are known', async () => {
    const busy: Round = { before: { 'a/x': 18 }, after: { 'a/x': 18 }, pace: 1.8 };
    const quiet: Round = { before: { 'a/x': 10 }, after: { 'a/x': 13 } };
    const { asked, verdicts } = machine({ ...busy, after: { 'a/x': 13 }, pace: 1 }, busy, quiet);
    expect(await verdicts(['a'])).toEqual({ 'a/x': ['slower', 1.3] });
    expect(asked).toHaveLength(6);
  });

  it('is not sure of a task that a revision has run on a busy machine only', async () => {
    const quiet: Round = { before: { 'a/x': 10 }, after: {} };
    const busy: Round = { before: {}, after: { 'a/x': 18 }, pace: 1.8 };
    // In relation to the pace, it seems to take the same time.
    expect(await machine(quiet, busy, quiet).verdicts(['a'])).toEqual({ 'a/x': ['unsure', 1] });
  });

  it('compares the best rounds that two processes agree on, and waits until two do', async () => {
    const lucky: Round = { before: { 'a/x': 5 }, after: { 'a/x': 10 } };
    const { asked, verdicts } = machine(lucky, { before: { 'a/x': 10 }, after: { 'a/x': 10 } });
    expect(await verdicts(['a'])).toEqual({ 'a/x': ['alike', 1] });
    expect(asked).toHaveLength(3);
  });

  it('takes a slower clock for what it is', async () => {
    const [fast, slow] = [
      { before: { 'a/x': 10 }, after: {} },
      { before: {}, after: { 'a/x': 12.5 } },
    ];
    const { verdicts } = machine({ ...fast, after: { 'a/x': 13 }, pace: 1 }, fast, { ...slow, pace: 1.25 });
    expect(await verdicts(['a'])).toEqual({ 'a/x': ['alike', 1] });
  });

  it('compares the best rounds as they are with a revision that does not know its pace', async () => {
    const measureBoth: MeasureBoth = async (_suites, _round, before, after) => {
      add(before, [{ task: 'a/x', ns: 10 }]);
      add(after, [{ task: 'a/x', ns: 13, alone: { rounds: 50, pace: 1 } }]);
    };
    expect(await compareSuites(['a'], 1.15, 2, 6, measureBoth)).toMatchObject([{ verdict: 'slower', ratio: 1.3 }]);
  });

  it('is not sure of a slower task when time runs out before the last round, and keeps what it knows', async () => {
    const { asked, verdicts } = machine({ before: { 'a/x': 10, 'b/y': 10 }, after: { 'a/x': 13, 'b/y': 10 } });
    expect(await verdicts(['a', 'b'], 4)).toEqual({ 'a/x': ['unsure', 1.3], 'b/y': ['alike', 1] });
    expect(asked).toEqual(['a b', 'a b', 'a', 'a']);
  });

  it('compares only the tasks that both revisions have', async () => {
    const { verdicts } = machine({ before: { 'a/x': 10 }, after: { 'a/x': 10, 'a/new': 100 } });
    expect(Object.keys(await verdicts(['a']))).toEqual(['a/x']);
  });
});
