// What a plan is estimated to hold per bar, against the columns that it keeps once each of its conditions was read.
import { expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { bindRules } from '../../../src/engine/evaluate/bindRules.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { barsOf } from '../../../src/engine/evaluate/frames.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { estimatePlan } from '../../../src/engine/plan/estimate.ts';
import { randomSnapshot } from '../../support/bars.ts';
import {
  all,
  any,
  astOf,
  compare,
  cross,
  entry,
  exit,
  indicator,
  market,
  sma,
  type Json,
} from '../../support/builders.ts';

const ROWS = 50_000;
const MARKET = createMarket([randomSnapshot({ count: ROWS })], 'TEST', '1h');
/** The key and the objects of a kept column: nothing per bar, but the store counts them. */
const BYTES_PER_COLUMN = 2_000;
/** What a run of one comparison and no trades took per bar, of 3e6 bars: equity and statistics. */
const LOOP_BYTES = 15;
const number = (value: number): Json => ({ kind: 'const', value });
const list = (count: number, of: (index: number) => Json): Json[] => Array.from({ length: count }, (_, at) => of(at));
const crossing = (fast: Json, slow: Json): Json => ({
  entry: entry(cross(fast, 'cross_up', slow)),
  exits: [exit(cross(fast, 'cross_down', slow))],
});

const CASES: Readonly<Record<string, Json>> = {
  'two averages': crossing(sma(10), sma(30)),
  'two exponential averages': crossing(indicator('ema', { length: 10 }), indicator('ema', { length: 30 })),
  'forty averages': { entry: entry(any(...list(40, (at) => compare(market(), 'gt', sma(at + 2))))) },
  'an indicator of several outputs': {
    entry: entry(compare(market(), 'gt', indicator('bbands', { length: 20 }, { output: 'upper' }))),
  },
  'two timeframes': {
    entry: entry(all(compare(market(), 'gt', sma(20, { timeframe: '1d' })), cross(sma(10), 'cross_up', sma(30)))),
  },
  'a mean of a mean': {
    entry: entry(compare(market(), 'gt', { kind: 'rolling', op: 'mean', period: 5, source: sma(10) })),
  },
  patterns: {
    entry: entry(any(...['engulfing', 'doji', 'hammer'].map((name) => ({ kind: 'pattern', name, side: 'any' })))),
  },
  'a rule over state': {
    ...crossing(sma(10), sma(30)),
    exits: [exit(compare({ kind: 'state', field: 'position_unrealized_pnl_pct' }, 'gt', number(1)))],
  },
};

it.each(Object.keys(CASES))('estimates what is held by %s', (name) => {
  const prepared = prepareStrategy(astOf(CASES[name]), {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const { strategy, pointerOf } = prepared;
  const plan = compilePlan(strategy, MARKET.base, { pointerOf, slippageAtrPeriod: null, recordsConditions: true });
  const store = new ColumnStore(1e9);
  const evaluated = new EvaluatedPlan(plan, MARKET, store);
  bindRules(strategy, evaluated, true);
  for (const { type, slot } of plan.steps) if (type === 'condition') evaluated.condition(slot);

  const { frames } = estimatePlan(plan, 1);
  const estimated = frames.reduce((sum, each) => sum + each.heldBytesPerBar * barsOf(MARKET, each.frame).length, 0);
  const held = store.bytes + LOOP_BYTES * ROWS;
  const objects = plan.steps.length * BYTES_PER_COLUMN;
  expect(estimated + objects, 'columns are held that are not in the estimate').toBeGreaterThan(held);
  expect(estimated, 'the estimate is more than twice of what is held').toBeLessThan(2 * held);
});
