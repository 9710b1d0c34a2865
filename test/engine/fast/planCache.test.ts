// The plan cache: a plan bound from it is the plan that is compiled for those values, and a batch is compiled once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/engine/config.ts';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { type StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import type { Param } from '../../../src/engine/language/grammar/ast.ts';
import { findIndicator } from '../../../src/engine/indicators/registry.ts';
import { findPattern } from '../../../src/engine/patterns/patternRegistry.ts';
import { expressionShapeOf, type Shape } from '../../../src/engine/language/grammar/shapes.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { PlanCache } from '../../../src/engine/fast/planTemplates/planCache.ts';
import type { BacktestTask } from '../../../src/engine/task.ts';
import { scaled } from '../../support/scale.ts';
import { strategyArbitrary } from '../../support/strategies.ts';

const OPTIONS = { slippageAtrPeriod: null, recordsConditions: true };

type Values = Readonly<Record<string, number | boolean | string>>;

const sma = (length: unknown) => ({ kind: 'indicator', indicator: 'sma', args: { length } });
const rsi = (length: unknown) => ({ kind: 'indicator', indicator: 'rsi', args: { length } });
const close = { kind: 'market', field: 'close' };
const quantile = (name: string, fraction: number) => ({
  kind: 'rolling',
  op: 'quantile',
  period: { param: name },
  quantile: fraction,
  source: close,
});
const param = (name: string) => ({ kind: 'param', name });
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 100 } };
const number = (name: string, value: number, more: Partial<Param> = {}): Param => ({
  name,
  type: 'float',
  default: value,
  ...more,
});

function strategyOf(params: readonly Param[], trigger: object, more: object = {}): StrategyAst {
  const entry = { kind: 'entry', trigger, action };
  const strategy = { kind: 'strategy', params, entry, exits: [], ...more };
  return { protocol: 'svc.strategy', version: 1, strategy } as unknown as StrategyAst;
}

const taskOf = (strategyAst: StrategyAst, params: Values): BacktestTask => ({
  id: 'run',
  strategyAst,
  settings: {},
  config: { timeframe: '1h', signalInstrument: { symbol: 'BASE' }, initialBalance: 1_000, params },
  strategyHash: 'hash',
});

function planned(cache: PlanCache, ast: StrategyAst, params: Values) {
  const task = taskOf(ast, params);
  return cache.plan(task, resolveConfig(task.config), OPTIONS);
}

/** Without the cache. */
function compiled(ast: StrategyAst, params: Values, symbol = 'BASE') {
  const { config, settings } = taskOf(ast, params);
  const prepared = prepareStrategy(ast, settings, resolveConfig(config), { timeframe: '1h' });
  if (!prepared.ok) return prepared;
  const { strategy, pointerOf } = prepared;
  const base = { symbol, timeframe: '1h' } as const;
  const options = { pointerOf, slippageAtrPeriod: null, recordsConditions: true };
  return { ok: true, strategy, plan: compilePlan(strategy, base, options) };
}

const crossing = strategyOf(
  [number('fast', 10, { type: 'int' }), number('slow', 30, { type: 'int' })],
  { kind: 'cross', op: 'cross_up', left: sma({ param: 'fast' }), right: sma({ param: 'slow' }) },
  {
    exits: [
      {
        kind: 'exit',
        when: { kind: 'cross', op: 'cross_down', left: sma({ param: 'fast' }), right: sma({ param: 'slow' }) },
      },
    ],
  },
);

