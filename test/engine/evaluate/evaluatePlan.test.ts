// The compiled columns against an evaluator that goes bar by bar: two roads to one answer, on every condition of
// generated strategies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Market } from '../../../src/engine/bars/bars.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { randomSnapshot, START } from '../../support/bars.ts';
import { any, compare, cross, sma, strategy, type Json } from '../../support/builders.ts';
import { Evaluator } from '../../support/reference/evaluate.ts';
import { scaled, seededRandom } from '../../support/scale.ts';
import { ALL_CONDITION_KINDS, ALL_VALUE_KINDS, strategyArbitrary } from '../../support/strategies.ts';

const HOUR_MS = 3_600_000;
const SEED = 20_261_127;

/** Operations that are not exact: two windows of the same values in another order may differ in the last digit. */
const ROUNDED = /"op":"(std|var|zscore|slope)"/;

/** Hours of about three weeks with holes: single bars, a day and a weekend are missing. */
function times(seed: number): number[] {
  const random = seededRandom(seed);
  const rows = Array.from({ length: 420 }, (_, row) => row).filter(() => random() > 0.05);
  return rows
    .filter((row) => (row < 100 || row > 130) && (row < 230 || row > 290))
    .map((row) => START + (row + 7) * HOUR_MS);
}

function holedMarket(seed: number): Market {
  const base = times(seed);
  const random = seededRandom(seed + 1);
  const model = base.map((_, row) => (row < 5 || random() < 0.1 ? NaN : Math.round(random() * 200)));
  const snapshots = [
    randomSnapshot({ symbol: 'TEST', times: base, seed, series: { model } }),
    randomSnapshot({ symbol: 'OTHER', times: times(seed + 2), seed: seed + 3 }),
  ];
  return createMarket(snapshots, 'TEST', '1h');
}

describe('columns', () => {
  it('agrees with the reference on every condition of generated strategies, bar by bar', () => {
    const markets = [1, 2, 3].map(holedMarket);
    const strategies = strategyArbitrary({
      kinds: [...ALL_VALUE_KINDS, ...ALL_CONDITION_KINDS].filter((kind) => kind !== 'state'),
      timeframes: ['1h', '4h', '1d'],
      symbols: ['OTHER'],
    });
    let compared = 0;
    let excused = 0;
    fc.assert(
      fc.property(strategies, fc.constantFrom(...markets), (ast, market) => {
        const prepared = prepareStrategy(ast, {}, {}, { timeframe: '1h' });
        if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
        const plan = compilePlan(prepared.strategy, market.base, {
          pointerOf: prepared.pointerOf,
          slippageAtrPeriod: null,
          recordsConditions: true,
        });
        const evaluated = new EvaluatedPlan(plan, market, new ColumnStore(1e8));
        const reference = new Evaluator(market, prepared.strategy.timezone);
        for (const { slot, expression, nodeId } of plan.conditions) {
          const wanted = reference.condition(expression).map((truth) => (truth === null ? 2 : truth ? 1 : 0));
          const { isTrue, isUnknown } = evaluated.condition(slot!);
          const got = wanted.map((_, row) => (hasBit(isTrue, row) ? 1 : hasBit(isUnknown, row) ? 2 : 0));
          compared++;
          const mayTie = reference.nearTies > 0 || ROUNDED.test(JSON.stringify(expression));
          if (mayTie && JSON.stringify(got) !== JSON.stringify(wanted)) excused++;
          else expect({ nodeId, truths: got.join('') }).toEqual({ nodeId, truths: wanted.join('') });
        }
      }),
      { numRuns: scaled(2_000), seed: SEED },
    );
    // Rounding may decide a comparison of numbers equal but for their last digits; it is rare.
    expect(excused / compared).toBeLessThan(0.01);
  });
});

const doji = { kind: 'pattern', name: 'doji' };
/** The pattern on bars of four hours, where the source of an average reads it. */
const dojiBefore = compare(sma(2, { timeframe: '4h', source: { kind: 'bars_since', when: doji } }), 'lt', 2);

describe('conditions that share a side', () => {
  /** The rows on which each of these conditions is true, made one after the other on 200 bars. */
  const trueRows = (...conditions: Json[]): string[] => {
    const prepared = prepareStrategy(strategy(any(...conditions)) as StrategyAst, {}, {}, { timeframe: '1h' });
    if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
    const market = createMarket([randomSnapshot({ count: 200, seed: 9 })], 'TEST', '1h');
    const options = { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: true };
    const plan = compilePlan(prepared.strategy, market.base, options);
    const evaluated = new EvaluatedPlan(plan, market, new ColumnStore(1e8));
    return plan.conditions
      .filter(({ role, parent }) => role === 'trigger' && parent === 0)
      .map(({ slot }) => {
        const { isTrue } = evaluated.condition(slot!);
        return Array.from({ length: 200 }, (_, row) => row)
          .filter((row) => hasBit(isTrue, row))
          .join();
      });
  };

  it.each<[string, Json, Json]>([
    ['left sides', cross(sma(3), 'cross_up', sma(20)), cross(sma(3), 'cross_down', sma(8))],
    ['right sides', cross(sma(20), 'cross_up', sma(3)), cross(sma(8), 'cross_down', sma(3))],
    ['bars of another timeframe', doji, dojiBefore],
  ])('are each computed from their own: %s', (_, first, second) => {
    const together = trueRows(first, second);
    expect(together).toEqual([...trueRows(first, first).slice(0, 1), ...trueRows(second, second).slice(0, 1)]);
    expect(together[0]).not.toBe(together[1]);
  });
});
