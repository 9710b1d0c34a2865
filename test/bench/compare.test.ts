// The verdict of bench:compare, with times that are given.
import { describe, expect, it } from 'vitest';
import { compareSuites, verdictOf, type MeasureSuite } from '../../bench/comparison.ts';
import { creepOf, readReferenceCosts } from '../../bench/creep.ts';
import { measureInTurn, type Side } from '../../bench/inTurn.ts';
import { taskNames } from '../../bench/suites.ts';

const LIMIT = 1.15;

describe('a verdict', () => {
  it.each([
    [[], 'unsure'],
    [[1], 'unsure'],
    [[1, 1.14], 'alike'],
    [[1.3, 1.3], 'unsure'],
    [[1.3, 1.16, 1.3], 'unsure'],
    [[1.3, 1.16, 1.3, 1.3], 'slower'],
    // A process that has placed its code badly.
    [[1, 1.4], 'unsure'],
    [[1, 1.4, 1, 1], 'alike'],
    [[1.3, 0.9, 1.3, 1.3], 'unsure'],
    [[1.3, 0.9, 1.3, 1.3, 1.3, 1.3], 'unsure'],
  ] as const)('of rounds %j is %s', (ratios, verdict) => {
    const rounds = ratios.map((ratio) => ({ before: 10, after: 10 * ratio, ratio }));
    expect(verdictOf(rounds, LIMIT)).toBe(verdict);
  });

  it('is slower only when the fastest round of a revision is', () => {
    const badlyPlaced = { before: 10, after: 14, ratio: 1.4 };
    const wellPlaced = { before: 14, after: 10, ratio: 10 / 14 };
    const mostlyBad = [badlyPlaced, wellPlaced, ...Array.from({ length: 5 }, () => badlyPlaced)];
    expect(verdictOf(mostlyBad, LIMIT)).toBe('unsure');
    expect(verdictOf([...mostlyBad, ...mostlyBad], LIMIT)).toBe('alike');
    const slower = { before: 10, after: 13, ratio: 1.3 };
    const badlyPlacedBefore = { before: 14, after: 13, ratio: 13 / 14 };
    expect(verdictOf([slower, badlyPlacedBefore, slower, slower, slower, slower], LIMIT)).toBe('slower');
  });
});

/** A `MeasureSuite` that gives the ratios of each task in turn, then the last one again, and notes what is measured. */
function machine(ratios: Readonly<Record<string, readonly number[]>>) {
  const measured: string[] = [];
  const measureSuite: MeasureSuite = async function* (suite, isWanted) {
    for (const [task, each] of Object.entries(ratios)) {
      if (!task.startsWith(`${suite}/`) || !isWanted(task)) continue;
      const round = measured.filter((name) => name === task).length;
      measured.push(task);
      const ratio = each[Math.min(round, each.length - 1)];
      yield { task, before: 10, after: 10 * ratio, ratio, cost: 2 * ratio };
    }
  };
  return { measured, measureSuite };
}

describe('a comparison of two revisions', () => {
  it('measures each task until its verdict is known, and lists the slowest first', async () => {
    const { measured, measureSuite } = machine({ 'a/x': [1], 'a/y': [1.3], 'b/z': [1, 1.2, 1, 1] });
    const all = await compareSuites(['a', 'b'], LIMIT, measureSuite);
    expect(all.map(({ task, ratio, verdict }) => [task, ratio, verdict])).toEqual([
      ['a/y', 1.3, 'slower'],
      ['a/x', 1, 'alike'],
      ['b/z', 1, 'alike'],
    ]);
    expect(measured.filter((task) => task === 'b/z')).toHaveLength(4);
  });

  it('measures what looks slower again before anything else', async () => {
    const { measured, measureSuite } = machine({ 'a/x': [1], 'a/y': [1.3], 'a/z': [1.3, 1], 'b/w': [1] });
    const all = await compareSuites(['a', 'b'], LIMIT, measureSuite, () => measured.length >= 8);
    expect(measured).toEqual(['a/x', 'a/y', 'a/z', 'a/y', 'a/z', 'a/y', 'a/y', 'b/w']);
    expect(all.map(({ task, verdict }) => [task, verdict])).toEqual([
      ['a/y', 'slower'],
      ['a/x', 'unsure'],
      ['a/z', 'unsure'],
      ['b/w', 'unsure'],
    ]);
  });

  it('stops measuring what looks slower when time runs out, and calls what is open unsure', async () => {
    const { measured, measureSuite } = machine({ 'a/x': [1.3] });
    const all = await compareSuites(['a'], LIMIT, measureSuite, () => measured.length >= 2);
    expect(all.map(({ task, ratios, verdict }) => [task, ratios, verdict])).toEqual([['a/x', [1.3, 1.3], 'unsure']]);
  });

  it('measures nothing again where nothing was measured', async () => {
    const { measureSuite } = machine({ 'a/x': [1] });
    expect(await compareSuites(['c'], LIMIT, measureSuite)).toEqual([]);
  });
});

