// The table of bench:peers: the times of a peer and of ours, their ratio with its range, and whether that meets a goal.
import { median, type InTurn } from '../inTurn.ts';

/** backtesting.py on the first hundred thousand bars, once, since it takes seconds. */
export interface BacktestingPy {
  readonly agreement: string;
  /** Nanoseconds per bar. */
  readonly ns: number;
}

export interface Row {
  readonly name: string;
  /** How well values or trades agree. */
  readonly agreement: string;
  readonly goal: number;
  /** Of all instruments of a portfolio; undefined: those of the command line. */
  readonly bars?: number;
  /** One per round, whose processes are started for it: the peer is `before`, ours is `after`. */
  readonly rounds: readonly InTurn[];
}

/** `unsure`: some rounds meet the goal and others miss it. */
export type GoalVerdict = 'met' | 'missed' | 'unsure';

export function goalVerdict(ratios: readonly number[], goal: number): GoalVerdict {
  if (ratios.every((ratio) => ratio <= goal)) return 'met';
  return ratios.every((ratio) => ratio > goal) ? 'missed' : 'unsure';
}

export const ratiosOf = (rounds: readonly InTurn[]): number[] => rounds.map(({ ratio }) => ratio);

/** Of each round, the geometric mean of the rows' ratios. */
export function meanRatios(rows: readonly Row[]): number[] {
  return rows[0].rounds.map((_, round) => {
    const logs = rows.map(({ rounds }) => Math.log(rounds[round].ratio));
    return Math.exp(logs.reduce((sum, log) => sum + log) / logs.length);
  });
}

export const TABLE_HEAD = line('', 'agreement', ['peer', 'ours'], 'ratio', 'of each round', 'goal     (ns per bar)');

export function rowLine({ name, agreement, goal, rounds, bars }: Row, usualBars: number): string {
  const perBar = (microseconds: readonly number[]): string =>
    ((median(microseconds) * 1_000) / (bars ?? usualBars)).toFixed(2);
  const times = [perBar(rounds.map(({ before }) => before)), perBar(rounds.map(({ after }) => after))];
  return ratioLine(name, agreement, times, ratiosOf(rounds), goal);
}

export const backtestingPyLine = ({ agreement, ns }: BacktestingPy): string =>
  line('SMA 10-30 (backtesting.py, 1e5 bars, once)', agreement, [ns.toFixed(2)], '', '', '');

export function ratioLine(
  name: string,
  agreement: string,
  times: readonly string[],
  ratios: readonly number[],
  goal: number,
): string {
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const verdict = goalVerdict(ratios, goal);
  const mark = { met: '', missed: '  MISSED', unsure: '  UNSURE' }[verdict];
  return line(name, agreement, times, median(ratios).toFixed(2), range, `at most ${goal}${mark}`);
}

function line(
  name: string,
  agreement: string,
  times: readonly string[],
  ratio: string,
  range: string,
  goal: string,
): string {
  const [peer, ours] = [0, 1].map((side) => (times[side] ?? '').padStart(9));
  const cells = [name.padEnd(44), agreement.padEnd(22), peer, ours, ratio.padStart(7), '', range.padEnd(14), goal];
  return cells.join(' ').trimEnd();
}
