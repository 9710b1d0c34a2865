// The attacks with what computes for long: sweeps, robustness checks, and the per-bar files of a long series.
import { setTimeout as sleep } from 'node:timers/promises';
import { CROSSING } from '../support/sweeps.ts';
import { astOf, CONFIG, condition, readyVersion, type Attack, type Send } from './attack.ts';

/** Small backtests are told apart by their balance. */
let balance = 100_000;
const levels = (max: number) => ({ min: 1, max });

/** Starts sweeps of a space, one after the other is accepted, and follows each to its end. */
const sweepsOf =
  (tenant: 'free' | 'pro', more: object): Attack['prepare'] =>
  async (send, target) => {
    const { key } = target[tenant];
    const strategyVersionId = await readyVersion(send, key, CROSSING);
    return async () => {
      const config = { ...CONFIG, initialBalance: balance++ };
      const made = await send('/public/v1/sweeps', { key, body: { strategyVersionId, config, ...more } });
      const { id } = JSON.parse(made.text) as { id?: string };
      await followed(send, key, id && `/public/v1/sweeps/${id}`);
    };
  };

/** Checks the robustness of one backtest after another, in every way. */
const checksOf =
  (tenant: 'free' | 'pro', samples: number): Attack['prepare'] =>
  async (send, target) => {
    const { key } = target[tenant];
    const strategyVersionId = await readyVersion(send, key, CROSSING);
    return async () => {
      const signalInstrument = { symbol: 'EURUSD' };
      const config = { ...CONFIG, signalInstrument, timeframe: '1h', initialBalance: balance++ };
      const made = await send('/public/v1/backtests', { key, body: { strategyVersionId, config } });
      const { id } = JSON.parse(made.text) as { id?: string };
      if (id === undefined) return sleep(500);
      const path = `/public/v1/backtests/${id}`;
      await followed(send, key, path);
      const check = await send(`${path}/robustness`, { key, body: { samples } });
      const { id: checkId } = JSON.parse(check.text) as { id?: string };
      await followed(send, key, checkId && `${path}/robustness/${checkId}`);
      await send(`${path}/robustness/${checkId}/report`, { key });
    };
  };

/** Waits for the end of what it is told of; a refusal has none, and is not repeated at once. */
async function followed(send: Send, key: string, path: string | undefined): Promise<void> {
  if (path === undefined) return sleep(500);
  for (;;) {
    const { status, text } = await send(`${path}?wait=5`, { key });
    if (status !== 200 || !/"status":"(?:queued|running)"/.test(text)) return;
  }
}

/** Every per-bar file of a long series, again and again. */
const longArtifacts =
  (tenant: 'free' | 'pro'): Attack['prepare'] =>
  async (send, target) => {
    const { key } = target[tenant];
    const strategyVersionId = await readyVersion(send, key, astOf([condition(20)]));
    const config = { ...CONFIG, signalInstrument: { symbol: 'EURUSD' }, timeframe: '1h' };
    const made = await send('/public/v1/backtests', { key, body: { strategyVersionId, config } });
    const { id } = JSON.parse(made.text) as { id: string };
    await followed(send, key, `/public/v1/backtests/${id}`);
    const files = ['report?format=html', 'equity?format=csv', 'signals?format=json', 'orders?format=csv'];
    let turn = 0;
    return () => send(`/public/v1/backtests/${id}/artifacts/${files[turn++ % files.length]}`, { key });
  };

const LARGE_SPACE = { fast: levels(100), slow: levels(200) };
const RARE = [
  { left: 'fast', op: 'gt', right: 'slow' },
  { left: 'slow', op: 'gt', right: 196 },
];
export const SWEEP_ATTACKS: readonly Attack[] = [
  { name: 'grids of 20,000 variants', parallel: 2, prepare: sweepsOf('pro', { method: 'grid', space: LARGE_SPACE }) },
  {
    name: 'sweeps under rare constraints',
    parallel: 1,
    prepare: sweepsOf('pro', {
      method: 'latin_hypercube',
      budget: 20_000,
      space: { fast: levels(200), slow: levels(200) },
      constraints: RARE,
    }),
  },
  {
    name: 'sweeps of a free key',
    parallel: 2,
    prepare: sweepsOf('free', { method: 'grid', space: { fast: levels(10), slow: levels(20) } }),
  },
  { name: 'robustness checks of a pro key', parallel: 1, prepare: checksOf('pro', 1_000) },
  { name: 'robustness checks of a free key', parallel: 1, prepare: checksOf('free', 40) },
  { name: 'artifacts of a long series, pro', parallel: 2, prepare: longArtifacts('pro') },
  { name: 'artifacts of a long series, free', parallel: 2, prepare: longArtifacts('free') },
];
