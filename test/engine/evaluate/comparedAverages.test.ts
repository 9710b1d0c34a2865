// Averages that are only compared: their conditions and values are those of their columns, which are never made, or
// made on the way.
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan } from '../../../src/engine/evaluate/evaluatePlan.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import type { Snapshot } from '../../../src/engine/bars/arrow.ts';
import { makeInstrument } from '../../../src/market/instrument.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { randomColumns } from '../../support/bars.ts';
import { all, compare, cross, market, sma, strategy, type Json } from '../../support/builders.ts';

/** Enough for averages of 2 and 3 rows. */
const ROWS = 66_000;
const MARKET = createMarket([highPrices()], 'TEST', '1h');

/** Prices none of which is twice another nearby. */
function highPrices(): Snapshot {
  const columns = randomColumns({ count: ROWS, seed: 8 });
  const raised = (values: Float64Array): Float64Array => values.map((price) => price + 1000);
  const [open, high, low, close] = [columns.open, columns.high, columns.low, columns.close].map(raised);
  const instrument = makeInstrument('TEST');
  return makeSnapshot({ ...columns, open, high, low, close }, { symbol: 'TEST', timeframe: '1h', instrument });
}

function evaluatedOf(condition: Json) {
  const prepared = prepareStrategy(strategy(condition) as StrategyAst, {}, {}, { timeframe: '1h' });
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const options = { pointerOf: prepared.pointerOf, slippageAtrPeriod: null, recordsConditions: true };
  const plan = compilePlan(prepared.strategy, MARKET.base, options);
  const store = new ColumnStore(1e9);
  return { plan, store, evaluated: new EvaluatedPlan(plan, MARKET, store) };
}

/** The condition of the entry, and the values of every side on some rows. */
function read({ plan, evaluated }: ReturnType<typeof evaluatedOf>) {
  const conditions = plan.conditions.filter(({ role }) => role === 'trigger');
  const [node] = conditions;
  const { isTrue, isUnknown } = evaluated.condition(node.slot!);
  const rows = Int32Array.from({ length: 1000 }, (_, at) => (at < 5 ? at : at * 65));
  const values = conditions.flatMap(({ left, right }) => {
    if (left === null || right === null) return [];
    return [left, right].map((slot) => {
      const out = new Float64Array(rows.length);
      evaluated.readRows(slot, rows, out);
      return [...out];
    });
  });
  return { isTrue: [...isTrue], isUnknown: [...isUnknown], values };
}

/** The same with every column made first. */
function readColumns(condition: Json) {
  const made = evaluatedOf(condition);
  made.plan.steps.forEach((step, slot) => void (step.type === 'value' && made.evaluated.value(slot)));
  return read(made);
}

const crossUp = cross(sma(2), 'cross_up', sma(3));

const COMPARED: Record<string, Json> = {
  'a cross up': cross(sma(2), 'cross_up', sma(3)),
  'a cross down': cross(sma(2), 'cross_down', sma(3)),
  'a cross of either direction': cross(sma(3), 'cross_any', sma(2)),
  'greater and less': all(compare(sma(2), 'gt', sma(3)), compare(sma(2), 'lt', sma(3))),
};

describe('averages that are only compared', () => {
  it.each(Object.entries(COMPARED))('have no columns, and give what their columns give: %s', (_, condition) => {
    const compared = evaluatedOf(condition);
    const found = read(compared);
    expect(compared.store.bytes).toBeLessThan(8 * ROWS);
    expect(found).toEqual(readColumns(condition));
  });

  it.each(
    Object.entries({
      'another comparison': all(cross(sma(2), 'cross_up', sma(3)), compare(sma(2), 'gte', sma(3))),
      'a tolerance': compare(sma(2), 'gt', sma(3), { tolerance: 0.1 }),
      'averages of different prices': cross(sma(2), 'cross_up', sma(3, { source: market('open') })),
      'averages on a coarser timeframe': compare(
        sma(2, { timeframe: '4h', source: { kind: 'bars_since', when: crossUp } }),
        'lt',
        3,
      ),
      'averages whose rows take longer to compute again': all(
        cross(sma(2), 'cross_up', sma(50)),
        cross(sma(50), 'cross_down', sma(2)),
        compare(sma(2), 'lt', sma(50)),
        compare(sma(2), 'gt', sma(30)),
      ),
    }),
  )('have columns where those are needed: %s', (_, condition) => {
    const made = evaluatedOf(condition);
    expect(read(made)).toEqual(readColumns(condition));
    expect(made.store.bytes).toBeGreaterThan(16 * ROWS);
  });
});
