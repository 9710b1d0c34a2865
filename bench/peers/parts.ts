// The rows of bench:peers: each task of ours beside the peer's, in rounds that each have processes of their own.
import { join } from 'node:path';
import { ONE_THREAD } from '../bothSides.ts';
import { measureInTurn, median, type InTurn, type Side } from '../inTurn.ts';
import { LineProcess } from './lineProcess.ts';
import type { BacktestingPy, Row } from './peerTable.ts';

export const PARTS = ['kernels', 'patterns', 'whole', 'portfolios'] as const;
export type Part = (typeof PARTS)[number];

interface Peer {
  readonly peer: string;
  /** Of our time in relation to the peer's. */
  readonly goal: number;
}
const PEERS: Readonly<Record<Exclude<Part, 'portfolios'>, Peer>> = {
  kernels: { peer: 'TA-Lib', goal: 1.5 },
  patterns: { peer: 'TA-Lib', goal: 1 },
  whole: { peer: 'vectorbt-rust', goal: 0.45 },
};
interface Portfolio extends Peer {
  /** Of the suite `portfolio`. */
  readonly case: string;
  readonly feeRate: number;
  /** Of a run of the peer, which is therefore measured once per round. */
  readonly takesSeconds?: true;
}
export const PORTFOLIOS = {
  'ten slots by rank': {
    peer: 'vectorbt-rust',
    goal: 0.6,
    case: 'crossing averages, ten slots by rank',
    feeRate: 0.0001,
  },
  // bt takes fees out of the money of a purchase; ours counts them apart. Part of bt's loop is Python.
  'monthly rotation': {
    peer: 'bt',
    goal: 0.2,
    case: 'monthly tenth by return of a year, inverse volatility',
    feeRate: 0,
    takesSeconds: true,
  },
} as const satisfies Readonly<Record<string, Portfolio>>;
export type PortfolioName = keyof typeof PORTFOLIOS;

const peerOf = (part: Part, task: string): Peer & Partial<Portfolio> =>
  part === 'portfolios' ? PORTFOLIOS[task as PortfolioName] : PEERS[part];

/** The tasks of a process of ours, and the bars of a run where they are not those of the command line. */
export type Offer = Readonly<Partial<Record<Part, readonly string[]>>> & {
  readonly bars?: Readonly<Record<string, number>>;
};

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
  let bars: Readonly<Record<string, number>> = {};
  const found = new Map<string, InTurn[]>();
  for (let round = 1; round <= options.rounds; round++) {
    await using ours = await startOurs(part, options);
    const offer = await ours.read<Offer>();
    const tasks = offer[part]!;
    bars = offer.bars ?? {};
    await using peer = await startPeer(options);
    if (round === 1) checked = await checkAll(tasks, ours, peer);
    if (round === 1 && part === 'whole') backtestingPy = await peer.ask<BacktestingPy>('backtesting.py');
    for (const task of tasks) {
      const measure = peerOf(part, task).takesSeconds ? measureOnce : measureInTurn;
      const inTurn = await measure(task, sideOf(tasks, peer), sideOf(tasks, ours));
      found.set(task, [...(found.get(task) ?? []), inTurn]);
      console.error(`${part}, round ${round} of ${options.rounds}: ${task} ${inTurn.ratio.toFixed(2)}`);
    }
  }
  const rows = checked.map(({ task, agreement }) => ({
    name: `${task} (${peerOf(part, task).peer})`,
    agreement,
    goal: peerOf(part, task).goal,
    bars: bars[task],
    rounds: found.get(task)!,
  }));
  const errors = checked.flatMap(({ task, errors }) => (errors === undefined ? [] : [{ task, ...errors }]));
  return { rows, errors, backtestingPy };
}

/** Fewer have too few months for a rotation, and the suites a shorter size for that. */
const LEAST_OF_PORTFOLIOS = 100_000;

function startOurs(part: Part, { folder, bars, signal }: PeersOptions): Promise<LineProcess> {
  const size = bars < LEAST_OF_PORTFOLIOS ? ['--short'] : [];
  const script = part === 'portfolios' ? ['portfolioSide.ts', folder, ...size] : ['side.ts', folder, String(bars)];
  const [file, ...args] = script;
  const command = [process.execPath, ...ONE_THREAD, join(import.meta.dirname, file), ...args];
  return LineProcess.start(command, 'Our side', signal);
}

/** Of ours, where the peer is measured once: V8 has compiled what a run needs after the first. */
const RUNS_BESIDE_ONE = { warmUp: 5, measured: 7 };

async function measureOnce(task: string, before: Side, after: Side): Promise<InTurn> {
  for (let run = 0; run < RUNS_BESIDE_ONE.warmUp; run++) await after.run(task, 1);
  const theirs = await before.run(task, 1);
  const ours: number[] = [];
  while (ours.length < RUNS_BESIDE_ONE.measured) ours.push(await after.run(task, 1));
  return { before: theirs, after: median(ours), ratio: median(ours) / theirs };
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
