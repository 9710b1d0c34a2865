// Small backtests of three kinds, as a batch has them: what a thread is warmed up for, timed by bench/warmUp.ts and
// counted by test/engine/pool/compiledCode.test.ts.
import type { BacktestTask } from '../src/engine/task.ts';
import { PAYLOADS, PEER_PAYLOADS, taskFrom } from './crossing.ts';
import { PAIRS, pairConfig } from './sweep.ts';

export const SMALL_RUN_BARS = 2_148;

/** Of each kind, the task of a run; no two are alike. */
export const SMALL_RUNS: Readonly<Record<string, () => (index: number) => BacktestTask>> = {
  'pairs of averages': () => {
    const pairs = taskFrom('pairs', PAIRS);
    return (index) => ({
      ...pairs,
      config: {
        ...pairConfig(0.0001),
        initialBalance: 10_000 + index,
        params: { fast: 2 + (index % 50), slow: 60 + (Math.floor(index / 50) % 100) },
      },
    });
  },
  'stop and target': () => variantsOf(PEER_PAYLOADS['SMA 10-30, stop and target']),
  'indicators, pattern, trailing stop': () => variantsOf(PAYLOADS['EMA RSI ADX pattern, stop, target, trailing']),
};

function variantsOf(payload: object): (index: number) => BacktestTask {
  const task = taskFrom('variants', payload);
  return (index) => ({ ...task, config: { ...task.config, initialBalance: 10_000 + index } });
}
