// Our side of the comparison: writes the bars, runs every pair on so many threads, and writes trades and return of each
// pair.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeRows, metricOf, shardsOf, createPool } from '../../../src/engine/index.ts';
import { SYMBOL, walkSnapshot } from '../../walk.ts';
import { pairScene } from '../../sweep.ts';
import { createMarket } from '../../../src/engine/index.ts';

const [folder, bars = '100000', threads = '2'] = process.argv.slice(2);
const snapshot = walkSnapshot(Number(bars));
const market = createMarket([snapshot], SYMBOL, '1h');
writeFileSync(join(folder, 'open.f64'), new Uint8Array(market.base.open.slice().buffer));
writeFileSync(join(folder, 'close.f64'), new Uint8Array(market.base.close.slice().buffer));
// 20 fast lengths by 50 slow ones: 1,000 pairs.
const space = { fast: { min: 2, max: 21 }, slow: { min: 30, max: 128, step: 2 } };
const { job } = pairScene(market, space, ['returnPct', 'sharpeRatio', 'maxDrawdown', 'totalPositions']);
await using pool = createPool({ threads: Number(threads) });
const markets = [{ symbol: SYMBOL, timeframe: '1h' as const, snapshots: [0] }];
const run = async () => {
  const runs = shardsOf(job, 25).map((range) =>
    pool.sweep({ snapshots: [snapshot], markets, job, work: { kind: 'shard', range } }),
  );
  const outcomes = await Promise.all(runs.map(({ outcome }) => outcome));
  return outcomes.map((outcome) => {
    if (outcome.kind !== 'rows') throw new Error(JSON.stringify(outcome));
    return decodeRows(outcome.bytes);
  });
};

let best = Infinity;
let rows = await run();
for (let round = 0; round < 3; round++) {
  const from = performance.now();
  rows = await run();
  best = Math.min(best, performance.now() - from);
}
const columnOf = (key: 'totalPositions' | 'returnPct') => rows.flatMap((shard) => [...metricOf(shard, key)]);
writeFileSync(
  join(folder, 'ours.json'),
  JSON.stringify({ ms: best, positions: columnOf('totalPositions'), returnPct: columnOf('returnPct') }),
);
