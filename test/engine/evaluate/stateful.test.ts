// Conditions that are read in the loop, against the columns of the same conditions: two roads to one answer.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { bindCondition } from '../../../src/engine/evaluate/stateful.ts';
import type { StateView } from '../../../src/engine/evaluate/tradingRules.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { all, any, compare, constant, entry, market, strategy, type Json } from '../../support/builders.ts';
import { expressionArbitrary, type AnyKind } from '../../support/expressions.ts';
import { scaled } from '../../support/scale.ts';

const SEED = 20_261_123;
const ROWS = 150;
/** Longer than the first memory of a window in the loop. */
const MAX_BARS = 40;
/** All kinds that may stand over state. */
const KINDS: readonly AnyKind[] = [
  'const', 'market', 'series', 'rolling', 'math', 'shift', 'if', 'bars_since', 'value_when', 'capture',
  'percent_change', 'compare', 'cross', 'between', 'near', 'rising', 'falling', 'all', 'any', 'not', 'sequence',
  'rolling_window', 'state_machine',
]; // prettier-ignore
/** Operations that add in another order in the loop, so that ties may be decided by the last digit. */
const ROUNDED = /"op":"(std|var|zscore|slope)"/;

const model = Array.from({ length: ROWS }, (_, row) => (row < 3 || row % 7 === 5 ? NaN : 60 + ((row * 37) % 80)));
const MARKET = createMarket([randomSnapshot({ count: ROWS, seed: 11, series: { model } })], 'TEST', '1h');
/** 0 times this is 0. */
const STATE: StateView = { read: () => 1 };

const series = { kind: 'series', name: 'model' };
const rises = { kind: 'rising', source: market(), bars: 1 };
/** What generated conditions seldom have: a part that decides after an unknown one, and a streak of no whole length. */
const EXAMPLES: readonly Json[] = [
  { kind: 'not', item: all(compare(series, 'gt', 0), compare(market(), 'lt', 0)) },
  any(compare(series, 'gt', 0), compare(market(), 'gt', 0)),
  { kind: 'rolling_window', expr: rises, window: 5, mode: 'streak', value: 2.5 },
];

/** The same expression with 0 times the balance added to every price, so that it is read in the loop. */
function overState(node: Json): Json {
  if (Array.isArray(node)) return node.map(overState);
  if (typeof node !== 'object' || node === null) return node;
  const parts = Object.fromEntries(Object.entries(node).map(([name, part]) => [name, overState(part)]));
  if (node.kind !== 'market' && node.kind !== 'series') return parts;
  const nothing = { kind: 'math', op: 'mul', args: [constant(0), { kind: 'state', field: 'account_balance' }] };
  return { kind: 'math', op: 'add', args: [parts, nothing] };
}

/** The rows on which a condition is true, and whether it was read in the loop. */
function trueRows(condition: Json): { rows: number[]; isStateful: boolean } {
  const ast = strategy(undefined, { entry: entry(condition), exits: [] }) as StrategyAst;
  const prepared = prepareStrategy(ast, {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const options = { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: false };
  const plan = compilePlan(prepared.strategy, MARKET.base, options);
  const evaluated = new EvaluatedPlan(plan, MARKET, new ColumnStore(1e8));
  const planned = plan.entries[0].condition;
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  if (planned.kind === 'column') {
    const { isTrue } = evaluated.condition(planned.slot);
    return { rows: rows.filter((row) => hasBit(isTrue, row)), isStateful: false };
  }
  const bound = bindCondition(planned, evaluated, null);
  const memory = bound.newMemory(null);
  const found = rows.filter((row) => {
    bound.recordAccount(row, STATE, memory);
    return (bound.gate === null || hasBit(bound.gate, row)) && bound.test(row, STATE, memory) === 1;
  });
  return { rows: found, isStateful: true };
}

it('reads a condition in the loop as its column has it', () => {
  let inLoop = 0;
  let isTrue = 0;
  let excused = 0;
  fc.assert(
    fc.property(expressionArbitrary({ kinds: KINDS, maxBars: MAX_BARS }).condition, (condition) => {
      const columns = trueRows(condition);
      const loop = trueRows(overState(condition));
      if (loop.isStateful) inLoop++;
      if (columns.rows.length > 0) isTrue++;
      if (ROUNDED.test(JSON.stringify(condition)) && loop.rows.join() !== columns.rows.join()) excused++;
      else expect(loop.rows).toEqual(columns.rows);
    }),
    { numRuns: scaled(6_000), seed: SEED, examples: EXAMPLES.map((example) => [example]) },
  );
  expect(inLoop).toBeGreaterThan(scaled(2_000));
  expect(isTrue).toBeGreaterThan(scaled(1_000));
  expect(excused).toBeLessThan(scaled(60));
});
