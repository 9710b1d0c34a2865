// Rotations as bt runs them (test/golden/rotations.py), and how far the equity and the weights of ours lie from them.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { simulateTask } from '../../src/engine/backtest.ts';
import { createUniverse } from '../../src/engine/index.ts';
import { flatFee } from '../engine/simulate/input.ts';
import { astOf, market, type Json } from './builders.ts';
import { snapshotsOf, type PeerUniverse } from './peerUniverses.ts';

export interface PeerRotation {
  /** The seed of a universe, or its symbols. */
  readonly universe: number | readonly string[];
  readonly mode: 'equal' | 'inverse';
  /** Of the volatility, in bars. */
  readonly period: number;
  readonly fee: number;
  /** By row of the axis, at its close. */
  readonly equity: readonly (readonly [row: number, value: number])[];
  readonly weights: readonly (readonly [row: number, weights: readonly number[]])[];
}
interface Golden {
  readonly seeded: readonly PeerRotation[];
  readonly own: readonly PeerRotation[];
  readonly shared: readonly PeerRotation[];
}

export const rotationsGolden = JSON.parse(
  gunzipSync(readFileSync('test/golden/rotations.json.gz')).toString('utf8'),
) as Golden;

function strategyOf({ mode, period }: PeerRotation): Json {
  const volatility = {
    kind: 'rolling',
    op: 'std',
    period,
    source: { kind: 'percent_change', bars: 1, source: market() },
  };
  return astOf({
    allocation: {
      kind: 'allocation',
      when: { kind: 'schedule', every: 'month', on: 'last' },
      long: {},
      ...(mode === 'inverse' && { weights: { mode, by: volatility } }),
    },
  });
}

/** The largest relative difference of any equity, and the largest difference of any weight. */
export function largestDifference(peer: PeerRotation, universe: PeerUniverse): number {
  const symbols = universe.instruments.map(({ symbol }) => symbol);
  const task = {
    id: 'rotation',
    strategyAst: strategyOf(peer),
    settings: {},
    config: {
      timeframe: universe.timeframe,
      initialBalance: 10_000,
      instruments: symbols.map((symbol) => ({ symbol })),
      execution: { slippage: { kind: 'none' as const }, feeModel: flatFee(peer.fee) },
    },
    strategyHash: 'hash',
  };
  const bars = createUniverse(snapshotsOf(universe), symbols, universe.timeframe);
  const outcome = simulateTask(task, bars, null, false, true);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  const { input, portfolio } = outcome.report;
  const { equity, weights } = portfolio!.simulation;
  let largest = 0;
  const compare = (ours: number, theirs: number, scale: number): void => {
    // A missing number is infinitely far.
    const difference = Math.abs(ours - theirs) / scale;
    largest = Math.max(largest, Number.isNaN(difference) ? Infinity : difference);
  };
  // bt does not sell at the end of the run, where ours pays the fees of that.
  const compared = peer.equity.filter(([row]) => row < universe.axis.length - 1);
  for (const [row, theirs] of compared) compare(row < input.start ? 10_000 : equity[row - input.start], theirs, theirs);
  for (const [row, theirs] of peer.weights)
    theirs.forEach((weight, at) =>
      compare(row < input.start ? 0 : weights![(row - input.start) * symbols.length + at], weight, 1),
    );
  return largest;
}