describe('the plan cache', () => {
  it('compiles the first of the 500 variants of a batch, and once for all others', () => {
    const cache = new PlanCache();
    for (let run = 0; run < 500; run++) planned(cache, crossing, { fast: 2 + (run % 20), slow: 30 + run });
    expect(cache.compileCount).toBe(2);
  });

  it('forgets what was not read for long', () => {
    const cache = new PlanCache();
    const compiledFor = (warmupPeriod: number): number => {
      const before = cache.compileCount;
      const task = { ...taskOf(crossing, {}), settings: { warmupPeriod } };
      cache.plan(task, resolveConfig(task.config), OPTIONS);
      return cache.compileCount - before;
    };
    expect([compiledFor(1), compiledFor(1), compiledFor(2), compiledFor(2)]).toEqual([1, 1, 1, 1]);
    for (let other = 10; other < 40; other++) expect([compiledFor(1), compiledFor(other)]).toEqual([0, 1]);
    expect([compiledFor(1), compiledFor(2)]).toEqual([0, 1]);
  });

  it('compiles a strategy once for all instruments but those that it names', () => {
    const other = { kind: 'market', field: 'close', instrument: { symbol: 'OTHER' } };
    const ast = strategyOf([number('length', 10, { type: 'int' })], {
      kind: 'compare',
      op: 'gt',
      left: sma({ param: 'length' }),
      right: other,
    });
    const cache = new PlanCache();
    for (const symbol of ['A', 'B', 'C', 'OTHER', 'OTHER', 'D', 'OTHER']) {
      const task = taskOf(ast, { length: 20 });
      const config = resolveConfig({ ...task.config, signalInstrument: { symbol } });
      expect(cache.plan(task, config, OPTIONS)).toStrictEqual(compiled(ast, { length: 20 }, symbol));
    }
    expect(cache.compileCount).toBe(4);
  });

  it('shares what does not depend on the values', () => {
    const cache = new PlanCache();
    const filtered = strategyOf([number('slow', 30, { type: 'int' })], {
      kind: 'all',
      items: [
        { kind: 'compare', op: 'gt', left: sma(10), right: sma({ param: 'slow' }) },
        { kind: 'compare', op: 'lt', left: rsi(14), right: { kind: 'const', value: 70 } },
      ],
    });
    const [, one, other] = [10, 20, 30].map((slow) => planned(cache, filtered, { slow }));
    if (!one.ok || !other.ok) throw new Error('Both are valid.');
    const shared = one.plan.steps.filter((step, at) => step === other.plan.steps[at]).map(({ key }) => key);
    expect(shared).toEqual(expect.arrayContaining(['const 70', expect.stringMatching(/^rsi/)]));
    expect(shared).toHaveLength(5);
  });

  const COUNTS = {
    'equal expressions under some values': {
      ast: crossing,
      variants: [
        { fast: 10, slow: 30 },
        { fast: 20, slow: 20 },
        { fast: 5, slow: 9 },
      ],
    },
    'different values that are written alike': {
      ast: strategyOf([number('a', 5, { type: 'int' }), number('b', 9, { type: 'int' })], {
        kind: 'compare',
        op: 'gt',
        left: quantile('a', 0.2),
        right: quantile('b', 0.8),
      }),
      variants: [
        { a: 5, b: 9 },
        { a: 7, b: 7 },
      ],
    },
    'a number that is folded': {
      ast: strategyOf([number('x', 2), number('length', 5, { type: 'int' })], {
        kind: 'compare',
        op: 'gt',
        left: sma({ param: 'length' }),
        right: { kind: 'math', op: 'mul', args: [param('x'), { kind: 'const', value: 3 }] },
      }),
      variants: [
        { x: 2, length: 5 },
        { x: 2, length: 6 },
        { x: 7, length: 6 },
      ],
    },
    'zeros of both signs': {
      ast: strategyOf([number('x', 1)], { kind: 'compare', op: 'gt', left: sma(5), right: param('x') }),
      variants: [{ x: 1 }, { x: 0 }, { x: -0 }, { x: 0 }],
    },
    'an offset that may be 0': {
      ast: strategyOf([number('ago', 0, { type: 'int' })], {
        kind: 'compare',
        op: 'gt',
        left: { kind: 'market', field: 'close', offset: { param: 'ago' } },
        right: sma(10),
      }),
      variants: [{ ago: 0 }, { ago: 3 }, { ago: 0 }, { ago: 3 }],
    },
    'a stop that is no longer valid': {
      ast: strategyOf(
        [number('stop', 5)],
        { kind: 'rising', bars: 3, source: sma(5) },
        {
          risk: { stopLoss: { mode: 'percent', value: { param: 'stop' } } },
        },
      ),
      variants: [{ stop: 5 }, { stop: 150 }, { stop: 7 }],
    },
    'a length that is out of range, and a param that is not declared': {
      ast: crossing,
      variants: [
        { fast: 10, slow: 30 },
        { fast: 0, slow: 30 },
        { fast: 10, width: 3 },
      ],
    },
  } as const;
  it.each(Object.entries(COUNTS))('plans %s as without it', (_, { ast, variants }) => {
    const cache = new PlanCache();
    // From a plan of the first time, and from a template.
    for (const values of [...variants, ...variants]) expect(planned(cache, ast, values)).toEqual(compiled(ast, values));
  });

  it('shares what depends on one param with the runs that have the same number there', () => {
    const cache = new PlanCache();
    const stepsOf = (fast: number, slow: number) => {
      const found = planned(cache, crossing, { fast, slow });
      if (!found.ok) throw new Error(JSON.stringify(found.issues));
      return found.plan.steps;
    };
    const [, one, other] = [stepsOf(5, 29), stepsOf(5, 30), stepsOf(5, 31)];
    const isSame = one.map((step, at) => step === other[at]);
    expect(one.filter((_, at) => isSame[at]).map(({ key }) => key)).toEqual([
      expect.stringMatching(/^field/),
      expect.stringMatching(/^sma\(length=5\)/),
    ]);
  });

  it('binds the plan that is compiled for the same values, on generated strategies', () => {
    let bound = 0;
    const options = { timeframes: ['4h', '1d'], symbols: ['OTHER'] } as const;
    const draws = fc.infiniteStream(fc.integer({ min: 0, max: 99 }));
    fc.assert(
      fc.property(strategyArbitrary(options), draws, (plain, stream) => {
        const draw = () => stream.next().value as number;
        const { ast, variants } = parametrized(plain, draw);
        const cache = new PlanCache();
        for (const values of variants) planned(cache, ast, values);
        for (const values of variants) {
          const before = cache.compileCount;
          const found = planned(cache, ast, values);
          expect(found).toStrictEqual(compiled(ast, values));
          if (found.ok && cache.compileCount === before) bound++;
        }
      }),
      { numRuns: scaled(1_500), seed: 20_261_122 },
    );
    expect(bound).toBeGreaterThan(scaled(1_500));
  });
});

