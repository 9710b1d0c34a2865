// Cross sections against a slow reference written from their definition: universes with holes, late starts, missing
// values and ties.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bars, Market, Universe } from '../../../src/engine/bars/bars.ts';
import { calendarOf } from '../../../src/engine/bars/runCalendar.ts';
import { ownValueOperation } from '../../../src/engine/definitions/expressions/expressionRegistry.ts';
import type { ComparedInstrument, OperandColumns } from '../../../src/engine/definitions/expressions/planSteps.ts';
import { checkStrategy, prepareStrategy, runBacktest, type StrategyAst } from '../../../src/engine/index.ts';
import { ColumnStore } from '../../../src/engine/evaluate/columnStore.ts';
import { EvaluatedPlan, RunStopped } from '../../../src/engine/evaluate/evaluatePlan.ts';
import { evaluateUniverse } from '../../../src/engine/evaluate/evaluatedUniverse.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { CROSS_SECTION_OPS, type CrossSectionOp } from '../../../src/engine/kernels/crossSection.ts';
import { START } from '../../support/bars.ts';
import { compare, market as field, strategy, type Json } from '../../support/builders.ts';

const HOUR = 3_600_000;
/** One instrument: the hours at which it has a bar, and its value there; NaN: missing. */
type Column = ReadonlyMap<number, number>;

const section = (op: string, source: Json, more: object = {}): Json => ({ kind: 'cross_section', op, source, ...more });
/** The imported column that has the values. */
const model: Json = { kind: 'series', name: 'model' };
const isPositive = compare(model, 'gt', 0);

function marketOf(symbol: string, column: Column): Market {
  const hours = [...column.keys()].sort((a, b) => a - b);
  const prices = Float64Array.from(hours, () => 100);
  const base: Bars = {
    symbol,
    timeframe: '1h',
    length: hours.length,
    time: Float64Array.from(hours, (hour) => START + hour * HOUR),
    open: prices,
    high: prices,
    low: prices,
    close: prices,
    volume: prices,
    series: new Map([['model', Float64Array.from(hours, (hour) => column.get(hour)!)]]),
    sha256: JSON.stringify([...column]),
    isResampled: false,
    partialBars: 0,
  };
  const instrument = {
    symbol,
    base: null,
    quote: null,
    tickSize: null,
    qtyStep: 0,
    minNotional: 0,
    tradesAllDay: true,
    synthetic: true,
  };
  return { base, instrument, fine: undefined, bars: () => undefined };
}
const universeOf = (columns: ReadonlyMap<string, Column>): Universe => ({
  instruments: [...columns].map(([symbol, column]) => marketOf(symbol, column)),
});

/** The plan of a strategy that reads a value, and the slot of that value. */
function planOf(value: Json): { readonly plan: Plan; readonly slot: number } {
  const ast = strategy(compare({ ...value, id: 'it' }, 'gt', 0), { exits: [] }) as unknown as StrategyAst;
  const prepared = prepareStrategy(ast, {});
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  const options = { pointerOf: () => '', slippageAtrPeriod: null, recordsConditions: true };
  const plan = compilePlan(prepared.strategy, { symbol: '', timeframe: '1h' }, options);
  return { plan, slot: plan.named.find(({ nodeId }) => nodeId === 'it')!.slot };
}

const store = (): ColumnStore => new ColumnStore(1 << 24);

/** The values of each instrument, by hour. */
function evaluated(value: Json, columns: ReadonlyMap<string, Column>, keptIn = store()): Map<string, number>[] {
  const { plan, slot } = planOf(value);
  const universe = universeOf(columns);
  return evaluateUniverse(plan, universe, keptIn, null, undefined).map((each, index) => {
    const { time } = universe.instruments[index].base;
    const { values } = each.value(slot);
    return new Map([...time].map((at, row) => [String((at - START) / HOUR), values[row]]));
  });
}

