// Which tasks of one checkout are slower than those of another, by what processes of both have measured in turn.
import type { Measure } from './measure.ts';
import { hasCore } from './pace.ts';

/** What the processes of one checkout have measured, by task. */
export type Processes = Map<string, Measured[]>;
export type Measured = Pick<Measure, 'task' | 'ns' | 'alone'>;
/** `unsure`: the machine was never quiet enough to tell, processes differ too much, or time ran out. */
export type Verdict = 'alike' | 'slower' | 'unsure';
export interface Compared {
  readonly task: string;
  /** Nanoseconds per unit. */
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
  readonly verdict: Verdict;
}

/** One process of each checkout for each of the suites; a task's name begins with its suite's. */
export type MeasureBoth = (
  suites: readonly string[],
  round: number,
  before: Processes,
  after: Processes,
) => Promise<void>;

/** Two processes whose best rounds are so close agree. */
const CLOSE = 1.05;
/** Of the rounds of a process, so many must have had the core for themselves. */
const ENOUGH_ROUNDS = 5;

/**
 * Noise only ever adds time, so the best rounds are compared, the best that two processes of a revision agree on, in
 * relation to the pace of the processor, of which the clock is part. A task passes as soon as it is within the limit.
 * Until then its suite is measured again and again: the task is slower when it still is beyond the limit after the last
 * round. When time runs out before the last round, that is not known.
 *
 * @param limit how much slower is too slow: 1.15 is 15 %
 * @param least how many rounds every suite gets
 * @param most how many rounds a suite gets whose tasks do not pass
 * @param isOver whether time has run out
 */
export async function compareSuites(
  suites: readonly string[],
  limit: number,
  least: number,
  most: number,
  measureBoth: MeasureBoth,
  isOver: () => boolean = () => false,
): Promise<Compared[]> {
  const [before, after] = [new Map<string, Measured[]>(), new Map<string, Measured[]>()];
  let all: Compared[] = [];
  let open = suites;
  for (let round = 0; round < most && open.length > 0; round++) {
    await measureBoth(open, round, before, after);
    all = comparedBy(limit, before, after);
    if (isOver()) return all.map((one) => (one.verdict === 'slower' ? { ...one, verdict: 'unsure' } : one));
    if (round + 1 < least) continue;
    open = open.filter((suite) => all.some(({ task, verdict }) => verdict !== 'alike' && task.startsWith(`${suite}/`)));
  }
  return all;
}

/** The tasks that both have, the slowest beside the other first. */
function comparedBy(limit: number, before: Processes, after: Processes): Compared[] {
  const floor = Math.min(...[...before.values(), ...after.values()].flat().map(({ alone }) => alone?.pace ?? Infinity));
  return [...after]
    .filter(([task]) => before.has(task))
    .map(([task, later]) => {
      const both = [before.get(task)!, later];
      const [was, is] = both.flat().every(isPaced)
        ? both.map((each) => atPace(each, floor))
        : both.map((each) => knownOf(each.map(({ ns }) => ns)));
      const ratio = is.best / was.best;
      const isSure = was.isConfirmed && is.isConfirmed;
      const verdict: Verdict = !isSure ? 'unsure' : ratio > limit ? 'slower' : 'alike';
      return { task, before: was.best, after: is.best, ratio, verdict };
    })
    .toSorted((a, b) => b.ratio - a.ratio);
}

type Paced = Measured & Required<Pick<Measured, 'alone'>>;
/** Revisions from before bench/pace.ts do not know their pace. */
const isPaced = (one: Measured): one is Paced => one.alone !== undefined;

/** Of the processes that had a core for themselves, as it would be at the fastest clock of all. */
function atPace(processes: readonly Measured[], floor: number): Known {
  const paced = processes.filter(isPaced);
  const quiet = paced.filter(({ alone }) => alone.rounds >= ENOUGH_ROUNDS && hasCore(alone.pace, floor));
  const timesOf = (some: readonly Paced[]): number[] => some.map(({ ns, alone }) => (ns * floor) / alone.pace);
  return quiet.length > 0 ? knownOf(timesOf(quiet)) : { best: Math.min(...timesOf(paced)), isConfirmed: false };
}

interface Known {
  readonly best: number;
  /** Whether a second process comes close to it. */
  readonly isConfirmed: boolean;
}

/** The best that two processes agree on; the best of all when no two do. */
function knownOf(times: readonly number[]): Known {
  const sorted = times.toSorted((a, b) => a - b);
  const agreed = sorted.find((time, index) => sorted[index + 1] <= CLOSE * time);
  return { best: agreed ?? sorted[0], isConfirmed: agreed !== undefined };
}

export function add(processes: Processes, measures: readonly Measured[]): void {
  for (const one of measures) processes.set(one.task, [...(processes.get(one.task) ?? []), one]);
}
