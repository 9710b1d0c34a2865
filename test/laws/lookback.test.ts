import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../src/engine/bars/market.ts';
import type { Market } from '../../src/engine/bars/bars.ts';
import { EvaluatedPlan } from '../../src/engine/evaluate/evaluatePlan.ts';
import { hasBit } from '../../src/engine/kernels/bits.ts';
import { ColumnStore } from '../../src/engine/evaluate/columnStore.ts';
import { inferLookback } from '../../src/engine/language/canonical/lookback.ts';
import { prepareStrategy } from '../../src/engine/language/prepare/prepare.ts';
import { type StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import { compilePlan } from '../../src/engine/plan/compile.ts';
import { randomSnapshot, START } from '../support/bars.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary, type AnyKind } from '../support/strategies.ts';

const SEED = 20_261_123;
const HOUR_MS = 3_600_000;
/** Those whose value is always defined once the lookback is past, on any prices. */
const INDICATORS = [
  'sma',
  'ema',
  'wma',
  'rma',
  'rsi',
  'atr',
  'macd',
  'mom',
  'obv',
  'highest',
  'lowest',
  'stddev',
  'donchian',
  'dema',
];
/**
 * `if`, rising and falling are known as soon as the data decides them, which may be earlier: they are in the second
 * law.
 */
const EXACT_KINDS: AnyKind[] = [
  'const', 'market', 'indicator', 'rolling', 'shift', 'compare', 'between', 'near', 'pattern', 'all', 'any', 'not',
]; // prettier-ignore

/** Whether every column of the strategy's plan is known at that row of the base. */
function isWarm(strategy: StrategyAst, market: Market, row: number): boolean {
  const prepared = prepareStrategy(strategy, {});
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const base = { symbol: 'TEST', timeframe: '1h' } as const;
  const plan = compilePlan(prepared.strategy, base, {
    pointerOf: prepared.pointerOf,
    slippageAtrPeriod: null,
    recordsConditions: true,
  });
  const evaluated = new EvaluatedPlan(plan, market, new ColumnStore(1e8));
  return plan.steps
    .filter(({ frame }) => frame.timeframe === '1h' && frame.symbol === null)
    .every((step) => {
      if (step.type === 'value') return !Number.isNaN(evaluated.value(step.slot).values[row]);
      // Words that are not there hold nothing unknown.
      const { isUnknown } = evaluated.condition(step.slot);
      return !hasBit(isUnknown, row);
    });
}

const lookbackOf = (strategy: StrategyAst): number => {
  const prepared = prepareStrategy(strategy, {});
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  return inferLookback(prepared.strategy, '1h');
};
const marketFrom = (start: number, count = 900): Market => {
  const times = Array.from({ length: count }, (_, i) => start + i * HOUR_MS);
  return createMarket([randomSnapshot({ times, seed: 5 })], 'TEST', '1h');
};

describe('inferredLookback', () => {
  it('is exact on base-timeframe expressions without events', () => {
    const market = marketFrom(START);
    const strategies = strategyArbitrary({ kinds: EXACT_KINDS, indicators: INDICATORS, depth: 3 }).map(alwaysDefined);
    fc.assert(
      fc.property(strategies, (strategy) => {
        const lookback = lookbackOf(strategy);
        expect(isWarm(strategy, market, lookback)).toBe(true);
        if (lookback > 0) expect(isWarm(strategy, market, lookback - 1)).toBe(false);
      }),
      { numRuns: scaled(2_000), seed: SEED },
    );
  });

  it('is sufficient on coarser timeframes, whatever hour the data begins at', () => {
    const kinds: AnyKind[] = [
      ...EXACT_KINDS,
      'if',
      'rising',
      'falling',
      'cross',
      'rolling_window',
      'time_window',
      'session',
    ];
    const strategies = strategyArbitrary({
      kinds,
      indicators: INDICATORS.filter((id) => id !== 'dema'),
      timeframes: ['4h', '1d'],
      depth: 3,
      maxBars: 6,
    }).map(alwaysDefined);
    fc.assert(
      fc.property(strategies, fc.integer({ min: 0, max: 23 }), (strategy, hour) => {
        const market = marketFrom(START + hour * HOUR_MS, 2_500);
        const lookback = lookbackOf(strategy);
        fc.pre(lookback < 2_500);
        expect(isWarm(strategy, market, lookback)).toBe(true);
      }),
      { numRuns: scaled(1_000), seed: SEED },
    );
  });
});

/**
 * `within` (like rising) can be decided before all its bars are known, and the z-score of a flat window or the slope of
 * one bar is missing on any history: neither is a matter of lookback.
 */
function alwaysDefined(strategy: StrategyAst): StrategyAst {
  return JSON.parse(JSON.stringify(strategy), (name, value: unknown) => {
    if (name === 'within') return undefined;
    return value === 'zscore' || value === 'slope' ? 'avg' : value;
  }) as StrategyAst;
}
