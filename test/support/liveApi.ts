// The HTTP service with a worker that runs the real engine on the shipped data, and the way from a strategy to a
// result.
import { EXAMPLE_STRATEGY_AST } from '../../src/api/strategies/strategyExamples.ts';
import { createApiApp, type ApiApp, type Client, type Reply } from './apiApp.ts';
import { startApiWorker } from './apiWorker.ts';

export const SPX_CONFIG = {
  timeframe: '1d',
  signalInstrument: { symbol: 'SPX' },
  initialBalance: 10_000,
  execution: {
    feeModel: { kind: 'tiered_maker_taker', tiers: [{ minCumulativeNotional: 0, makerRate: 0.001, takerRate: 0.001 }] },
    slippage: { kind: 'none' },
  },
};

export interface LiveApi extends AsyncDisposable {
  readonly api: ApiApp;
  readonly client: Client;
  /** A ready version of that payload (default: the golden cross), as finalize answers it. */
  readonly finalize: (payload?: object) => Promise<Reply>;
  /** Its backtest on SPX, once it is terminal. */
  readonly run: (payload?: object, config?: object) => Promise<Reply>;
}

export async function createLiveApi(): Promise<LiveApi> {
  const api = await createApiApp();
  const worker = await startApiWorker(api.services);
  const client = await api.client();
  let made = 0;
  const finalize = async (payload: object = { strategyAst: EXAMPLE_STRATEGY_AST, settings: {} }): Promise<Reply> => {
    const created = await client.post('/strategies', { name: `Strategy ${++made}`, settings: {}, ...payload });
    if (created.status !== 201) throw new Error(`The strategy was refused: ${created.text}`);
    return client.post(`/strategies/${created.body.id}/versions/finalize`, { version: 1, ignoreWarnings: true });
  };
  return {
    api,
    client,
    finalize,
    run: async (payload, config = {}) => {
      const { body } = await finalize(payload);
      const queued = await client.post('/backtests', {
        strategyVersionId: body.id,
        config: { ...SPX_CONFIG, ...config },
      });
      if (queued.status !== 201) throw new Error(`The backtest was refused: ${queued.text}`);
      return client.get(`/backtests/${queued.body.id}?wait=60`);
    },
    [Symbol.asyncDispose]: async () => {
      await worker[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}
