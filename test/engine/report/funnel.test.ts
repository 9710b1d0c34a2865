// The funnel of an entry that has only a trigger is that of the same entry with a filter which lets all bars through.
import { expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { simulateTask } from '../../../src/engine/backtest.ts';
import type { Funnel } from '../../../src/engine/report/funnel.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { astOf, compare, constant, entry, market, sma } from '../../support/builders.ts';

const bars = createMarket([randomSnapshot({ count: 400 })], 'TEST', '1h');

function funnelOf(more: object, warmupPeriod = 5): Funnel {
  const trigger = compare(market(), 'gt', sma(50));
  const strategyAst = astOf({ entry: { ...entry(trigger), ...more } });
  const config = { timeframe: '1h', signalInstrument: { symbol: 'TEST' }, initialBalance: 10_000 } as const;
  const settings = { warmupPeriod };
  const run = simulateTask({ id: 'run', strategyAst, settings, config, strategyHash: '' }, bars, null, false);
  if (!run.ok) throw new Error(JSON.stringify(run));
  return run.summary.strategyTrace!.funnel;
}

it('counts the bars of a trigger alone as those of a trigger with a filter', () => {
  const alone = funnelOf({});
  const [filtered] = funnelOf({ filters: [compare(constant(1), 'lt', constant(2))] }).entries;
  expect(alone.entries).toEqual([{ ...filtered, afterFilter: [] }]);
  // The average is missing at first.
  expect(alone.barsUnknown).toBe(49 - 5);
  expect(alone.triggerTrue).toBeGreaterThan(50);
});

it('counts no more warm-up bars than the range has', () => {
  expect(funnelOf({}, 399)).toMatchObject({ barsTotal: 400, barsWarmup: 399 });
  expect(funnelOf({}, 5_000)).toMatchObject({ barsTotal: 400, barsWarmup: 400 });
});
