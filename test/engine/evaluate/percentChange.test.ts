// percent_change end to end: its numbers against a computation of their own, and what the checks, the plan and the API
// say of it.
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { bindCondition } from '../../../src/engine/evaluate/stateful.ts';
import { hasBit } from '../../../src/engine/kernels/bits.ts';
import { STATE_FIELDS, type StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { textOf } from '../../../src/engine/language/grammar/nodeTexts.ts';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { describeCapabilities } from '../../../src/engine/language/capabilities.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { graphOf } from '../../support/graphs.ts';
import { compare, constant, market, sma, strategy, type Json } from '../../support/builders.ts';

const model = Array.from({ length: 200 }, (_, row) => (row % 7 === 0 ? NaN : (row % 5) - 1));
const MARKET = createMarket([randomSnapshot({ count: 200, seed: 4, series: { model } })], 'TEST', '1h');
const change = (source: Json, bars: number): Json => ({ kind: 'percent_change', source, bars });

function compiled(ast: Json) {
  const prepared = prepareStrategy(ast as StrategyAst, {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const plan = compilePlan(prepared.strategy, MARKET.base, {
    pointerOf: prepared.pointerOf,
    slippageAtrPeriod: null,
    recordsConditions: true,
  });
  return { strategy: prepared.strategy, plan, evaluated: new EvaluatedPlan(plan, MARKET, new ColumnStore(1e8)) };
}

/** The column of a value, read off the left side of a comparison. */
function columnOf(value: Json): number[] {
  const { plan, evaluated } = compiled(strategy(compare(value, 'gt', 0)));
  return [...evaluated.value(plan.conditions[0].left!).values];
}

const percent = (now: number, then: number): number => {
  const result = (now / then - 1) * 100;
  return Number.isFinite(result) ? result : NaN;
};

describe('percent_change', () => {
  it('equals 100 × (now − then) / then, and is missing before there is a then', () => {
    const { close } = MARKET.base;
    const column = columnOf(change(market(), 10));
    expect(column.slice(0, 10)).toEqual(Array(10).fill(NaN));
    for (let row = 10; row < close.length; row++)
      expect(column[row]).toBeCloseTo(percent(close[row], close[row - 10]), 9);
  });

  it('is missing if a side is missing or the value then was 0, and divides by negative values unchanged', () => {
    const column = columnOf(change({ kind: 'series', name: 'model' }, 3));
    model.forEach((now, row) => {
      const wanted = percent(now, model[row - 3] ?? NaN);
      if (Number.isNaN(wanted)) expect(column[row]).toBeNaN();
      else expect(column[row]).toBeCloseTo(wanted, 9);
    });
  });

  it('counts base bars, even over a source of a coarser timeframe', () => {
    const source = market('close', { timeframe: '4h' });
    const seen = columnOf(source);
    const column = columnOf(change(source, 5));
    seen.forEach((now, row) => {
      const wanted = percent(now, seen[row - 5] ?? NaN);
      if (Number.isNaN(wanted)) expect(column[row]).toBeNaN();
      else expect(column[row]).toBeCloseTo(wanted, 9);
    });
  });

  it('reads the history of state in the fill loop', () => {
    const equity = Array.from({ length: 40 }, (_, row) => 1_000 + 100 * Math.sin(row));
    const when = compare(change({ kind: 'state', field: 'account_equity' }, 2), 'lt', -5);
    const { plan, evaluated } = compiled(strategy(undefined, { exits: [{ kind: 'exit', when }] }));
    const { condition } = plan.exits[0];
    if (condition.kind !== 'stateful') throw new Error('the exit does not read state');
    const bound = bindCondition(condition, evaluated, null);
    const memory = bound.newMemory(null);
    const field = STATE_FIELDS.indexOf('account_equity');
    equity.forEach((now, row) => {
      const state = { read: (wanted: number) => (wanted === field ? now : NaN) };
      bound.recordAccount(row, state, memory);
      const wanted = row < 2 ? 2 : percent(now, equity[row - 2]) < -5 ? 1 : 0;
      expect([row, bound.test(row, state, memory)]).toEqual([row, wanted]);
    });
  });

  it('looks back `bars` beyond its source', () => {
    const lookbackOf = (value: Json) =>
      checkStrategy({ strategyAst: strategy(compare(value, 'gt', 0), { exits: [] }) }).analysis.inferredLookback;
    expect(lookbackOf(change(market(), 24))).toBe(24);
    expect(lookbackOf(change(sma(10), 24))).toBe(33);
    expect(lookbackOf(change(constant(3), 24))).toBe(0);
  });

  it('cannot lose more than 100 % over a source that is never negative', () => {
    const codesOf = (value: Json, bound: number) =>
      checkStrategy({ strategyAst: strategy(compare(value, 'lt', bound), { exits: [] }) })
        .issues.map(({ code }) => code)
        .filter((code) => code !== 'NO_EXIT_RULE');
    expect(codesOf(change(market(), 5), -100)).toContain('CONTRADICTION');
    expect(codesOf(change(market(), 5), -99)).toEqual([]);
    expect(codesOf(change({ kind: 'series', name: 'model' }, 5), -150)).toEqual([]);
  });

  it('rejects a missing, zero or fractional number of bars at its place', () => {
    const issueOf = (value: Json) => {
      const { issues } = checkStrategy({ strategyAst: strategy(compare(value, 'gt', 0)) });
      return issues.filter(({ severity }) => severity === 'error').map(({ code, path }) => [code, path]);
    };
    const at = '/strategyAst/strategy/entry/trigger/left/bars';
    expect(issueOf({ kind: 'percent_change', source: market() })).toEqual([['MISSING_FIELD', at]]);
    expect(issueOf(change(market(), 0))).toEqual([['OUT_OF_RANGE', at]]);
    expect(issueOf(change(market(), 1.5))).toEqual([['OUT_OF_RANGE', at]]);
  });

  it('means the same in a graph as in an AST', () => {
    const ast = strategy(compare(change(market('hl2'), 4), 'gt', 2));
    const [fromAst, fromGraph] = [checkStrategy({ strategyAst: ast }), checkStrategy({ signalGraph: graphOf(ast) })];
    expect(fromGraph.issues).toEqual(
      fromAst.issues.map((issue) => ({ ...issue, path: expect.anything(), field: 'signalGraph' })),
    );
    expect(fromGraph.compiled?.strategyHash).toBe(fromAst.compiled?.strategyHash);
  });

  it('appears in the capabilities, with a cost and a text', () => {
    const { strategyAst, signalGraph } = describeCapabilities();
    for (const nodes of [strategyAst.nodes, signalGraph.nodes]) {
      expect(nodes.find(({ kind }) => kind === 'percent_change')).toMatchObject({
        output: 'number',
        inputs: [{ name: 'source', kind: 'number_ref', required: true, cardinality: 'one' }],
        fields: [{ name: 'bars', type: 'int', required: true, min: 1 }],
      });
    }
    const ast = strategy(compare(change(market(), 24), 'gt', 2));
    expect(textOf(compiled(ast).strategy.entries[0].trigger)).toBe('percent change of close over 24 bars > 2');
    const plain = strategy(compare(market(), 'gt', 2));
    const costOf = (payload: Json) => checkStrategy({ strategyAst: payload }).analysis.estimatedCost;
    expect(costOf(ast)).toBeGreaterThan(costOf(plain));
  });

  it('compares as true on exactly the bars where its change is above the bound', () => {
    const { plan, evaluated } = compiled(strategy(compare(change(market(), 3), 'gt', 1)));
    const { isTrue } = evaluated.condition(plan.conditions[0].slot!);
    const { close } = MARKET.base;
    const wanted = [...close].map((now, row) => row >= 3 && percent(now, close[row - 3]) > 1);
    expect(wanted.map((_, row) => hasBit(isTrue, row))).toEqual(wanted);
  });
});
