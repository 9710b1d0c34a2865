// Thousands of small backtests from four clients: sent in batches, awaited, and read again.
import { pairOf, PAIRS } from './sweep.ts';
import type { Call } from './server.ts';

export const CLIENTS = 4;
export const BATCH = 500;
/** 2,148 daily bars. */
export const SYMBOL = 'GOOG';
const POLL_MS = 20;

/** A ready version of the crossing of two averages. */
export async function makeVersion(call: Call): Promise<string> {
  const payload = { settings: {}, strategyAst: PAIRS };
  const { id } = await call<{ id: string }>('POST', '/strategies', { name: 'SMA', description: '', ...payload });
  return (await call<{ id: string }>('POST', `/strategies/${id}/versions/finalize`, payload)).id;
}

/** No two alike: a copy of a stored result would cost next to nothing. */
export const configOf = (index: number): object => ({
  timeframe: '1d',
  signalInstrument: { symbol: SYMBOL },
  initialBalance: 10_000 + Math.floor(index / 5_000),
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [{ minCumulativeNotional: 0, makerRate: 0.0001, takerRate: 0.0001 }],
    },
    slippage: { kind: 'none' },
  },
  params: pairOf(index),
});

interface Load {
  /** Whether a client waits for its batch before it sends the next, so that the queue stays short; default false. */
  readonly isSteady?: boolean;
}

/** Four clients send batches at the same time; resolves when every backtest has ended. */
export async function runAll(
  call: Call,
  versionId: string,
  first: number,
  runs: number,
  { isSteady = false }: Load = {},
): Promise<string[]> {
  const ids: string[] = [];
  let next = first;
  const send = async (): Promise<void> => {
    while (next < first + runs) {
      const from = next;
      next = Math.min(next + BATCH, first + runs);
      const items = Array.from({ length: next - from }, (_, index) => ({
        strategyVersionId: versionId,
        config: configOf(from + index),
      }));
      const { data, refused } = await call<{ data: { id: string }[]; refused: number }>('POST', '/backtests/batch', {
        items,
      });
      if (refused > 0) throw new Error(`${refused} of a batch were refused`);
      ids.push(...data.map(({ id }) => id));
      if (isSteady) await waitFor(call, data.at(-1)!.id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, send));
  await Promise.all(ids.filter((_, index) => index % BATCH === BATCH - 1).map((id) => waitFor(call, id)));
  for (const status of ['queued', 'running']) while ((await total(call, status)) > 0) await pause();
  return ids;
}

async function waitFor(call: Call, id: string): Promise<void> {
  for (;;) {
    const { status } = await call<{ status: string }>('GET', `/backtests/${id}?wait=60&view=agent`);
    if (status !== 'queued' && status !== 'running') return;
  }
}

const total = async (call: Call, status: string): Promise<number> =>
  (await call<{ pagination: { total: number } }>('GET', `/backtests?status=${status}&limit=1`)).pagination.total;
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, POLL_MS));

/** From the first backtest that was accepted after an instant to the last one that ended. */
export async function secondsSince(call: Call, since: string): Promise<number> {
  const instantOf = async (name: 'createdAt' | 'finishedAt', sort: string): Promise<number> => {
    const path = `/backtests?limit=1&sort=${sort}&createdAfter=${encodeURIComponent(since)}`;
    const { data } = await call<{ data: Record<string, string>[] }>('GET', path);
    return Date.parse(data[0][name]);
  };
  const ended = await instantOf('finishedAt', '-finishedAt');
  return (ended - (await instantOf('createdAt', 'createdAt'))) / 1_000;
}

/** Every result is read again: a run that was fast because it stored less must not pass. */
export async function requireComplete(call: Call, ids: readonly string[]): Promise<void> {
  const open = [...ids];
  const read = async (): Promise<void> => {
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const { status, result } = await call<{
        status: string;
        result: { summaryJson: Record<string, unknown> } | null;
      }>('GET', `/backtests/${id}`);
      const summary = result?.summaryJson;
      const parts = ['strategyTrace', 'ruleStatsSummary', 'equityPreview', 'returnPct', 'totalPositions'];
      const absent = parts.filter((part) => summary?.[part] === undefined);
      if (status !== 'completed' || absent.length > 0)
        throw new Error(`The backtest ${id} is ${status} and lacks ${absent.join(', ') || 'nothing'}.`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, read));
  const sample = ids.filter((_, index) => index % 100 === 0);
  for (const id of sample) {
    const trades = await call<object[]>('GET', `/backtests/${id}/artifacts/trades`);
    const { result } = await call<{ result: { summaryJson: { totalPositions: number } } }>('GET', `/backtests/${id}`);
    if (trades.length < result.summaryJson.totalPositions) throw new Error(`The backtest ${id} lacks trades.`);
  }
}
