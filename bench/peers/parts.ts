// The rows of bench:peers: each task of ours beside the peer's, in rounds that each have processes of their own.
import { join } from 'node:path';
import { ONE_THREAD } from '../bothSides.ts';
import { measureInTurn, type InTurn, type Side } from '../inTurn.ts';
import { LineProcess } from './lineProcess.ts';
import type { BacktestingPy, Row } from './peerTable.ts';

export const PARTS = ['kernels', 'patterns', 'whole'] as const;
export type Part = (typeof PARTS)[number];

const PEER: Readonly<Record<Part, string>> = { kernels: 'TA-Lib', patterns: 'TA-Lib', whole: 'vectorbt-rust' };
/** Of our time in relation to the peer's. */
const GOAL: Readonly<Record<Part, number>> = { kernels: 1.5, patterns: 1, whole: 0.45 };

export interface PeersOptions {
  /** For the bars, values and trades that the two sides exchange. */
  readonly folder: string;
  /** The command of a Python that has the peers. */
  readonly python: string;
  readonly bars: number;
  readonly rounds: number;
  /** Ends the processes. */
  readonly signal: AbortSignal;
}

/** What peers.py says of a task before it is timed. */
interface Checked {
  readonly agreement: string;
  /** The largest error against long double. */
  readonly errors?: Errors;
  /** In place of the others. */
  readonly differs?: string;
}
export interface Errors {
  readonly peer: number;
  readonly ours: number;
}
interface CheckedTask extends Checked {
  readonly task: string;
}
export interface MeasuredPart {
  readonly rows: readonly Row[];
  /** Of kernels. */
  readonly errors: readonly (Errors & { readonly task: string })[];
  /** Beside whole backtests. */
  readonly backtestingPy?: BacktestingPy;
}

export const startPeer = ({ python, folder, signal }: PeersOptions): Promise<LineProcess> =>
  LineProcess.start([python, join(import.meta.dirname, 'peers.py'), folder], 'The Python of the peers', signal);

/** @throws Error when values or trades differ, or when a side cannot be run */
export async function measurePart(part: Part, options: PeersOptions): Promise<MeasuredPart> {
  let checked: readonly CheckedTask[] = [];
  let backtestingPy: BacktestingPy | undefined;
  const found = new Map<string, InTurn[]>();
  for (let round = 1; round <= options.rounds; round++) {
    await using ours = await LineProcess.start(
      [process.execPath, ...ONE_THREAD, join(import.meta.dirname, 'side.ts'), options.folder, String(options.bars)],
      'Our side',
      options.signal,
    );
    const { [part]: tasks } = await ours.read<Record<Part, string[]>>();
    await using peer = await startPeer(options);
    if (round === 1) checked = await checkAll(tasks, ours, peer);
    if (round === 1 && part === 'whole') backtestingPy = await peer.ask<BacktestingPy>('backtesting.py');
    for (const task of tasks) {
      const inTurn = await measureInTurn(task, sideOf(tasks, peer), sideOf(tasks, ours));
      found.set(task, [...(found.get(task) ?? []), inTurn]);
      console.error(`${part}, round ${round} of ${options.rounds}: ${task} ${inTurn.ratio.toFixed(2)}`);
    }
  }
  const rows = checked.map(({ task, agreement }) => ({
    name: `${task} (${PEER[part]})`,
    agreement,
    goal: GOAL[part],
    rounds: found.get(task)!,
  }));
  const errors = checked.flatMap(({ task, errors }) => (errors === undefined ? [] : [{ task, ...errors }]));
  return { rows, errors, backtestingPy };
}

async function checkAll(tasks: readonly string[], ours: LineProcess, peer: LineProcess): Promise<CheckedTask[]> {
  const all: CheckedTask[] = [];
  for (const task of tasks) {
    await ours.ask(`values ${task}`);
    const checked = await peer.ask<Checked>(`check ${task}`);
    if (checked.differs !== undefined) throw new Error(`${task}: ${checked.differs}. Times are not compared.`);
    all.push({ task, ...checked });
  }
  return all;
}

const sideOf = (tasks: readonly string[], process: LineProcess): Side => ({
  tasks,
  run: (task, calls) => process.ask<number>(`run ${calls} ${task}`),
});
