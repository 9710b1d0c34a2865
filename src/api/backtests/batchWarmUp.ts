// Warming up: a new thread of heavy requests answers sample batches while nobody asks it anything, so that the first
// real ones find compiled code (docs/performance.md). Nothing is stored, since the versions that the batches name do
// not exist. Their items are therefore also checked directly, against sample versions.
import type { StrategyVersion } from '../../db/strategyVersions.ts';
import type { Catalog } from '../../market/catalog.ts';
import type { Caller } from '../http/auth/keyCheck.ts';
import type { NewHeavyRequest } from '../http/heavyMessages.ts';
import { ProblemError } from '../http/problems.ts';
import { EXAMPLE_STRATEGY_AST } from '../strategies/strategyExamples.ts';
import { GOLDEN_CROSS } from '../templates/catalog.ts';
import { compiledAst } from '../templates/template.ts';
import { BacktestCheck } from './backtestChecks.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { BACKTEST_EXAMPLES } from './backtestExamples.ts';
import { checkItems } from './batchChecks.ts';

const BATCHES = 15;
/** A request that arrives during a batch gets a turn every five milliseconds, and no other batch follows. */
const BATCH_ITEMS = 100;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const CALLER: Caller = {
  workspaceId: NOBODY,
  keyId: '',
  apiKeyId: NOBODY,
  name: 'warm-up',
  role: 'member',
  scopes: new Set(['backtests_write']),
  tier: 'pro',
  expiresAt: null,
};

const average = (param: string) => ({ kind: 'indicator', indicator: 'sma', args: { length: { param } } });
const cross = (op: string) => ({ kind: 'cross', op, left: average('fast'), right: average('slow') });
/** Most batches vary the params of one strategy. */
const VARIED_AST = {
  ...EXAMPLE_STRATEGY_AST,
  strategy: {
    kind: 'strategy',
    defaults: { instrument: { symbol: 'SPX' }, timeframe: '1d' },
    params: [
      { name: 'fast', type: 'int', default: 10, min: 1, max: 100 },
      { name: 'slow', type: 'int', default: 50, min: 1, max: 300 },
    ],
    entry: {
      kind: 'entry',
      trigger: cross('cross_up'),
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 } },
    },
    exits: [{ kind: 'exit', when: cross('cross_down') }],
  },
};

const VERSIONS = [VARIED_AST, EXAMPLE_STRATEGY_AST, compiledAst(GOLDEN_CROSS)].map(versionOf);

function versionOf(strategyAst: object, index: number): StrategyVersion {
  return {
    id: `00000000-0000-4000-8000-00000000000${index + 1}`,
    strategyId: NOBODY,
    version: 1,
    status: 'ready',
    forkedFromVersionId: null,
    settings: {},
    strategyAst: { ...strategyAst },
    signalGraph: null,
    strategyHash: '0'.repeat(64),
    createdAt: new Date(0),
    readyAt: new Date(0),
  };
}

/** Every fifth item runs another strategy, and every third runs on the whole series. */
function sampleItem(index: number): object {
  const { id } = VERSIONS[index % 5 === 0 ? 1 + (index % 2) : 0];
  const [{ config }] = BACKTEST_EXAMPLES;
  return {
    strategyVersionId: id,
    config: {
      ...config,
      ...(index % 3 === 0 && { range: { start: null, end: null } }),
      ...(id === VERSIONS[0].id && { params: { fast: 2 + (index % 50), slow: 60 + Math.floor(index / 50) } }),
    },
  };
}

interface WarmUpParts {
  readonly catalog: Catalog;
  readonly ask: (request: NewHeavyRequest) => Promise<unknown>;
  readonly isIdle: () => boolean;
}

/**
 * Answers sample batches for as long as `isIdle`.
 * @returns how many backtests were checked without a fault
 */
export async function warmUpBatches({ catalog, ask, isIdle }: WarmUpParts): Promise<number> {
  let accepted = 0;
  const byId = new Map(VERSIONS.map((version) => [version.id, version]));
  for (let batch = 0; batch < BATCHES && isIdle(); batch++) {
    const items = Array.from({ length: BATCH_ITEMS }, (_, index) => sampleItem(batch * BATCH_ITEMS + index));
    const body = JSON.stringify({ items });
    const headers = { 'content-type': 'application/json' };
    const url = `${BACKTESTS}/batch`;
    await ask({
      method: 'POST',
      route: url,
      url,
      headers,
      caller: CALLER,
      member: null,
      body: Buffer.from(body),
    });
    const sent = JSON.parse(body) as { readonly items: readonly unknown[] };
    const checked = await checkItems(sent.items, byId, new BacktestCheck(catalog, CALLER));
    accepted += checked.filter((item) => !(item instanceof ProblemError)).length;
  }
  return accepted;
}
