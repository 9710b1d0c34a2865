// Plans of portfolios: the rank of an entry, sizes that need slots, and nodes that name an instrument of the list.
import { describe, expect, it } from 'vitest';
import type { BacktestConfig, StrategyAst } from '../../../src/engine/index.ts';
import { checkStrategy, explainStrategy, resolveConfig } from '../../../src/engine/index.ts';
import { estimateTask } from '../../../src/engine/estimateBacktest.ts';
import { planTask } from '../../../src/engine/plan/planTask.ts';
import { astOf, compare, constant, entry, indicator, market, strategy, type Json } from '../../support/builders.ts';

const COMMON = { timeframe: '1d', initialBalance: 10_000 } as const;
const PORTFOLIO: BacktestConfig = { ...COMMON, instruments: [{ symbol: 'A' }, { symbol: 'B' }] };
const state = (field: string): Json => ({ kind: 'state', field });
const rising = compare(market(), 'gt', 0);
const ranked = (rank: Json, sizing: Json = { mode: 'fixed', value: 1 }) =>
  strategy(undefined, { entry: entry(rising, { rank, action: { side: 'long', sizing } }) }) as unknown as StrategyAst;
const planOf = (strategyAst: StrategyAst, config: BacktestConfig) =>
  planTask({ strategyAst, settings: {} }, resolveConfig(config), false);
const printed = (ast: StrategyAst): string => {
  const explained = explainStrategy(ast, {}, { symbol: 'A', timeframe: '1d' });
  if (!explained.ok) throw new Error(JSON.stringify(explained.issues));
  return explained.explanation.plan;
};

describe('the plan of a portfolio', () => {
  const explained = (base: { timeframe?: '1d' }): string => {
    const answer = explainStrategy(ranked(constant(3)), {}, { instruments: ['A', 'B'], ...base });
    if (!answer.ok) throw new Error(JSON.stringify(answer.issues));
    return answer.explanation.plan;
  };

  it('is on bars of each instrument, and says where no timeframe was named', () => {
    expect(explained({ timeframe: '1d' })).toMatch(/^Plan on 1d bars of each instrument: \d+ steps$/m);
    expect(explained({ timeframe: '1d' })).not.toContain('No timeframe');
    expect(explained({})).toMatch(
      /^No timeframe is named, so that 1h bars stand .*\nPlan on 1h bars of each instrument: \d+ steps$/m,
    );
  });
});

describe('the rank of an entry', () => {
  it('is a value that checks, plans and explains name in its place', () => {
    const ast = ranked(indicator('roc', { length: 20 }));
    expect(checkStrategy({ strategyAst: ast }).issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(printed(ast)).toMatch(/^entry 0 .*: #\d+, ranked by #\d+$/m);
    expect(printed(ranked(constant(3)))).toContain(', ranked by 3\n');
    expect(printed(ranked(state('account_equity')))).toContain(', ranked in the loop by account_equity\n');
  });

  it('is reported at its place when it is a condition', () => {
    const { issues } = checkStrategy({ strategyAst: ranked(rising) });
    expect(issues.map(({ path }) => path)).toContain('/strategyAst/strategy/entry/rank');
  });

  it('is a reference in a graph', () => {
    const signalGraph = {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [
        { id: 'close', kind: 'market', field: 'close' },
        { id: 'zero', kind: 'const', value: 0 },
        { id: 'up', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { ref: 'zero' } },
        { id: 'roc', kind: 'indicator', indicator: 'roc', args: { length: 20 } },
      ],
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: { ref: 'up' },
          rank: { ref: 'roc' },
          action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
        },
      },
    };
    const { compiled, issues } = checkStrategy({ signalGraph });
    expect(issues.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(compiled?.strategyAst.strategy.entry).toMatchObject({ rank: { kind: 'indicator', indicator: 'roc' } });
  });
});

describe('a size by slots', () => {
  const bySlots = ranked(constant(1), { mode: 'equal_slots' });

  it('is refused without slots, at acceptance and at the run, however often it was planned with them', () => {
    const withSlots = { ...PORTFOLIO, portfolio: { slots: 3 } };
    for (const config of [PORTFOLIO, withSlots, withSlots, PORTFOLIO, PORTFOLIO]) {
      const isRight = config.portfolio !== undefined;
      expect(planOf(bySlots, config).ok).toBe(isRight);
      const estimated = estimateTask({ strategyAst: bySlots, settings: {}, config });
      expect(estimated.ok).toBe(isRight);
      if (estimated.ok) continue;
      expect(estimated.issues).toMatchObject([
        { code: 'SIZING_INVALID', path: '/config/portfolio/slots', field: 'config', severity: 'error' },
      ]);
      expect(estimated.issues[0].message).toContain('equal_slots');
      expect(estimated.issues[0].suggestion).toContain('"portfolio": {"slots": 10}');
    }
  });

  it('takes no value', () => {
    const { issues } = checkStrategy({ strategyAst: ranked(constant(1), { mode: 'equal_slots', value: 5 }) });
    expect(issues.map(({ code, path }) => `${code} ${path}`)).toContain(
      'UNKNOWN_FIELD /strategyAst/strategy/entry/action/sizing/value',
    );
  });
});

describe('an allocation', () => {
  it('refuses slots and links, which would do nothing', () => {
    const allocation = { kind: 'allocation', when: rising, long: {} };
    const ast = astOf({ allocation }) as unknown as StrategyAst;
    expect(planOf(ast, PORTFOLIO)).toMatchObject({ ok: true });
    const planned = planOf(ast, { ...PORTFOLIO, portfolio: { slots: 3 } });
    expect(planned.ok).toBe(false);
    expect(planned.ok || planned.issues).toMatchObject([
      { code: 'ALLOCATION_INVALID', path: '/config/portfolio', field: 'config', severity: 'error' },
    ]);
  });
});

describe('the plan of a portfolio', () => {
  it('reads a named instrument as another series, of the instruments of the list too', () => {
    const onA = { kind: 'market', field: 'close', instrument: { symbol: 'A' } };
    const ast = strategy(compare(market(), 'gt', onA)) as unknown as StrategyAst;
    const framesOf = (config: BacktestConfig) => {
      const planned = planOf(ast, config);
      if (!planned.ok) throw new Error(JSON.stringify(planned.issues));
      return planned.plan.frames.map(({ symbol }) => symbol);
    };
    expect(framesOf(PORTFOLIO)).toEqual(['A']);
    expect(framesOf({ ...COMMON, signalInstrument: { symbol: 'A' } })).toEqual([]);
  });

  it('refuses state of a named instrument', () => {
    const ofA = { ...state('position_size'), instrument: { symbol: 'A' } };
    const planned = planOf(strategy(compare(ofA, 'lt', 1)), PORTFOLIO);
    expect(planned).toMatchObject({ ok: false, issues: [{ path: expect.stringContaining('/instrument/symbol') }] });
    if (!planned.ok) expect(planned.issues[0].message).toContain('each instrument');
  });
});