/** What the definition says, instrument by instrument and hour by hour. */
function expected(op: CrossSectionOp, columns: ReadonlyMap<string, Column>, isFiltered: boolean, minCount: number) {
  const list = [...columns.values()];
  const valueAt = (index: number, hour: number): number => list[index].get(hour) ?? NaN;
  return list.map((own, index) => {
    const answers = [...own.keys()].map((hour): [string, number] => {
      const inside = list
        .map((_, other) => other)
        .filter((other) => !Number.isNaN(valueAt(other, hour)))
        .filter((other) => !isFiltered || valueAt(other, hour) > 0);
      if (inside.length < minCount) return [String(hour), NaN];
      const values = inside.map((other) => valueAt(other, hour));
      const sum = values.reduce((total, one) => total + one, 0);
      const mean = sum / values.length;
      const sorted = values.toSorted((a, b) => a - b);
      const middle = (sorted.length - 1) / 2;
      const trues = values.filter((one) => one > 0).length;
      const of: Partial<Record<CrossSectionOp, number>> = {
        mean,
        median: (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2,
        min: Math.min(...values),
        max: Math.max(...values),
        count: values.length,
        share: (100 * trues) / values.length,
      };
      if (of[op] !== undefined) return [String(hour), of[op]];
      if (!inside.includes(index)) return [String(hour), NaN];
      const x = valueAt(index, hour);
      const less = values.filter((one) => one < x).length;
      const equal = values.filter((one) => one === x).length;
      if (op === 'percentile') return [String(hour), (100 * (less + (equal + 1) / 2 - 0.5)) / values.length];
      if (op === 'rank') {
        const before = inside.filter((other) => other < index && valueAt(other, hour) === x).length;
        return [String(hour), values.length - less - equal + before + 1];
      }
      const variance = values.reduce((total, one) => total + (one - mean) ** 2, 0) / (values.length - 1);
      return [String(hour), variance > 0 ? (x - mean) / Math.sqrt(variance) : 0];
    });
    return new Map(answers);
  });
}

/** Few different values, so that there are ties; hours that are left out are holes, late starts and early ends. */
const column = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constant(NaN))), {
    minLength: 1,
    maxLength: 30,
  })
  .map((cells): Column => new Map(cells.toSorted(([a], [b]) => a - b)));
const universe = fc
  .array(column, { minLength: 1, maxLength: 7 })
  .chain((columns) =>
    fc
      .shuffledSubarray(['D', 'A', 'C', 'B', 'G', 'E', 'F'], { minLength: columns.length, maxLength: columns.length })
      .map((symbols) => new Map(symbols.map((symbol, at) => [symbol, columns[at]]))),
  );

function expectClose(found: readonly Map<string, number>[], wanted: readonly Map<string, number>[]): void {
  expect(found.map((one) => [...one.keys()])).toEqual(wanted.map((one) => [...one.keys()]));
  found.forEach((one, index) => {
    for (const [hour, value] of one) {
      const right = wanted[index].get(hour)!;
      if (Number.isNaN(right)) expect(value, `${index} at ${hour}`).toBeNaN();
      else expect(value, `${index} at ${hour}`).toBeCloseTo(right, 10);
    }
  });
}

describe('a cross section', () => {
  it.each(CROSS_SECTION_OPS)('%s is its definition on any universe', (op) => {
    fc.assert(
      fc.property(universe, fc.boolean(), fc.integer({ min: 2, max: 4 }), (columns, isFiltered, minCount) => {
        const source = op === 'share' ? isPositive : model;
        const value = section(op, source, { minCount, ...(isFiltered && { where: isPositive }) });
        expectClose(evaluated(value, columns), expected(op, columns, isFiltered, minCount));
      }),
      { numRuns: 150, seed: 34 },
    );
  });

  it('counts the instruments on which a condition is true', () => {
    fc.assert(
      fc.property(universe, (columns) => {
        const counted = evaluated(section('count', isPositive), columns);
        const shares = expected('share', columns, false, 2);
        const known = expected('count', columns, false, 2);
        expectClose(
          counted,
          shares.map(
            (one, at) => new Map([...one].map(([hour, share]) => [hour, (share * known[at].get(hour)!) / 100])),
          ),
        );
      }),
      { numRuns: 100, seed: 34 },
    );
  });

  it('over a cross section is the cross section of its values', () => {
    fc.assert(
      fc.property(universe, fc.constantFrom('rank', 'percentile', 'zscore', 'mean'), (columns, op) => {
        const inner = evaluated(section(op, model), columns);
        const asColumns = new Map(
          [...columns.keys()].map((symbol, at) => [
            symbol,
            new Map([...inner[at]].map(([hour, value]) => [Number(hour), value])),
          ]),
        );
        const nested = evaluated(section('rank', section(op, model)), columns);
        expect(nested).toEqual(evaluated(section('rank', model), asColumns));
      }),
      { numRuns: 100, seed: 34 },
    );
  });

  it('does not depend on the order of the list, apart from ranks of equal values', () => {
    fc.assert(
      fc.property(universe, fc.constantFrom('percentile', 'zscore', 'mean', 'median', 'count'), (columns, op) => {
        const backwards = new Map([...columns].toReversed());
        const value = section(op, model);
        expect(evaluated(value, backwards).toReversed()).toEqual(evaluated(value, columns));
      }),
      { numRuns: 100, seed: 34 },
    );
  });

  it('kept from one universe is never read by another, in any order of their runs', () => {
    fc.assert(
      fc.property(fc.array(universe, { minLength: 2, maxLength: 4 }), (universes) => {
        const kept = store();
        // A part of each universe shares its first instrument with the whole.
        for (const columns of universes.flatMap((one) => [one, new Map([...one].slice(0, 2)), one]))
          for (const value of [section('rank', model), { kind: 'shift', offset: 1, source: section('mean', model) }])
            expect(evaluated(value, columns, kept)).toEqual(evaluated(value, columns));
      }),
      { numRuns: 60, seed: 34 },
    );
  });

  it('is missing in a single run, whose columns no universe reads', () => {
    const columns = new Map([
      ['A', new Map([[0, 1]])],
      ['B', new Map([[0, 2]])],
    ]);
    const { plan, slot } = planOf(section('rank', model));
    const kept = store();
    const [only] = universeOf(columns).instruments;
    const alone = new EvaluatedPlan(plan, only, kept);
    expect([...alone.value(slot).values]).toEqual([NaN]);
    expect(evaluated(section('rank', model), columns, kept).map((one) => one.get('0'))).toEqual([2, 1]);
  });
});

