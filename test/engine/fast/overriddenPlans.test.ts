// Plans of runs with overrides: bound from the cache, they are the plans that are compiled for the overridden payload.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/engine/config.ts';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { locate } from '../../../src/engine/language/issues/locate.ts';
import { pointerTo } from '../../../src/engine/language/pointer.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { PlanCache } from '../../../src/engine/fast/planTemplates/planCache.ts';
import type { BacktestTask } from '../../../src/engine/task.ts';
import { graphOf } from '../../support/graphs.ts';
import { scaled } from '../../support/scale.ts';
import { strategyArbitrary } from '../../support/strategies.ts';

const OPTIONS = { slippageAtrPeriod: null, recordsConditions: true };

type Numbers = Readonly<Record<string, number>>;
type Task = Pick<BacktestTask, 'strategyAst' | 'signalGraph' | 'settings'>;

const sma = (length: number) => ({ kind: 'indicator', indicator: 'sma', args: { length } });
const close = { kind: 'market', field: 'close' };
const compare = (left: object, value: number) => ({ kind: 'compare', op: 'gt', left, right: { kind: 'const', value } });
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };

function taskOf(trigger: object, more: object = {}): Task {
  const strategy = { kind: 'strategy', entry: { kind: 'entry', trigger, action }, exits: [], ...more };
  return checked({ strategyAst: { protocol: 'svc.strategy', version: 1, strategy } });
}

function checked(payload: Pick<Task, 'signalGraph'> | { readonly strategyAst: object }): Task {
  const { compiled, issues } = checkStrategy(payload);
  if (compiled === null) throw new Error(JSON.stringify(issues));
  return { ...payload, strategyAst: compiled.strategyAst, settings: {} };
}

const configOf = (overrides: Numbers) =>
  resolveConfig({ timeframe: '1h', signalInstrument: { symbol: 'BASE' }, initialBalance: 1_000, overrides });

/** Without the cache. */
function compiled({ strategyAst, signalGraph, settings }: Task, overrides: Numbers) {
  const context = { timeframe: '1h', ...(signalGraph && { signalGraph }) } as const;
  const prepared = prepareStrategy(strategyAst, settings, configOf(overrides), context);
  if (!prepared.ok) return prepared;
  const { strategy, pointerOf } = prepared;
  const base = { symbol: 'BASE', timeframe: '1h' } as const;
  const options = { pointerOf, slippageAtrPeriod: null, recordsConditions: true };
  return { ok: true, strategy, plan: compilePlan(strategy, base, options) };
}

/** Plans each variant a few times, and gives how many of the last ones came from a template. */
function plansAsCompiled(task: Task, variants: readonly Numbers[]): number {
  const cache = new PlanCache();
  const planned = (overrides: Numbers) => cache.plan(task, configOf(overrides), OPTIONS);
  for (const overrides of [...variants, ...variants, ...variants]) planned(overrides);
  let bound = 0;
  for (const overrides of variants) {
    const before = cache.compileCount;
    const found = planned(overrides);
    expect(found).toStrictEqual(compiled(task, overrides));
    if (found.ok && cache.compileCount === before) bound++;
  }
  return bound;
}

const [FAST, SLOW] = ['left', 'right'].map((side) => `/strategyAst/strategy/entry/trigger/${side}/args/length`);
const [EXIT_FAST, EXIT_SLOW] = ['left', 'right'].map((side) => `/strategy/exits/0/when/${side}/args/length`);
const cross = (op: string, fast: number, slow: number) => ({ kind: 'cross', op, left: sma(fast), right: sma(slow) });
const crossing = taskOf(cross('cross_up', 10, 30), { exits: [{ kind: 'exit', when: cross('cross_down', 10, 30) }] });

