// Repairs of a config whose meaning is not certain: there is advice, and no patch.
import { describe, expect, it } from 'vitest';
import { checkConfigForm, CONFIG_EXAMPLE, prepareStrategy, type StrategyAst } from '../../src/engine/index.ts';
import { astOf, compare, entry, exit, market, sma } from '../support/builders.ts';

const execution = CONFIG_EXAMPLE.execution!;
const withFees = (feeModel: unknown) => ({ ...CONFIG_EXAMPLE, execution: { ...execution, feeModel } });
const tiers = (takerRate: unknown) => [{ minCumulativeNotional: 0, makerRate: 0, takerRate }];

describe('a config has no patch for', () => {
  it.each<[string, unknown]>([
    ['a rate that may be in percent', withFees(0.02)],
    ['a rate in percent or in bps', withFees({ kind: 'tiered_maker_taker', tiers: tiers(5) })],
    ['a model in percent', withFees({ kind: 'percent', tiers: tiers(0.05) })],
    ['a leverage beyond the most', { ...CONFIG_EXAMPLE, leverage: 5_000 }],
    ['a leverage of 0', { ...CONFIG_EXAMPLE, leverage: 0 }],
    ['a negative balance', { ...CONFIG_EXAMPLE, initialBalance: -5 }],
    ['a balance in German thousands', { ...CONFIG_EXAMPLE, initialBalance: '10.000' }],
  ])('%s', (_what, config) => {
    const { issues } = checkConfigForm(config);
    expect(issues[0].suggestion).toBeDefined();
    expect(issues.filter(({ patch }) => patch !== undefined)).toEqual([]);
  });

  it('rates that may be in percent, which are not written into tiers', () => {
    const { issues } = checkConfigForm(withFees({ makerRate: 0.01, takerRate: 0.02 }));
    expect(issues.flatMap(({ patch = [] }) => patch).filter(({ path }) => path.includes('tiers'))).toEqual([]);
  });
  it('a misspelling of a rate that is given already', () => {
    const tier = { minCumulativeNotional: 0, makerRate: 0.001, makerRat: 0.0001 };
    const { issues } = checkConfigForm(withFees({ kind: 'tiered_maker_taker', tiers: [tier] }));
    expect(issues.filter(({ patch }) => patch !== undefined)).toEqual([]);
  });
});

describe('a config has the patch of', () => {
  it.each<[string, unknown, unknown]>([
    [
      'a small rate',
      withFees(0.001),
      { kind: 'tiered_maker_taker', tiers: [{ ...tiers(0.001)[0], makerRate: 0.001 }] },
    ],
    [
      'fees per order without tiers',
      withFees({ perUnit: 0.005, minPerOrder: 1 }),
      { kind: 'tiered_maker_taker', tiers: tiers(0), perUnit: 0.005, minPerOrder: 1 },
    ],
    [
      'rates beside fees per order',
      withFees({ makerRate: 0, takerRate: 0.001, perOrder: 3 }),
      { kind: 'tiered_maker_taker', tiers: tiers(0.001), perOrder: 3 },
    ],
    ['a short name of the model', withFees({ kind: 'maker_taker', tiers: tiers(0.001) }), 'tiered_maker_taker'],
    ['a rate in percent', withFees({ kind: 'tiered_maker_taker', tiers: tiers(0.2) }), 0.002],
    ['a rate in percent as a text', withFees({ kind: 'tiered_maker_taker', tiers: tiers('0.1%') }), 0.001],
  ])('%s', (_what, config, value) => {
    const { issues } = checkConfigForm(config);
    expect(issues.map(({ patch }) => patch)).toEqual([[expect.objectContaining({ op: 'replace', value })]]);
  });
});

describe('an override of a rule that does not exist', () => {
  const ast = astOf({
    entry: entry(compare(market(), 'gt', sma(20))),
    exits: [exit(compare(market(), 'lt', 5))],
    risk: { takeProfits: [{ triggerPercent: 4, closePercent: 50 }] },
  }) as StrategyAst;
  const patchOf = (pointer: string) => {
    const prepared = prepareStrategy(ast, {}, { params: {}, overrides: { [pointer]: 3 } });
    return prepared.ok ? undefined : prepared.issues[0].patch;
  };
  it('has no patch: another rule is another meaning', () => {
    expect(patchOf('/strategy/risk/takeProfits/1/triggerPercent')).toBeUndefined();
  });
  it('has one where only the index of the first one is missing or too much', () => {
    expect(patchOf('/strategy/risk/takeProfits/triggerPercent')).toBeDefined();
    expect(patchOf('/strategy/entry/0/action/sizing/value')).toBeDefined();
  });
});
