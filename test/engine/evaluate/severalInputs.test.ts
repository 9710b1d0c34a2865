// Indicators that read several inputs: their first value and their warm-up when the inputs begin on different rows.
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { inferLookback } from '../../../src/engine/language/canonical/lookback.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { randomSnapshot, START } from '../../support/bars.ts';
import { compare, indicator, sma, strategy, type Json } from '../../support/builders.ts';

const HOUR_MS = 3_600_000;
const ROWS = 200;
const times = Array.from({ length: ROWS }, (_, row) => START + row * HOUR_MS);
const MARKET = createMarket([randomSnapshot({ times, seed: 6 })], 'TEST', '1h');

/** The column of a value, and its inferred lookback. */
function columnOf(value: Json): { column: number[]; lookback: number } {
  const payload = strategy(compare(value, 'gt', 0), { exits: [] }) as StrategyAst;
  const prepared = prepareStrategy(payload, {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const plan = compilePlan(prepared.strategy, MARKET.base, {
    pointerOf: prepared.pointerOf,
    slippageAtrPeriod: null,
    recordsConditions: true,
  });
  const evaluated = new EvaluatedPlan(plan, MARKET, new ColumnStore(1e8));
  const column = [...evaluated.value(plan.conditions[0].left!).values];
  return { column, lookback: inferLookback(prepared.strategy, '1h') };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function correlation(xs: readonly number[], ys: readonly number[]): number {
  const [x, y] = [mean(xs), mean(ys)];
  const covariance = mean(xs.map((value, at) => (value - x) * (ys[at] - y)));
  const squares = (values: readonly number[], middle: number): number =>
    mean(values.map((value) => (value - middle) ** 2));
  return covariance / Math.sqrt(squares(xs, x) * squares(ys, y));
}

/** The last `length` values up to a row. */
const windowAt = <T>(values: readonly T[], row: number, length: number): T[] => values.slice(row - length + 1, row + 1);

describe('an indicator of two averages', () => {
  const close = [...MARKET.base.close];
  const average = (length: number) =>
    close.map((_, row) => (row < length - 1 ? NaN : mean(windowAt(close, row, length))));

  it.each([
    [4, 9],
    [9, 4],
  ])('has its first value a window after the later of them begins: sma(%i), sma(%i)', (first, second) => {
    const { column, lookback } = columnOf(indicator('correl', { length: 5 }, { sources: [sma(first), sma(second)] }));
    const [xs, ys] = [average(first), average(second)];
    const firstRow = 8 + 4;
    expect(lookback).toBe(firstRow);
    expect(column.slice(0, firstRow).every(Number.isNaN)).toBe(true);
    for (let row = firstRow; row < ROWS; row++)
      expect(column[row]).toBeCloseTo(correlation(windowAt(xs, row, 5), windowAt(ys, row, 5)), 6);
  });

  it('counts its window in the bars of the timeframe that they share, else in base bars', () => {
    const of = (first: Json, second: Json) =>
      columnOf(indicator('correl', { length: 5 }, { sources: [first, second] }));
    const [short, long] = [sma(2, { timeframe: '4h' }), sma(3, { timeframe: '4h' })];
    const daily = sma(2, { timeframe: '1d' });
    // Two bars of four hours before the third, four more for the window: all seven have closed at the 28th hour.
    for (const shared of [of(short, long), of(long, short)]) {
      expect(shared.lookback).toBe(27);
      expect(shared.column.findIndex((value) => !Number.isNaN(value))).toBe(27);
    }
    // The second day has closed at the 48th hour, and four more hours are in the window.
    for (const mixed of [of(short, daily), of(daily, short)]) {
      expect(mixed.lookback).toBe(51);
      expect(mixed.column.findIndex((value) => !Number.isNaN(value))).toBe(51);
    }
  });
});