describe('a cross section in a strategy', () => {
  const issuesOf = (value: Json) =>
    checkStrategy({ strategyAst: strategy(compare(value, 'gt', 0), { exits: [] }) })
      .issues.filter(({ severity }) => severity === 'error')
      .map(({ code, path }) => `${code} ${path.replace('/strategyAst/strategy/entry/trigger/left', '')}`);

  it.each([
    ['a value for breadth', section('share', model), ['TYPE_MISMATCH /source']],
    ['a condition for a rank', section('rank', isPositive), ['TYPE_MISMATCH /source']],
    ['state', section('rank', { kind: 'state', field: 'account_equity' }), ['NOT_AVAILABLE_YET /source']],
    [
      'state below',
      section('count', compare({ kind: 'state', field: 'position_size' }, 'gt', 0)),
      ['NOT_AVAILABLE_YET /source'],
    ],
    ['too few instruments', section('rank', model, { minCount: 1 }), ['OUT_OF_RANGE /minCount']],
    ['an unknown operation', section('best', model), ['UNKNOWN_OPERATOR /op']],
    ['no source', { kind: 'cross_section', op: 'rank' }, ['MISSING_FIELD /source']],
    ['a value to count', section('count', model, { where: isPositive }), []],
    ['a condition to count', section('count', isPositive), []],
    ['a nested rank', section('rank', section('zscore', model), { minCount: 3 }), []],
  ])('that has %s is answered at its place', (_what, value, issues) => {
    expect(issuesOf(value)).toEqual(issues);
  });

  it('warns in a run of one instrument', () => {
    const strategyAst = strategy(compare(section('rank', field()), 'lte', 3), { exits: [] }) as unknown as StrategyAst;
    const market = marketOf('A', new Map(Array.from({ length: 50 }, (_, hour) => [hour, hour])));
    const config = { timeframe: '1h', signalInstrument: { symbol: 'A' }, initialBalance: 1_000 } as const;
    const run = runBacktest({ id: 'one', strategyAst, settings: {}, config, strategyHash: '' }, market, null);
    if (!run.ok) throw new Error(run.error.message);
    expect(run.warnings.map(({ code }) => code)).toContain('CROSS_SECTION_OF_ONE');
    expect(run.trades).toEqual([]);
  });

  it('stops while it compares when the run is stopped', () => {
    const rows = 50_000;
    const numbers = new Float64Array(rows);
    const operands: OperandColumns = {
      values: () => numbers,
      truths: () => ({ isTrue: new Uint32Array(rows), isUnknown: new Uint32Array(rows) }),
      count: 1,
      times: numbers,
      timeframe: '1d',
      instrument: { tradesAllDay: true },
      calendar: calendarOf(marketOf('A', new Map())),
      rows,
    };
    const instants = Int32Array.from(numbers, (_, row) => row);
    const instruments = Array.from({ length: 20 }, (_, at): ComparedInstrument => {
      return { symbol: `S${at}`, operands, instants, out: new Float64Array(rows).fill(-1) };
    });
    let polls = 0;
    const stopAtThird = (): void => {
      if (++polls === 3) throw new RunStopped('stopped');
    };
    const step = { op: 'cross_section', section: 'count', minCount: 2, isCondition: false };
    const operation = ownValueOperation('cross_section')!;
    expect(() => operation.acrossInstruments!(step, instruments, rows, stopAtThird)).toThrow(RunStopped);
    for (const { out } of instruments) expect([out[0], out.at(-1)]).toEqual([20, -1]);
  });

  it('takes a reference to a node of either type in a graph', () => {
    const graphOf = (op: string, ref: string) => ({
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [
        { id: 'close', kind: 'market', field: 'close' },
        { id: 'up', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { const: 1 } },
        { id: 'section', kind: 'cross_section', op, source: { ref } },
        { id: 'few', kind: 'compare', op: 'lte', left: { ref: 'section' }, right: { const: 50 } },
      ],
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: { ref: 'few' },
          action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
        },
      },
    });
    const errorsOf = (op: string, ref: string) =>
      checkStrategy({ signalGraph: graphOf(op, ref) })
        .issues.filter(({ severity }) => severity === 'error')
        .map(({ code }) => code);
    expect([errorsOf('rank', 'close'), errorsOf('share', 'up'), errorsOf('share', 'close')]).toEqual([
      [],
      [],
      ['TYPE_MISMATCH'],
    ]);
  });
});
