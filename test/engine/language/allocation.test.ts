// Strategies with an allocation: their canonical form, their graph, params, overrides, plan, and the run they need.
import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../../src/engine/language/canonical/canonical.ts';
import { inferLookback } from '../../../src/engine/language/canonical/lookback.ts';
import { describeCapabilities } from '../../../src/engine/language/capabilities.ts';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import type { SignalGraph } from '../../../src/engine/language/grammar/graph.ts';
import { prepareStrategy, type Prepared } from '../../../src/engine/language/prepare/prepare.ts';
import { compilePlan } from '../../../src/engine/plan/compile.ts';
import { explainPlan } from '../../../src/engine/plan/explain.ts';
import { astOf, compare, constant, indicator, market, sma, type Json } from '../../support/builders.ts';

const roc = (length: Json): Json => indicator('roc', { length });
const uptrend = compare(
  market('close', { instrument: { symbol: 'SPX' } }),
  'gt',
  sma(200, { instrument: { symbol: 'SPX' } }),
);
const allocated = (allocation: object, more: object = {}): Json =>
  astOf({ allocation: { kind: 'allocation', when: uptrend, ...allocation }, ...more });
const momentum = allocated({ long: { by: roc(252), top: 3 } });

const issuesOf = (strategyAst: Json): string[] =>
  checkStrategy({ strategyAst }).issues.map(({ code, path }) => `${code} ${path}`);
function prepared(ast: Json, inputs: object = {}, context: object = {}): Extract<Prepared, { ok: true }> {
  const answer = prepareStrategy(ast as StrategyAst, {}, inputs, context);
  if (!answer.ok) throw new Error(JSON.stringify(answer.issues));
  return answer;
}
const hashOf = (ast: Json): string => checkStrategy({ strategyAst: ast }).compiled!.strategyHash;

