// The config of a backtest: times as people write them, costs that nobody gave, and the one resolved form that is
// hashed.
import { describe, expect, it } from 'vitest';
import {
  BacktestConfig,
  checkConfigForm,
  CONFIG_EXAMPLE,
  configIssues,
  createMarket,
  resolveConfig,
  runBacktest,
  strategyHash,
} from '../../src/engine/index.ts';
import { randomSnapshot } from '../support/bars.ts';
import * as write from '../support/builders.ts';

const MINIMAL = { timeframe: '1h', signalInstrument: { symbol: 'TEST' }, initialBalance: 10_000 } as const;
const parse = (more: object): BacktestConfig => BacktestConfig.parse({ ...MINIMAL, ...more });
const market = createMarket([randomSnapshot({ count: 48 })], 'TEST', '1h');

/** @param sizing with a stop one per mille away. */
function run(more: object, sizing: object = { mode: 'fixed', value: 1 }) {
  const strategyAst = write.astOf({
    entry: write.entry(write.compare(write.market(), 'gt', 0), { action: { side: 'long', sizing } }),
    risk: { stopLoss: { mode: 'percent', value: 0.1 } },
  });
  const task = {
    id: 'config',
    strategyAst,
    settings: {},
    strategyHash: strategyHash(strategyAst, {}),
    config: parse(more),
  };
  const outcome = runBacktest(task, market, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome;
}

describe('a warning', () => {
  const warned = (code: string, config: object, sizing?: object) =>
    run(config, sizing).warnings.filter((warning) => warning.code === code);

  it('of optimistic fills points at the member that makes them so, and is left out if that member is not read', () => {
    const pathsOf = (config: object) => warned('OPTIMISTIC_FILLS', config).map(({ path }) => path);
    expect(pathsOf({ ambiguityFallback: 'optimistic' })).toEqual(['/config/ambiguityFallback']);
    expect(pathsOf({ ambiguityResolution: 'optimistic' })).toEqual(['/config/ambiguityResolution']);
    expect(pathsOf({ ambiguityResolution: 'pessimistic', ambiguityFallback: 'optimistic' })).toEqual([]);
  });

  it('of a size that the balance cannot pay gives the advice of the diagnosis', () => {
    const sizing = { mode: 'risk_percent', value: 1 };
    const [{ suggestion }] = warned('SIZING_UNAFFORDABLE', {}, sizing);
    const { strategyTrace } = run({}, sizing).summary;
    expect(strategyTrace!.diagnosis[0]).toMatchObject({ code: 'REJECTED_BALANCE', suggestion });
    expect(suggestion).toContain('a larger initialBalance does not help');
  });
});

describe('the form', () => {
  it('moves a member of the config out of its execution, unless the config has it as well', () => {
    const execution = { ...CONFIG_EXAMPLE.execution, leverage: 2 };
    const path = '/config/execution/leverage';
    const { issues } = checkConfigForm({ ...MINIMAL, execution });
    const patch = [{ op: 'move', from: path, path: '/config/leverage' }];
    expect(issues).toEqual([expect.objectContaining({ code: 'UNKNOWN_FIELD', path, patch })]);
    const both = checkConfigForm({ ...MINIMAL, leverage: 3, execution }).issues;
    expect(both).toEqual([expect.objectContaining({ code: 'UNKNOWN_FIELD', path })]);
    expect(both[0].patch).toBeUndefined();
  });
});

describe('a percent as text', () => {
  it.each<[string, object]>([
    ['the rates of a tier', { tiers: [{ minCumulativeNotional: 0, makerRate: '0.02%', takerRate: '0.1 %' }] }],
    ['the rates of a fee model without tiers', { maker: '0.02%', taker: '0.1 %' }],
  ])('is the fraction that it means in %s', (_what, feeModel) => {
    const execution = { feeModel: { kind: 'tiered_maker_taker', ...feeModel }, slippage: { kind: 'none' } };
    const { repaired, issues } = checkConfigForm({ ...MINIMAL, execution });
    expect(issues.every(({ patch }) => patch !== undefined)).toBe(true);
    expect(repaired!.execution!.feeModel.tiers).toEqual([
      { minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.001 },
    ]);
  });

  it('is one rate for both roles in place of a fee model, and as a commission beside the costs', () => {
    const slippage = { kind: 'none' };
    for (const costs of [{ execution: { feeModel: '0.1%', slippage } }, { commission: '0.1%', slippage }]) {
      const { repaired } = checkConfigForm({ ...MINIMAL, ...costs });
      expect(repaired!.execution!.feeModel.tiers[0]).toMatchObject({ makerRate: 0.001, takerRate: 0.001 });
    }
  });
});

it('a setting of the strategy in a config is said to belong there', () => {
  expect(checkConfigForm({ ...MINIMAL, warmupPeriod: 30 }).issues).toEqual([
    expect.objectContaining({ suggestion: 'Remove it, and set it in the settings of the strategy.' }),
  ]);
});

describe('a range', () => {
  it.each([
    ['2024-01-01', Date.UTC(2024, 0, 1)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2024-01-01T09:30Z', Date.UTC(2024, 0, 1, 9, 30)],
    ['2024-01-01T09:30:15.250Z', Date.UTC(2024, 0, 1, 9, 30, 15, 250)],
    ['2024-01-01T09:30:00-05:00', Date.UTC(2024, 0, 1, 14, 30)],
    [1_704_067_200_000, Date.UTC(2024, 0, 1)],
    [1_704_067_200, Date.UTC(2024, 0, 1)],
  ])('takes %j as the millisecond %d', (start, ms) => {
    expect(resolveConfig(parse({ range: { start } })).range).toEqual({ start: ms, end: null });
  });

  it.each(['2023-02-29', '2024-01-01T09:30', '2024-13-01', 'today', '', 9e15, 1.5])(
    'is rejected when its start is %j',
    (start) => {
      expect(BacktestConfig.safeParse({ ...MINIMAL, range: { start } }).success).toBe(false);
    },
  );

  it('gives the same hashes however it is written', () => {
    const written = run({ range: { start: '2024-01-01T06:00:00Z', end: '2024-01-02' } });
    const counted = run({ range: { start: Date.UTC(2024, 0, 1, 6), end: Date.UTC(2024, 0, 2) } });
    expect(written.reproducibility).toEqual(counted.reproducibility);
    expect(written.resolvedConfig.range).toEqual({ start: Date.UTC(2024, 0, 1, 6), end: Date.UTC(2024, 0, 2) });
  });

  it('is an error that says so when it is empty or backwards', () => {
    const messageOf = (start: string, end: string): unknown =>
      configIssues(parse({ range: { start, end } }))[0]?.message;
    expect(messageOf('2024-01-01', '2024-01-01')).toBe(
      'The range is empty: it starts and ends at 2024-01-01T00:00:00.000Z.',
    );
    expect(messageOf('2024-01-02', '2024-01-01')).toBe(
      'The range ends (2024-01-01T00:00:00.000Z) before it starts (2024-01-02T00:00:00.000Z).',
    );
    expect(configIssues(parse({ range: { start: '2024-01-01', end: '2024-01-02' } }))).toEqual([]);
  });
});

describe('costs', () => {
  const tiers = [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0 }];
  const feeModel = { kind: 'tiered_maker_taker', tiers };
  const codes = (more: object): unknown[] => run(more).warnings.map((warning) => warning.code);

  it('are zero when left out, with a warning', () => {
    const { resolvedConfig, summary } = run({});
    expect(resolvedConfig.execution).toMatchObject({ feeModel, slippage: { kind: 'none' }, orderTiming: 'next_open' });
    expect(summary).toMatchObject({ totalFees: 0 });
    expect(codes({})).toContain('COSTS_NOT_MODELED');
  });

  it('are an error where the least fee of an order is above the greatest', () => {
    const execution = { feeModel: { ...feeModel, minPerOrder: 5, maxPerOrder: 2 }, slippage: { kind: 'none' } };
    expect(configIssues(parse({ execution }))).toMatchObject([
      { code: 'FEE_LIMITS_INVALID', path: '/config/execution/feeModel/minPerOrder' },
    ]);
  });

  it('give the same run, and so the same warning, when the zeros are written out', () => {
    const zeros = { execution: { feeModel, slippage: { kind: 'none' } } };
    expect(run(zeros).reproducibility).toEqual(run({}).reproducibility);
    expect(codes(zeros)).toEqual(codes({}));
  });

  it.each([
    ['a fee', { feeModel: { ...feeModel, tiers: [{ ...tiers[0], takerRate: 0.001 }] }, slippage: { kind: 'none' } }],
    ['a fee per unit', { feeModel: { ...feeModel, perUnit: 0.005 }, slippage: { kind: 'none' } }],
    ['slippage', { feeModel, slippage: { kind: 'fixed', unit: 'bps', value: 1 } }],
    [
      'slippage by volatility',
      { feeModel, slippage: { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: 0.1 } },
    ],
  ])('with %s are not warned about', (_, execution) => {
    expect(codes({ execution })).not.toContain('COSTS_NOT_MODELED');
  });
});
