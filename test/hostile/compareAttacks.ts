// The attacks on comparisons: as many backtests and trades as a request may name, and daily equity that has to be made
// again for each of them.
import { CONFIG, readyVersion, type Attack, type Send } from './attack.ts';

const BACKTESTS = '/public/v1/backtests';
/** A comparison takes ten. */
const MOST = 10;

/** In and out on every second bar: as many trades as bars can give. */
const BUSY_AST = {
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: {
        kind: 'compare',
        op: 'gt',
        left: { kind: 'market', field: 'close' },
        right: { kind: 'const', value: 0 },
      },
      action: { side: 'long', sizing: { mode: 'percent_equity', value: 10 } },
    },
    exits: [
      {
        kind: 'exit',
        when: {
          kind: 'compare',
          op: 'gt',
          left: { kind: 'market', field: 'close' },
          right: { kind: 'const', value: 0 },
        },
      },
    ],
  },
};

/** The ids of completed backtests on hours of EURUSD, each with another balance, so that none is taken from a cache. */
async function busyBacktests(send: Send, key: string): Promise<string[]> {
  const strategyVersionId = await readyVersion(send, key, BUSY_AST);
  const config = { ...CONFIG, signalInstrument: { symbol: 'EURUSD' }, timeframe: '1h' };
  const ids: string[] = [];
  for (let count = 0; count < MOST; count++) {
    const body = { strategyVersionId, config: { ...config, initialBalance: 10_000 + count } };
    const made = await send(BACKTESTS, { key, body });
    ids.push((JSON.parse(made.text) as { id: string }).id);
  }
  for (const id of ids) await send(`${BACKTESTS}/${id}?wait=60`, { key });
  return ids;
}

export const COMPARE_ATTACKS: readonly Attack[] = [
  {
    name: 'comparisons and combinations of ten backtests with thousands of trades, from a viewer key',
    parallel: 4,
    prepare: async (send, { free }) => {
      const backtestIds = await busyBacktests(send, free.key);
      const backtests = backtestIds.map((backtestId) => ({ backtestId, weight: 1 }));
      const compared = Buffer.from(JSON.stringify({ backtestIds, tradeRows: 100, equityPoints: 2_000, wait: 5 }));
      const combined = { backtests, normalize: true, rebalance: 'daily', equityPoints: 2_000, wait: 5 };
      const calls = [
        () => send(`${BACKTESTS}/compare`, { key: free.viewerKey, body: compared }),
        () => send(`${BACKTESTS}/combine`, { key: free.viewerKey, body: combined }),
      ];
      let turn = 0;
      return () => calls[turn++ % calls.length]();
    },
  },
  {
    name: 'comparisons of backtests of others, of none, and of lists without end',
    parallel: 2,
    prepare: async (send, { free, pro }) => {
      const { key } = pro;
      const strategyVersionId = await readyVersion(send, free.key, BUSY_AST);
      const made = await send(BACKTESTS, { key: free.key, body: { strategyVersionId, config: CONFIG } });
      const { id } = JSON.parse(made.text) as { id: string };
      const ids = Array.from({ length: 9_000 }, (_, at) => `019f4a52-7c1e-7d3a-9b60-${String(at).padStart(12, '0')}`);
      const bodies = [
        { backtestIds: [id, ids[0]] },
        { backtestIds: ids },
        { backtestIds: ids.slice(0, MOST), metrics: Array.from({ length: 5_000 }, () => 'returnPct') },
        { backtestIds: Array.from({ length: MOST }, () => ids[0]) },
        { backtests: ids.map((backtestId) => ({ backtestId, weight: 1e308 })) },
        { backtests: [{ backtestId: id, weight: 1 }], riskFreeRatePerYear: 1e308 },
      ].map((body) => Buffer.from(JSON.stringify(body)));
      let turn = 0;
      return () => {
        const body = bodies[turn++ % bodies.length];
        return send(`${BACKTESTS}/${turn % 3 === 0 ? 'combine' : 'compare'}`, { key, body });
      };
    },
  },
];
