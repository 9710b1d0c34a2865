// Which tasks of one checkout are slower than those of another, by rounds that measured both in turn.
import { median, type InTurn } from './inTurn.ts';

/** `unsure`: the rounds disagree, or time ran out. */
export type Verdict = 'alike' | 'slower' | 'unsure';

/** A task in one round, whose processes are started for it. */
export interface Round extends InTurn {
  readonly task: string;
}

export interface Compared extends InTurn {
  readonly task: string;
  /** The ratio of each round. */
  readonly ratios: readonly number[];
  readonly verdict: Verdict;
}

/** A round of those tasks of a suite whose verdict is open; ends early when time runs out. */
export type MeasureSuite = (suite: string, round: number, isOpen: (task: string) => boolean) => AsyncIterable<Round>;

/**
 * How many more rounds must lie on one side of the limit than on the other (Wald's sequential test of signs). Where one
 * round in ten errs, because a process has placed its code badly, a task is wrongly called slower once in 730 times and
 * wrongly called alike once in 82. The first stops somebody's work, and one of many tasks is enough for it.
 */
const LEAD = { slower: 3, alike: 2 } as const;

/** @param limit how much slower is too slow: 1.15 is 15 % */
export function verdictOf(ratios: readonly number[], limit: number): Verdict {
  const beyond = ratios.filter((ratio) => ratio > limit).length;
  const within = ratios.length - beyond;
  return beyond - within >= LEAD.slower ? 'slower' : within - beyond >= LEAD.alike ? 'alike' : 'unsure';
}

/**
 * Measures every suite again and again, those tasks of it whose verdict is open, until none is.
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
  const ratiosOf = (task: string): number[] => (found.get(task) ?? []).map(({ ratio }) => ratio);
  const isOpen = (task: string): boolean => verdictOf(ratiosOf(task), limit) === 'unsure';
  const isUnfinished = (suite: string): boolean =>
    [...found.keys()].some((task) => task.startsWith(`${suite}/`) && isOpen(task));
  let open = suites;
  for (let round = 0; open.length > 0 && !isOver(); round++) {
    for (const suite of open)
      for await (const each of measureSuite(suite, round, isOpen))
        found.set(each.task, [...(found.get(each.task) ?? []), each]);
    open = open.filter(isUnfinished);
  }
  return [...found]
    .map(([task, rounds]) => ({
      task,
      before: median(rounds.map(({ before }) => before)),
      after: median(rounds.map(({ after }) => after)),
      ratio: median(ratiosOf(task)),
      ratios: ratiosOf(task),
      verdict: verdictOf(ratiosOf(task), limit),
    }))
    .toSorted((a, b) => b.ratio - a.ratio);
}