/** A side whose call takes so many microseconds, times what the machine makes of its slice. */
function sideOf(microseconds: (call: number) => number, slowdown: () => number): Side & { calls: number } {
  return {
    tasks: ['a/x/1'],
    calls: 0,
    run(_task, calls) {
      let sum = 0;
      for (let call = 0; call < calls; call++) sum += microseconds(this.calls++);
      return Promise.resolve(sum * slowdown());
    },
  };
}

describe('creep', () => {
  const { costs } = { costs: { 'a/x/1': 2, 'a/y/1': 4, 'b/z/1': 1 } };
  const creep = (found: Readonly<Record<string, number>>) =>
    creepOf(
      Object.entries(found).map(([task, cost]) => ({ task, cost })),
      { machine: '', costs },
    );

  it('of a suite is the geometric mean of its costs over the stored ones', () => {
    expect(creep({ 'a/x/1': 2.2, 'a/y/1': 4.84, 'b/z/1': 0.9 })).toEqual([
      { suite: 'a', tasks: 2, ratio: expect.closeTo(Math.sqrt(1.1 * 1.21)), isNotable: true },
      { suite: 'b', tasks: 1, ratio: expect.closeTo(0.9), isNotable: false },
    ]);
  });

  it('leaves out tasks without a stored cost', () => {
    expect(creep({ 'a/x/1': 2, 'a/new/1': 50, 'c/new/1': 1 })).toEqual([
      { suite: 'a', tasks: 1, ratio: 1, isNotable: false },
    ]);
  });

  it('has a stored cost for every task that CI compares', async () => {
    const stored = readReferenceCosts().costs;
    const names = await Promise.all(['indicators', 'fills', 'whole'].map(taskNames));
    const short = names.flat().filter((name) => !name.endsWith('/1000000'));
    // The names of the short form differ from the usual ones in the number of bars.
    const withoutCount = (name: string): string => name.replace(/\/\d+$/, '');
    const known = new Set(Object.keys(stored).map(withoutCount));
    expect(short.length).toBeGreaterThan(150);
    expect(short.map(withoutCount).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('two revisions in turn', () => {
  const steady = (microseconds: number) => () => microseconds;
  const ratioOf = async (before: Side, after: Side): Promise<number> =>
    (await measureInTurn('a/x/1', before, after)).ratio;

  it('compares slices that met the same machine, whose speed changes by half from time to time', async () => {
    let slice = 0;
    const changing = () => 1 + (Math.floor(slice++ / 4) % 3) / 2;
    const ratio = await ratioOf(sideOf(steady(100), changing), sideOf(steady(130), changing));
    expect(ratio).toBeCloseTo(1.3);
  });

  it('is not moved by slices that something else disturbed, all of them of one side', async () => {
    let slice = 0;
    const disturbed = () => (slice++ % 5 === 0 ? 4 : 1);
    const ratio = await ratioOf(
      sideOf(steady(100), () => 1),
      sideOf(steady(100), disturbed),
    );
    expect(ratio).toBeCloseTo(1);
  });

  it('gives neither side the advantage of coming second', async () => {
    let slice = 0;
    const second = () => (slice++ % 2 === 1 ? 0.7 : 1);
    expect(await ratioOf(sideOf(steady(100), second), sideOf(steady(100), second))).toBeCloseTo(1);
  });

  it('does not count the first calls, before V8 has compiled the code', async () => {
    const cold = (call: number) => (call < 1_000 ? 200 : 100);
    const after = sideOf(cold, () => 1);
    expect(
      await ratioOf(
        sideOf(steady(100), () => 1),
        after,
      ),
    ).toBeCloseTo(1);
    expect(after.calls).toBeGreaterThan(2_000);
  });

  it('measures a task that takes longer than a slice call by call', async () => {
    const [before, after] = [100_000, 130_000].map((each) => sideOf(steady(each), () => 1));
    expect(await measureInTurn('a/x/1', before, after)).toEqual({ before: 100_000, after: 130_000, ratio: 1.3 });
    // Ten to warm up, and two for each of seven ratios.
    expect(before.calls).toBe(24);
  });
});