describe('the plans of overridden strategies', () => {
  it('are compiled for the first runs that override the same places, and once for all others', () => {
    const cache = new PlanCache();
    for (let run = 0; run < 100; run++) {
      const [fast, slow] = [2 + (run % 20), 30 + run];
      const numbers = { [FAST]: fast, [SLOW]: slow, [EXIT_FAST]: fast, [EXIT_SLOW]: slow };
      expect(cache.plan(crossing, configOf(numbers), OPTIONS).ok).toBe(true);
    }
    expect(cache.compileCount).toBe(3);
  });

  const graph = {
    signalGraph: {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [
        { ...sma(5), id: 'fast' },
        { ...sma(9), id: 'unused' },
        { ...compare(close, 0), id: 'up', left: { ref: 'fast' }, right: { const: 30 } },
      ],
      strategy: { kind: 'strategy', entry: { kind: 'entry', trigger: { ref: 'up' }, action }, exits: [] },
    },
  } as unknown as Pick<Task, 'signalGraph'>;
  const sequence = {
    kind: 'sequence',
    steps: [{ expr: compare(close, 1) }, { expr: compare(close, 2), minBars: 2, maxBars: 5 }],
  };
  const THRESHOLDS = [0, 1].map((item) => `/strategy/entry/trigger/items/${item}/right/value`);
  const CASES: Readonly<Record<string, readonly [Task, readonly Numbers[], number]>> = {
    'that become equal to each other and to those of another rule': [
      crossing,
      [
        { [FAST]: 5, [SLOW]: 20 },
        { [FAST]: 5, [SLOW]: 30 },
        { [FAST]: 20, [SLOW]: 20 },
      ],
      2,
    ],
    'out of range, and of no number': [
      crossing,
      [{ [FAST]: 5 }, { [FAST]: 0 }, { [FAST]: 5.5 }, { '/strategy/x': 1 }],
      1,
    ],
    'named by two pointers': [crossing, [{ [FAST]: 5, [FAST.replace('/strategyAst', '')]: 5 }], 0],
    'with zeros of both signs': [
      taskOf({ kind: 'all', items: [compare(sma(5), 3), compare(sma(6), 3)] }),
      [{ [THRESHOLDS[0]]: 1 }, { [THRESHOLDS[0]]: -0 }, { [THRESHOLDS[0]]: 0, [THRESHOLDS[1]]: -0 }],
      2,
    ],
    'of a graph, also of a node without use': [
      checked(graph),
      [
        { '/signalGraph/nodes/0/args/length': 7, '/signalGraph/nodes/2/right/const': 3 },
        { '/signalGraph/nodes/0/args/length': 7, '/signalGraph/nodes/1/args/length': 7 },
        { '/signalGraph/nodes/0/args/length': 0, '/signalGraph/nodes/1/args/length': 0 },
        { '/strategyAst/strategy/entry/trigger/left/args/length': 7 },
      ],
      1,
    ],
    'of a step whose bounds no longer agree': [
      taskOf(sequence),
      [{ '/strategy/entry/trigger/steps/1/minBars': 3 }, { '/strategy/entry/trigger/steps/1/minBars': 9 }],
      0,
    ],
    'in the defaults, and in what an author notes': [
      taskOf({ ...compare(sma(5), 3), meta: { note: { number: 1 } } }, { defaults: { warmupBars: 3 } }),
      [{ '/strategy/defaults/warmupBars': 9 }, { '/strategy/entry/trigger/meta/note/number': 2 }],
      0,
    ],
    'of a stop that is no longer valid': [
      taskOf(compare(sma(5), 3), { risk: { stopLoss: { mode: 'percent', value: 5 } } }),
      [{ '/strategy/risk/stopLoss/value': 7 }, { '/strategy/risk/stopLoss/value': 150 }],
      1,
    ],
  };
  it.each(Object.entries(CASES))('are those compiled for numbers %s', (_, [task, variants, bound]) => {
    expect(plansAsCompiled(task, variants)).toBe(bound);
  });

  it('are not those of nodes with the same id that differ in their numbers', () => {
    const same = { ...compare(close, 1), id: 'same' };
    const task = taskOf({ kind: 'all', items: [same, structuredClone(same)] });
    const numbers = (first: number, second: number): Numbers => ({
      '/strategy/entry/trigger/items/0/right/value': first,
      '/strategy/entry/trigger/items/1/right/value': second,
    });
    expect(plansAsCompiled(task, [numbers(2, 2), numbers(2, 3), numbers(4, 5), numbers(6, 6)])).toBe(2);
  });

  it('take no param from a config for an override', () => {
    const cache = new PlanCache();
    const config = { ...configOf({ [FAST]: 5 }), params: { 'override 0': 7 } };
    for (let run = 0; run < 3; run++)
      expect(cache.plan(crossing, config, OPTIONS)).toMatchObject({ ok: false, issues: [{ code: 'PARAM_UNDEFINED' }] });
  });

  it.each(['strategyAst', 'signalGraph'] as const)('are those compiled for any numbers of a generated %s', (member) => {
    let bound = 0;
    const draws = fc.infiniteStream(fc.integer({ min: 0, max: 99 }));
    fc.assert(
      fc.property(strategyArbitrary({ timeframes: ['4h', '1d'], symbols: ['OTHER'] }), draws, (plain, stream) => {
        const draw = () => stream.next().value as number;
        const task = checked(member === 'strategyAst' ? { strategyAst: plain } : { signalGraph: graphOf(plain) });
        bound += plansAsCompiled(task, variantsOf(numbersIn(task[member]!, `/${member}`), draw));
      }),
      { numRuns: scaled(400), seed: 20_261_123 },
    );
    expect(bound).toBeGreaterThan(scaled(200));
  });
});

/** All numbers of a payload by their pointers, whatever they are there for. */
function numbersIn(payload: object, root: string): [string, number][] {
  return [...locate(payload, root)].flatMap(([owner, place]) =>
    Object.entries(owner).flatMap(([name, value]): [string, number][] =>
      typeof value === 'number' ? [[pointerTo(place, name), value]] : [],
    ),
  );
}

/** The same few places with other numbers: near those that stand there, equal to each other, or out of range. */
function variantsOf(numbers: readonly [string, number][], draw: () => number): Numbers[] {
  const chosen = Array.from({ length: 1 + (draw() % 3) }, () => numbers[draw() % numbers.length]);
  return Array.from({ length: 3 }, () =>
    Object.fromEntries(
      chosen.map(([pointer, value]) => {
        const other = numbers[draw() % numbers.length][1];
        return [pointer, draw() < 10 ? other : draw() < 3 ? -value : value + 1 + (draw() % 3)];
      }),
    ),
  );
}
