// Columns are kept for the runs of one owner: how long a run takes tells nobody what another workspace has computed.
import { expect, it } from 'vitest';
import type { Market } from '../../../src/engine/bars/bars.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { compare, constant, sma, strategy } from '../../support/builders.ts';

const ast = strategy(compare(sma(10), 'gt', constant(1))) as StrategyAst;
const ofOther = strategy(compare(sma(10, { instrument: { symbol: 'OTHER' } }), 'gt', constant(1))) as StrategyAst;

/** With every column of its plan made. */
function evaluatedPlan(market: Market, store: ColumnStore, owner: string, strategyAst = ast): EvaluatedPlan {
  const prepared = prepareStrategy(strategyAst, {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const options = { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: true };
  const plan = compilePlan(prepared.strategy, market.base, options);
  const evaluated = new EvaluatedPlan(plan, market, store, null, owner);
  plan.steps.forEach((step, slot) => (step.type === 'value' ? evaluated.value(slot) : evaluated.condition(slot)));
  return evaluated;
}

it.each([
  [200, ['indicator']],
  [5_000, ['indicator', 'compare']],
])('keeps, of %i rows, what takes longer to make than to look up', (count, kept) => {
  const market = createMarket([randomSnapshot({ count, seed: 4 })], 'TEST', '1h');
  const evaluated = evaluatedPlan(market, new ColumnStore(1e8), 'a');
  const ops = evaluated.plan.steps.filter(({ key }) => evaluated.isKept(key)).map(({ op }) => op);
  expect(new Set(ops)).toEqual(new Set(kept));
});

it('shares columns between the runs of one owner, and never between owners', () => {
  const market = createMarket([randomSnapshot({ count: 200, seed: 4 })], 'TEST', '1h');
  const store = new ColumnStore(1e8);
  const bytesAfter = (owner: string): number => {
    evaluatedPlan(market, store, owner);
    return store.bytes;
  };
  const once = bytesAfter('a');
  expect(once).toBeGreaterThan(0);
  expect(bytesAfter('a')).toBe(once);
  expect(bytesAfter('b')).toBe(2 * once);
});

it('does not share columns between runs whose other instruments are of different snapshots', () => {
  const base = randomSnapshot({ count: 200, seed: 4 });
  const store = new ColumnStore(1e8);
  const averages = [5, 6].map((seed) => {
    const other = randomSnapshot({ symbol: 'OTHER', count: 200, seed });
    const evaluated = evaluatedPlan(createMarket([base, other], 'TEST', '1h'), store, 'a', ofOther);
    const slot = evaluated.plan.steps.findIndex(({ op }) => op === 'indicator');
    return evaluated.value(slot).values;
  });
  const { close } = createMarket([randomSnapshot({ symbol: 'OTHER', count: 200, seed: 6 })], 'OTHER', '1h').base;
  expect(averages[1][199]).toBeCloseTo(close.slice(190).reduce((sum, price) => sum + price, 0) / 10, 9);
  expect(averages[0][199]).not.toBeCloseTo(averages[1][199], 2);
});