describe('the language of allocations', () => {
  it('takes every member of the page', () => {
    const leg = { by: roc(252), where: uptrend, require: compare(roc(60), 'gt', 0), keepWithin: 5 };
    const whole = allocated({
      long: { ...leg, top: 3 },
      short: { ...leg, bottomPercent: 20 },
      weights: { mode: 'inverse', by: indicator('atr', { length: 20 }), maxPercent: 40, grossPercent: 150 },
      fallback: 'BND',
      bandPercent: 5,
    });
    expect(issuesOf(whole)).toEqual([]);
    for (const weights of [
      { mode: 'equal', grossPercent: indicator('rsi', { length: 14 }, { instrument: { symbol: 'SPX' } }) },
      { mode: 'proportional', by: market('volume') },
      { mode: 'fixed', values: { SPY: 60, BND: 40 } },
    ])
      expect(issuesOf(allocated({ long: {}, weights }))).toEqual([]);
    expect(
      issuesOf(
        allocated({ long: {} }, { risk: { stopLoss: { mode: 'percent', value: 8 }, timeStop: { maxBars: 99 } } }),
      ),
    ).toEqual([]);
  });

  it('can say the rotations that portfolios are for', () => {
    const monthEnd = { kind: 'schedule', every: 'month', on: 'last' };
    const change = { kind: 'percent_change', bars: 1, source: market() };
    const dualMomentum = { when: monthEnd, long: { by: roc(252), top: 1, require: compare(roc(252), 'gt', 0) } };
    const inverseVolatility = {
      when: monthEnd,
      long: {},
      weights: { mode: 'inverse', by: { kind: 'rolling', op: 'std', period: 63, source: change }, maxPercent: 40 },
    };
    for (const rotation of [dualMomentum, { ...dualMomentum, fallback: 'BND' }, inverseVolatility])
      expect(issuesOf(allocated(rotation))).toEqual([]);
    const math = (op: string, ...args: Json[]): Json => ({ kind: 'math', op, args });
    const log = (more: object = {}): Json => math('log', market('close', more));
    const ofPair = math('sub', math('mul', constant(2), log()), log({ instrument: { symbol: 'A' } }));
    // +z on A and -z on B.
    const spread = math('sub', ofPair, log({ instrument: { symbol: 'B' } }));
    const z = { kind: 'rolling', op: 'zscore', period: 60, source: spread };
    const action = (side: string) => ({ side, sizing: { mode: 'equal_slots' } });
    const pair = astOf({
      entry: [
        { kind: 'entry', trigger: compare(z, 'lt', -2), action: action('long') },
        { kind: 'entry', trigger: compare(z, 'gt', 2), action: action('short') },
      ],
      exits: [
        { kind: 'exit', when: compare(z, 'gt', 0), appliesTo: 'long' },
        { kind: 'exit', when: compare(z, 'lt', 0), appliesTo: 'short' },
      ],
    });
    expect(issuesOf(pair)).toEqual([]);
  });

  it('writes out every default in the canonical form, which is its own', () => {
    const canonical = canonicalize(momentum);
    expect(canonical.strategy).toMatchObject({
      allocation: { weights: { mode: 'equal', grossPercent: 100 }, bandPercent: 0, long: { top: 3 } },
      risk: { takeProfits: [] },
    });
    expect(Object.keys(canonical.strategy)).toEqual(['kind', 'allocation', 'risk']);
    expect(canonicalize(canonical)).toEqual(canonical);
  });

  it('hashes what an allocation does, not its names or the order of its weights', () => {
    const fixed = (values: object): Json => allocated({ long: {}, weights: { mode: 'fixed', values } });
    expect(hashOf(fixed({ SPY: 60, BND: 40 }))).toBe(hashOf(fixed({ BND: 40, SPY: 60 })));
    expect(hashOf(fixed({ SPY: 60, BND: 40 }))).not.toBe(hashOf(fixed({ SPY: 40, BND: 60 })));
    const named = structuredClone(momentum);
    named.strategy.allocation.label = 'Momentum';
    named.strategy.allocation.weights = { mode: 'equal' };
    expect(hashOf(named)).toBe(hashOf(momentum));
    const larger = structuredClone(momentum);
    larger.strategy.allocation.long.top = 4;
    expect(hashOf(larger)).not.toBe(hashOf(momentum));
  });

  it('lowers a graph to the AST that means the same', () => {
    const signalGraph: Json = {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [
        { id: 'spx', kind: 'market', field: 'close', instrument: { symbol: 'SPX' } },
        { id: 'average', kind: 'indicator', indicator: 'sma', args: { length: 200 }, instrument: { symbol: 'SPX' } },
        { id: 'uptrend', kind: 'compare', op: 'gt', left: { ref: 'spx' }, right: { ref: 'average' } },
        { id: 'strength', kind: 'indicator', indicator: 'roc', args: { length: 252 } },
        { id: 'gross', kind: 'const', value: 80 },
      ],
      strategy: {
        kind: 'strategy',
        allocation: {
          kind: 'allocation',
          when: { ref: 'uptrend' },
          long: { by: { ref: 'strength' }, top: 3, require: { ref: 'uptrend' } },
          weights: { mode: 'inverse', by: { ref: 'strength' }, grossPercent: { ref: 'gross' } },
        },
      },
    };
    const strategyAst = allocated({
      long: { by: roc(252), top: 3, require: uptrend },
      weights: { mode: 'inverse', by: roc(252), grossPercent: constant(80) },
    });
    expect(checkStrategy({ signalGraph, strategyAst }).issues).toEqual([]);
    const compiled = checkStrategy({ signalGraph }).compiled!;
    expect(compiled.strategyHash).toBe(hashOf(strategyAst));
    const high = { overrides: { '/signalGraph/strategy/allocation/long/top': 5 } };
    expect(
      prepared(compiled.strategyAst, high, { signalGraph: signalGraph as SignalGraph }).strategy.allocation,
    ).toMatchObject({ long: { top: 5 } });
    signalGraph.strategy.allocation.weights.grossPercent = 80;
    expect(checkStrategy({ signalGraph }).issues.map(({ code, path }) => [code, path])).toEqual([
      ['UNUSED_NODE', '/signalGraph/nodes/4'],
    ]);
    signalGraph.strategy.allocation.weights.grossPercent = { ref: 'nowhere' };
    expect(checkStrategy({ signalGraph }).issues).toMatchObject([
      { code: 'REF_NOT_FOUND', path: '/signalGraph/strategy/allocation/weights/grossPercent/ref' },
    ]);
  });

  it('puts params and overrides in the place of every number', () => {
    const params = ['n', 'm', 'share', 'cap', 'gross', 'band'].map((name, at) => ({
      name,
      type: 'int',
      default: at + 1,
    }));
    const p = (param: string): Json => ({ param });
    const swept = allocated(
      {
        long: { by: roc(p('m')), top: p('n'), keepWithin: p('m') },
        weights: {
          mode: 'fixed',
          values: { SPY: p('share'), BND: 40 },
          maxPercent: p('cap'),
          grossPercent: p('gross'),
        },
        bandPercent: p('band'),
      },
      { params },
    );
    expect(issuesOf(swept)).toEqual([]);
    expect(prepared(swept, { params: { n: 2, m: 7, share: 55 } }).strategy.allocation).toMatchObject({
      long: { by: { args: { length: 7 } }, top: 2, keepWithin: 7 },
      weights: { values: { SPY: 55, BND: 40 }, maxPercent: 4, grossPercent: 5 },
      bandPercent: 6,
    });
    const path = '/strategyAst/strategy/allocation/weights/values/BND';
    expect(prepared(swept, { overrides: { [path]: 30 } }).strategy.allocation).toMatchObject({
      weights: { values: { BND: 30 } },
    });
    const wrong = prepareStrategy(swept as StrategyAst, {}, { params: { n: 5 } });
    expect(wrong).toMatchObject({
      ok: false,
      issues: [{ code: 'ALLOCATION_INVALID', path: '/strategyAst/strategy/allocation/long/keepWithin' }],
    });
  });

  it('offers both ways to count the places that keepWithin needs', () => {
    const refused = prepareStrategy(allocated({ long: { by: roc(60), keepWithin: 2 } }) as StrategyAst, {}, {});
    expect(refused).toMatchObject({
      ok: false,
      issues: [{ suggestion: 'Give top or topPercent, or remove keepWithin.' }],
    });
  });

  it('counts the lookback of every part', () => {
    const lookback = (allocation: object): number => inferLookback(prepared(allocated(allocation)).strategy, '1d');
    expect(lookback({ long: { by: roc(252), top: 1 } })).toBe(252);
    expect(lookback({ long: { where: compare(sma(300), 'gt', 1) } })).toBe(299);
    expect(lookback({ long: {}, weights: { mode: 'inverse', by: roc(400) } })).toBe(400);
    expect(lookback({ long: {}, weights: { mode: 'equal', grossPercent: roc(500) } })).toBe(500);
  });

  it('explains the slots that an allocation reads', () => {
    const { strategy, pointerOf } = prepared(
      allocated({ long: { by: roc(252), top: 3, require: uptrend }, short: {} }),
    );
    const plan = compilePlan(
      strategy,
      { symbol: 'A', timeframe: '1d' },
      { pointerOf, slippageAtrPeriod: null, recordsConditions: true },
    );
    const { allocation } = plan;
    expect(allocation).toMatchObject({
      id: '/strategyAst/strategy/allocation',
      weightBy: null,
      gross: { kind: 'constant', value: 100 },
    });
    const by = (allocation!.long!.by as { slot: number }).slot;
    expect(explainPlan(plan, 'A')).toContain(
      `allocation /strategyAst/strategy/allocation: when #${allocation!.when}; long by #${by}, ` +
        `require #${allocation!.when}; short all; gross 100 %`,
    );
  });

  it('lists the weight modes, and says that an allocation stands in place of entries', () => {
    const { enums, strategyAst } = describeCapabilities();
    expect(enums.weightModes).toEqual(['equal', 'inverse', 'proportional', 'fixed']);
    expect(strategyAst.sections.find(({ name }) => name === 'entry')).toMatchObject({
      required: true,
      requiredUnless: 'allocation',
    });
    expect(strategyAst.sections.find(({ name }) => name === 'allocation')).toMatchObject({ required: false });
  });
});