/** A strategy with params in the places of some of its numbers, and the values of a few variants. */
function parametrized(plain: StrategyAst, draw: () => number): { ast: StrategyAst; variants: Values[] } {
  const ast = structuredClone(plain);
  const params: Param[] = [...(ast.strategy.params ?? [])];
  const add = (value: number): string => {
    const name = `p${params.length}`;
    params.push({ name, type: 'float', default: value });
    return name;
  };
  for (const { owner, name, value } of numbersOf(ast.strategy)) if (draw() < 40) owner[name] = { param: add(value) };
  if (checkStrategy({ strategyAst: { ...ast, strategy: { ...ast.strategy, params } } }).compiled === null)
    return { ast: plain, variants: [{}, {}] };
  ast.strategy.params = params;
  const values = params.map((each) => each.default as number);
  // Up to three values are those of another param or larger: some become equal, and some are out of range.
  const changed = (): Values => {
    const variant = Object.fromEntries(params.map(({ name }, at) => [name, values[at]]));
    for (let change = draw() % 4; change > 0; change--) {
      const at = draw() % params.length;
      variant[params[at].name] = draw() < 10 ? values[draw() % params.length] : values[at] + 1 + (draw() % 3);
    }
    return variant;
  };
  return { ast, variants: Array.from({ length: 4 }, changed) };
}

interface NumberPlace {
  readonly owner: Record<string, unknown>;
  readonly name: string;
  readonly value: number;
}

/** The numbers of an AST in whose places a param may stand. */
function numbersOf(value: unknown, found: NumberPlace[] = []): NumberPlace[] {
  if (typeof value !== 'object' || value === null) return found;
  const owner = value as Record<string, unknown>;
  const shape = expressionShapeOf(owner.kind);
  for (const [name, member] of Object.entries(owner)) {
    if (name === 'params' || name === 'defaults' || name === 'meta') continue;
    if (typeof member !== 'number') {
      if (name === 'args' && !Array.isArray(member)) argsOf(owner, member as Record<string, unknown>, found);
      else numbersOf(member, found);
      continue;
    }
    const field = shape?.fields.get(name)?.shape;
    if (field === undefined ? !Array.isArray(value) : takesParam(field)) found.push({ owner, name, value: member });
  }
  return found;
}

function argsOf(owner: Record<string, unknown>, args: Record<string, unknown>, found: NumberPlace[]): void {
  const definition =
    owner.kind === 'pattern' ? findPattern(owner.name as string) : findIndicator(owner.indicator as string);
  for (const [name, value] of Object.entries(args)) {
    const type = definition?.args.find((arg) => arg.name === name)?.type;
    if (typeof value === 'number' && (type === 'int' || type === 'float')) found.push({ owner: args, name, value });
  }
}

const takesParam = (shape: Shape): boolean =>
  shape.type === 'either' && shape.options.some((option) => option.type === 'number');
