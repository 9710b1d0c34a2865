// Which tasks of one checkout are slower than those of another, by rounds that measured both in turn.
import { median, type InTurn } from './inTurn.ts';

/** `unsure`: the rounds disagree, or time ran out. */
export type Verdict = 'alike' | 'slower' | 'unsure';

/** A task in one round, whose processes are started for it. */
export interface Round extends InTurn {
  readonly task: string;
  /** How many times as long as the fixed kernel, in the same processes, the second revision takes. */
  readonly cost: number;
}

export interface Compared extends InTurn {
  readonly task: string;
  readonly cost: number;
  /** The ratio of each round. */
  readonly ratios: readonly number[];
  readonly verdict: Verdict;
}

/** A round of those tasks of a suite that are wanted; ends early when time runs out. */
export type MeasureSuite = (suite: string, isWanted: (task: string) => boolean) => AsyncIterable<Round>;

/**
 * How many more rounds must lie on one side of the limit than on the other (Wald's sequential test of signs). Where one
 * round in ten errs, because a process has placed its code badly, a task is wrongly called slower once in 6,560 times
 * and wrongly called alike once in 82. The first stops somebody's work, and one of 190 tasks is enough for it.
 */
const LEAD = { slower: 4, alike: 2 } as const;

/**
 * Rounds after which a task is alike when most of them lie beyond the limit, but the fastest round of each revision
 * does not. A loop of some microseconds takes one time or another by half, as its process has placed it: a slower
 * revision is slower in its fastest round too.
 */
const MOST_ROUNDS = 12;

/** @param limit how much slower is too slow: 1.15 is 15 % */
export function verdictOf(rounds: readonly InTurn[], limit: number): Verdict {
  const lead = leadOf(rounds, limit);
  if (-lead >= LEAD.alike) return 'alike';
  if (lead < LEAD.slower) return 'unsure';
  if (fastestRatio(rounds) > limit) return 'slower';
  return rounds.length < MOST_ROUNDS ? 'unsure' : 'alike';
}

/** How many more of the rounds are beyond the limit than within it. */
const leadOf = (rounds: readonly InTurn[], limit: number): number =>
  2 * rounds.filter(({ ratio }) => ratio > limit).length - rounds.length;

/** The ratio of the fastest rounds of both revisions. */
const fastestRatio = (rounds: readonly InTurn[]): number =>
  Math.min(...rounds.map(({ after }) => after)) / Math.min(...rounds.map(({ before }) => before));

/**
 * Measures the tasks of every suite whose verdict is open, again and again until none is. A task that looks slower is
 * measured again before anything else, so that a slowdown is known before time runs out.
 *
 * @param isOver whether time has run out
 * @returns the tasks that were measured, the slowest beside the other revision first
 */
export async function compareSuites(
  suites: readonly string[],
  limit: number,
  measureSuite: MeasureSuite,
  isOver: () => boolean = () => false,
): Promise<Compared[]> {
  const found = new Map<string, Round[]>();
  const roundsOf = (task: string): readonly Round[] => found.get(task) ?? [];
  const isOpen = (task: string): boolean => verdictOf(roundsOf(task), limit) === 'unsure';
  const looksSlower = (task: string): boolean => isOpen(task) && leadOf(roundsOf(task), limit) > 0;
  const measure = async (suite: string, isWanted: (task: string) => boolean): Promise<void> => {
    for await (const each of measureSuite(suite, isWanted)) found.set(each.task, [...roundsOf(each.task), each]);
  };
  const has = (suite: string, isWanted: (task: string) => boolean): boolean =>
    [...found.keys()].some((task) => task.startsWith(`${suite}/`) && isWanted(task));
  for (let open = suites; open.length > 0 && !isOver(); open = open.filter((suite) => has(suite, isOpen)))
    for (const suite of open) {
      await measure(suite, isOpen);
      while (has(suite, looksSlower) && !isOver()) await measure(suite, looksSlower);
    }
  return [...found]
    .map(([task, rounds]) => ({
      task,
      before: median(rounds.map(({ before }) => before)),
      after: median(rounds.map(({ after }) => after)),
      ratio: median(rounds.map(({ ratio }) => ratio)),
      cost: median(rounds.map(({ cost }) => cost)),
      ratios: rounds.map(({ ratio }) => ratio),
      verdict: verdictOf(rounds, limit),
    }))
    .toSorted((a, b) => b.ratio - a.ratio);
}
