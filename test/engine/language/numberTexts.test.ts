// Numbers as text: thousands, currencies and units that authors write, and where their number is certain.
import { describe, expect, it } from 'vitest';
import { checkConfigForm, checkStrategy } from '../../../src/engine/index.ts';
import { above, strategyOf, type Json } from './strategyBodies.ts';

const CONFIG = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
const costs = (value: unknown, makerRate: unknown): Json => ({
  feeModel: {
    kind: 'tiered_maker_taker',
    tiers: [{ minCumulativeNotional: 0, makerRate, takerRate: 0.001 }],
  },
  slippage: { kind: 'fixed', unit: 'bps', value },
});

describe('the number is the patch', () => {
  it.each<[string, Json, number]>([
    ['10,000', { initialBalance: '10,000' }, 10_000],
    ['1,000,000.50', { initialBalance: '1,000,000.50' }, 1_000_000.5],
    ['10_000', { initialBalance: '10_000' }, 10_000],
    ['10 000', { initialBalance: '10 000' }, 10_000],
    ["10'000", { initialBalance: "10'000" }, 10_000],
    ['$10,000', { initialBalance: '$10,000' }, 10_000],
    ['10000 USDT', { initialBalance: '10000 USDT' }, 10_000],
    ['2.5k', { initialBalance: '2.5k' }, 2_500],
    ['10x', { leverage: '10x' }, 10],
    ['1:10', { leverage: '1:10' }, 10],
    ['1 bps of slippage', { execution: costs('1 bps', 0.001) }, 1],
    ['10 bps of fees', { execution: costs(1, '10bps') }, 0.001],
    ['0,1% of fees', { execution: costs(1, '0,1%') }, 0.001],
  ])('%s', (_what, members, value) => {
    const { issues } = checkConfigForm({ ...CONFIG, ...members });
    const [{ path, code, suggestion }] = issues;
    expect(issues).toEqual([expect.objectContaining({ patch: [{ op: 'replace', path, value }] })]);
    expect(code).toBe('TYPE_MISMATCH');
    expect(suggestion).toContain(`Write ${value}`);
  });

  it('in a strategy', () => {
    const sized = (value: string): Json => ({
      entry: {
        kind: 'entry',
        trigger: { ...above, right: { kind: 'const', value: '10,000' } },
        action: { side: 'long', sizing: { mode: 'fixed_cash', value } },
      },
    });
    const { issues } = checkStrategy(strategyOf(above, sized('$5,000')));
    expect(issues.map(({ patch = [] }) => patch.map((step) => 'value' in step && step.value))).toEqual([
      [10_000],
      [5_000],
    ]);
  });
});

describe('the number is not certain, so that there is advice and no patch', () => {
  it.each<[string, Json, string]>([
    ['a decimal comma', { initialBalance: '1,5' }, 'Write 1.5, with a decimal point, if that is meant.'],
    ['a decimal comma after zero', { fundingRate: '0,125' }, 'Write 0.125, with a decimal point'],
    ['a letter that may be thousands or millions', { initialBalance: '1M' }, 'Write the number alone'],
    ['a separator of decimals and of thousands', { initialBalance: '10.000,00' }, 'Write the number alone'],
    ['a currency in place of a rate', { fundingRate: '$1' }, 'Write the number alone'],
  ])('%s', (_what, members, advice) => {
    const { issues } = checkConfigForm({ ...CONFIG, ...members });
    expect(issues).toEqual([expect.objectContaining({ suggestion: expect.stringContaining(advice) as string })]);
    expect(issues[0].patch).toBeUndefined();
  });
});
