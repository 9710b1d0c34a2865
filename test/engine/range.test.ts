// The range of a run: which bars it holds.
import { describe, expect, it } from 'vitest';
import { simulateTask } from '../../src/engine/backtest.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { randomSnapshot, START } from '../support/bars.ts';
import { astOf, compare, entry, market } from '../support/builders.ts';
import { flatFee } from './simulate/input.ts';

const HOUR = 3_600_000;
const bars = createMarket([randomSnapshot({ count: 48 })], 'TEST', '1h');
const strategyAst: StrategyAst = astOf({
  entry: entry(compare(market(), 'gt', 0), { action: { side: 'long', sizing: { mode: 'fixed', value: 1 } } }),
});

function rowsOf(range: { start?: number; end?: number }): readonly [number, number] {
  const config = {
    timeframe: '1h',
    signalInstrument: { symbol: 'TEST' },
    initialBalance: 10_000,
    range,
    execution: { feeModel: flatFee(0), slippage: { kind: 'none' } },
  } as const;
  const run = simulateTask({ id: 'range', strategyAst, settings: {}, config, strategyHash: '' }, bars, null, false);
  if (!run.ok) throw new Error(run.error.message);
  const { input } = run.report;
  return [input.start, input.end];
}

describe('a range', () => {
  it('ends with the last bar that has closed by its end', () => {
    expect(rowsOf({ end: START + 10.5 * HOUR })).toEqual([0, 10]);
    expect(rowsOf({ end: START + 11 * HOUR - 1 })).toEqual([0, 10]);
    expect(rowsOf({ end: START + 11 * HOUR })).toEqual([0, 11]);
    expect(rowsOf({ end: START + 48 * HOUR })).toEqual([0, 48]);
  });

  it('begins with the first bar that opens at or after its start', () => {
    expect(rowsOf({ start: START + 2.5 * HOUR, end: START + 5 * HOUR })).toEqual([3, 5]);
    expect(rowsOf({ start: START + 3 * HOUR, end: START + 5 * HOUR })).toEqual([3, 5]);
  });

  it.each([
    ['contains no whole bar', { start: START + 3 * HOUR, end: START + 3.5 * HOUR }],
    ['ends before the first bar closes', { end: START + HOUR - 1 }],
    ['ends before the data', { end: START - HOUR }],
    ['starts after the data', { start: START + 48 * HOUR }],
  ])('is rejected with the available data named when it %s', (_, range) => {
    expect(() => rowsOf(range)).toThrow(
      'The range holds no 1h bars of TEST. The first opens at 2024-01-01T00:00:00.000Z, ' +
        'the last at 2024-01-02T23:00:00.000Z.',
    );
  });
});
