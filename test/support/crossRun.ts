// A run with named nodes, hostile ids among them, on a shipped series: what artifacts and the report are tested on.
import {
  createMarket,
  runBacktest,
  strategyHash,
  type BacktestTask,
  type Market,
  type StrategyAst,
} from '../../src/engine/index.ts';
import { buildArtifact } from '../../src/engine/pool/engineRunner.ts';
import type { CompletedRun } from '../../src/engine/report/simulatedRun.ts';
import type { ArtifactRequest } from '../../src/engine/task.ts';
import { shippedData } from './shippedData.ts';
import { astOf, cross, entry, exit, sma } from './builders.ts';

const CONTROL = { isCancelled: () => false, report: () => {} };
export const HOSTILE_ID = '</script><script>document.body.dataset.broken="yes"</script>';

const crossOf = (op: string, id: string) => cross(sma(10, { id: 'fast' }), op, sma(30, { id: 'slow' }), { id });
const CROSS_AST: StrategyAst = astOf({
  entry: entry(crossOf('cross_up', HOSTILE_ID)),
  exits: [exit(crossOf('cross_down', 'death'))],
  risk: { stopLoss: { mode: 'percent', value: 3 } },
});

export interface CrossRun {
  readonly task: BacktestTask;
  readonly market: Market;
  readonly outcome: CompletedRun;
  artifact(request: ArtifactRequest): Uint8Array;
}

export async function runCross(): Promise<CrossRun> {
  const catalog = await shippedData();
  const market = createMarket(await catalog.snapshots('SPX', '1d'), 'SPX', '1d');
  const task: BacktestTask = {
    id: 'cross',
    strategyAst: CROSS_AST,
    settings: {},
    strategyHash: strategyHash(CROSS_AST, {}),
    config: {
      timeframe: '1d',
      signalInstrument: { symbol: 'SPX' },
      initialBalance: 10_000,
      execution: {
        feeModel: {
          kind: 'tiered_maker_taker',
          tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.0005 }],
        },
        slippage: { kind: 'none' },
      },
    },
  };
  const outcome = runBacktest(task, market, CONTROL);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const artifact = (request: ArtifactRequest): Uint8Array => {
    const pieces: Uint8Array[] = [];
    const made = buildArtifact(task, market, CONTROL, request, (piece) => pieces.push(piece.slice()));
    if (!made.ok) throw new Error(made.error.message);
    if (made.resultHash !== outcome.reproducibility.resultHash) throw new Error('The artifact is of another result.');
    return Buffer.concat(pieces);
  };
  return { task, market, outcome, artifact };
}
