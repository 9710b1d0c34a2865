// Whole backtests with accelerators and without: the same bytes, of the basket and of generated strategies.
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import type { Market } from '../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { withoutAccelerators } from '../../../src/engine/fast/index.ts';
import type { BacktestTask } from '../../../src/engine/task.ts';
import { shippedData } from '../../support/shippedData.ts';
import { BASKET, basketMarket } from '../../../bench/basket.ts';
import { unseen } from '../../../bench/walk.ts';
import { scaled } from '../../support/scale.ts';
import { strategyArbitrary, type AnyKind } from '../../support/strategies.ts';

const textOf = (pieces: readonly (string | Uint8Array)[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString())).join('');

/** Everything of a run that is hashed or stored. */
function bytesOf(task: BacktestTask, market: Market): object {
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) return outcome;
  const { written, memory, reproducibility } = outcome;
  const { flatNumbers, thinBlocksJson, diagnosis } = written;
  const bytes = { ...reproducibility, flatNumbers: [...flatNumbers], text: textOf(thinBlocksJson), diagnosis };
  memory.giveBack();
  return bytes;
}

let runs = 0;

/** Each runs on bars for which no column is kept; which of the two is first alternates. */
function expectSame(task: BacktestTask, market: Market): object {
  const fast = (): object => bytesOf(task, unseen(market));
  const plain = (): object => withoutAccelerators(fast);
  const [one, other] = runs++ % 2 === 0 ? [fast(), plain()] : [plain(), fast()];
  const withoutData = (bytes: object): object => ({ ...bytes, dataHash: '', runKey: '' });
  expect(withoutData(one), task.id).toEqual(withoutData(other));
  return one;
}

it.each(Object.entries(BASKET))('are the same for %s, of few bars and of many', (_, make) => {
  for (const market of [SHORT, LONG]) expect(expectSame(make(), market)).toHaveProperty('resultHash');
});
const SHORT = basketMarket(2_148);
const LONG = basketMarket(20_000);

/** Kinds of which strategies that trade are made. */
const OFTEN_TRUE: readonly AnyKind[] = ['const', 'market', 'compare', 'any', 'not'];
let currency: Market;
beforeAll(async () => {
  const data = await shippedData();
  currency = createMarket(await data.snapshots('EURUSD', '1h'), 'EURUSD', '1h');
});

it('are the same for generated strategies', () => {
  const hashes = new Set<unknown>();
  const price = { min: 1, max: 1.3 };
  const strategies = fc.oneof(
    strategyArbitrary({ timeframes: ['1h', '4h', '1d'], price }),
    strategyArbitrary({ kinds: OFTEN_TRUE, price, depth: 2 }),
  );
  fc.assert(
    fc.property(strategies, (strategyAst) => {
      const config = { timeframe: '1h', signalInstrument: { symbol: 'EURUSD' }, initialBalance: 10_000 } as const;
      const bytes = expectSame({ id: 'run', strategyAst, settings: {}, config, strategyHash: '' }, currency);
      if ('resultHash' in bytes) hashes.add(bytes.resultHash);
    }),
    { numRuns: scaled(600), seed: 20_261_128 },
  );
  expect(hashes.size).toBeGreaterThan(10);
});