describe('an allocation and the instruments of its run', () => {
  const fixed = allocated({ long: {}, weights: { mode: 'fixed', values: { SPY: 60, BND: 40 } }, fallback: 'GLD' });
  const issues = (instruments: readonly string[] | null): Json[] => {
    const answer = prepareStrategy(fixed as StrategyAst, {}, {}, { instruments });
    return answer.ok ? [] : [...answer.issues];
  };

  it('is refused in a run of one instrument, with the way out', () => {
    expect(issues(null)).toMatchObject([
      {
        code: 'ALLOCATION_INVALID',
        path: '/config/signalInstrument',
        suggestion: expect.stringContaining('"instruments"') as string,
      },
    ]);
  });

  it('is told of the instrument that was mistyped, and of none that is another one', () => {
    const suggestionFor = (fallback: string, instruments: readonly string[]): string => {
      const ast = allocated({ long: {}, fallback });
      const answer = prepareStrategy(ast as StrategyAst, {}, {}, { instruments });
      return answer.ok ? '' : answer.issues[0].suggestion!;
    };
    expect(suggestionFor('SPYY', ['SPY', 'EFA'])).toMatch(/^Did you mean "SPY"\?/);
    expect(suggestionFor('spy', ['SPY', 'EFA'])).toMatch(/^Did you mean "SPY"\?/);
    expect(suggestionFor('BTCUSD', ['BTCUSDT', 'EFA'])).toMatch(/^Did you mean "BTCUSDT"\?/);
    // Each is an instrument of its own.
    for (const [given, other] of [
      ['SHY', 'SPY'],
      ['BNDX', 'BND'],
      ['LTCUSDT', 'BTCUSDT'],
      ['IEF', 'EEM'],
    ])
      expect(suggestionFor(given, [other, 'EFA'])).toMatch(
        new RegExp(`^Add it to config\\.instruments(; the fallback is not ranked)?\\. Or use one of ${other}, EFA\\.$`),
      );
  });

  it('says of a fallback that it is added to the instruments, and not ranked', () => {
    const [, { suggestion }] = issues(['SPY', 'QQQ']);
    expect(suggestion).toBe('Add it to config.instruments; the fallback is not ranked. Or use one of SPY, QQQ.');
  });

  it('may name only instruments of the run', () => {
    expect(issues(['SPY', 'BND', 'GLD'])).toEqual([]);
    expect(issues(['SPY', 'QQQ']).map(({ path }: { path: string }) => path)).toEqual([
      '/strategyAst/strategy/allocation/weights/values/BND',
      '/strategyAst/strategy/allocation/fallback',
    ]);
  });
});
