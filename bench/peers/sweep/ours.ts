// Our side of the comparison: writes the bars, runs every pair on so many threads, and writes trades and return of each
// pair. A round computes everything from the bars, as a round of vectorbt does: averages, signals, fills, statistics.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMarket, createPool, decodeRows, metricOf, shardsOf } from '../../../src/engine/index.ts';
import { pairContext } from '../../sweep.ts';
import { SYMBOL, walkSnapshot } from '../../walk.ts';

const [folder, bars = '100000', threads = '2'] = process.argv.slice(2);
const snapshot = walkSnapshot(Number(bars));
const market = createMarket([snapshot], SYMBOL, '1h');
writeFileSync(join(folder, 'open.f64'), new Uint8Array(market.base.open.slice().buffer));
writeFileSync(join(folder, 'close.f64'), new Uint8Array(market.base.close.slice().buffer));
// 20 fast lengths by 50 slow ones: 1,000 pairs.
const space = { fast: { min: 2, max: 21 }, slow: { min: 30, max: 128, step: 2 } };
/**
 * What vectorbt computes: trades and return of each pair; then its equity column, of which we take the drawdown too.
 */
const WORK = {
  summaries: ['returnPct', 'totalPositions'],
  equity: ['returnPct', 'totalPositions', 'maxDrawdown'],
};
const ROUNDS = 12;
await using pool = createPool({ threads: Number(threads) });
const markets = [{ symbol: SYMBOL, timeframe: '1h' as const, snapshots: [0] }];

/** @param owner runs share the columns of their own owner only: a new one computes every average and signal again. */
async function run(metrics: readonly string[], owner: string) {
  const job = { ...pairContext(() => market, space, metrics).job, owner };
  const runs = shardsOf(job, 50).map((range) =>
    pool.sweep({ snapshots: [snapshot], markets, job, work: { kind: 'shard', range } }),
  );
  const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));
  return outcomes.map((outcome) => {
    if (outcome.kind !== 'rows') throw new Error(JSON.stringify(outcome));
    return decodeRows(outcome.bytes);
  });
}

const measured: Record<string, object> = {};
for (const [name, metrics] of Object.entries(WORK)) {
  let best = Infinity;
  let rows = await run(metrics, `${name} warm-up`);
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    rows = await run(metrics, `${name} ${round}`);
    best = Math.min(best, performance.now() - from);
  }
  const columnOf = (key: 'totalPositions' | 'returnPct') => rows.flatMap((shard) => [...metricOf(shard, key)]);
  measured[name] = { ms: best, positions: columnOf('totalPositions'), returnPct: columnOf('returnPct') };
}
writeFileSync(join(folder, 'ours.json'), JSON.stringify(measured));
