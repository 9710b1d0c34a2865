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
import type { ArtifactRequest, BacktestOutcome } from '../../src/engine/pool/messages.ts';
import { openShippedData } from '../../src/market/shipped.ts';

const CONTROL = { isCancelled: () => false, report: () => {} };
export const HOSTILE_ID = '</script><script>document.body.dataset.broken="yes"</script>';

const sma = (id: string, length: number) => ({ id, kind: 'indicator', indicator: 'sma', args: { length } });
const cross = (op: string, id: string) => ({ id, kind: 'cross', op, left: sma('fast', 10), right: sma('slow', 30) });
export const CROSS_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: cross('cross_up', HOSTILE_ID),
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 50 } },
    },
    exits: [{ kind: 'exit', when: cross('cross_down', 'death') }],
    risk: { stopLoss: { mode: 'percent', value: 3 } },
  },
} as unknown as StrategyAst;

export interface CrossRun {
  readonly task: BacktestTask;
  readonly market: Market;
  readonly outcome: BacktestOutcome & { readonly ok: true };
  artifact(request: ArtifactRequest): Uint8Array;
}

export async function runCross(): Promise<CrossRun> {
  const catalogue = await openShippedData();
  const market = createMarket(await catalogue.snapshots('SPX', '1d'), 'SPX', '1d');
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
    const made = buildArtifact(task, market, CONTROL, request);
    if (!made.ok) throw new Error(made.error.message);
    if (made.resultHash !== outcome.reproducibility.resultHash) throw new Error('The artifact is of another result.');
    return made.bytes;
  };
  return { task, market, outcome, artifact };
}
