// Warming up: a new thread of heavy requests answers sample batches while nobody asks it anything, so that the first
// real ones find compiled code. Nothing is stored, since the version that the batches name does not exist.
import type { NewHeavyRequest } from '../http/heavyMessages.ts';
import { BACKTESTS } from './backtestBodies.ts';
import { BACKTEST_EXAMPLES } from './backtestExamples.ts';

const BATCHES = 15;
/** A request that arrives during a batch gets a turn every five milliseconds, and no other batch follows. */
const BATCH_ITEMS = 100;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const CALLER: NewHeavyRequest['caller'] = {
  workspaceId: NOBODY,
  keyId: '',
  apiKeyId: NOBODY,
  name: 'warm-up',
  role: 'member',
  scopes: new Set(['backtests_write']),
  tier: 'pro',
  expiresAt: null,
};

/** Every third item runs on the whole series. */
function sampleItem(index: number): object {
  const [{ config }] = BACKTEST_EXAMPLES;
  const range = index % 3 === 0 ? { range: { start: null, end: null } } : {};
  return { strategyVersionId: NOBODY, config: { ...config, ...range, params: { fast: 2 + (index % 50) } } };
}

/** Has sample batches answered by `ask` for as long as `isIdle`. */
export async function warmUpBatches(
  ask: (request: NewHeavyRequest) => Promise<unknown>,
  isIdle: () => boolean,
): Promise<void> {
  const url = `${BACKTESTS}/batch`;
  const headers = { 'content-type': 'application/json' };
  for (let batch = 0; batch < BATCHES && isIdle(); batch++) {
    const items = Array.from({ length: BATCH_ITEMS }, (_, index) => sampleItem(batch * BATCH_ITEMS + index));
    const body = Buffer.from(JSON.stringify({ items }));
    await ask({ method: 'POST', route: url, url, headers, caller: CALLER, member: null, body });
  }
}
