// The warnings that come with a result: one run that has each, and one that has none.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ValidationIssue } from '../../../src/engine/language/issues/issues.ts';
import { CONFIG_WARNING_CODES } from '../../../src/engine/language/grammar/issueCodes.ts';
import { createMarket, runBacktest, type Market } from '../../../src/engine/index.ts';
import { astOf, compare, entry, exit, market, sma, type Json } from '../../support/builders.ts';
import { configOf, dailySnapshot, SYMBOL } from '../../support/runs.ts';

let bars: Market;
beforeAll(() => {
  bars = createMarket([dailySnapshot(120)], SYMBOL, '1d');
});

const rising = compare(market(), 'gt', sma(5));
const strategyOf = (more: object = {}, trigger: Json = rising): Json =>
  astOf({ entry: entry(trigger), exits: [exit(compare(market(), 'lt', sma(5)))], ...more });

function warningsOf(strategyAst: Json, more: object = {}): readonly ValidationIssue[] {
  const config = { ...configOf(), ...more };
  const outcome = runBacktest({ id: 'x', strategyAst, settings: {}, config, strategyHash: 'x' }, bars, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.warnings as readonly ValidationIssue[];
}
const execution = (more: object): object => ({ execution: { ...configOf().execution, ...more } });
const found = (warnings: readonly ValidationIssue[]): string[] => warnings.map(({ code, path }) => `${code} ${path}`);

describe('the warnings of a result', () => {
  it('are none for a run with costs on what its author had in mind', () => {
    const defaults = { timeframe: '1d', instrument: { symbol: SYMBOL } };
    expect(warningsOf(strategyOf({ defaults }))).toEqual([]);
  });

  const big = { action: { side: 'long', sizing: { mode: 'fixed', value: 1e9 } } };
  const limit = {
    action: {
      side: 'long',
      sizing: { mode: 'fixed', value: 1 },
      order: { type: 'limit', price: market(), expireBars: 2 },
    },
  };
  const cases: [string, () => Json, object][] = [
    ['DEFAULTS_OVERRIDDEN /config/timeframe', () => strategyOf({ defaults: { timeframe: '4h' } }), {}],
    [
      'DEFAULTS_OVERRIDDEN /config/signalInstrument/symbol',
      () => strategyOf({ defaults: { instrument: { symbol: 'X' } } }),
      {},
    ],
    ['SIZING_UNAFFORDABLE /config/initialBalance', () => strategyOf({ entry: entry(rising, big) }), {}],
    ['MAKER_FILL_ASSUMED /config/execution/entryOrderRole', () => strategyOf(), execution({ entryOrderRole: 'maker' })],
    ['MAKER_FILL_ASSUMED /config/execution/exitOrderRole', () => strategyOf(), execution({ exitOrderRole: 'maker' })],
    ['COSTS_NOT_MODELED /config/execution', () => strategyOf(), { execution: undefined }],
    ['OPTIMISTIC_FILLS /config/ambiguityFallback', () => strategyOf(), { ambiguityFallback: 'optimistic' }],
    ['OPTIMISTIC_FILLS /config/ambiguityResolution', () => strategyOf(), { ambiguityResolution: 'optimistic' }],
    [
      'INTRADAY_WINDOW /config/timeframe',
      () => strategyOf({}, { kind: 'all', items: [rising, { kind: 'session', name: 'london' }] }),
      {},
    ],
  ];
  it.each(cases)('have %s where only that is wrong', (expected, strategy, config) => {
    const warnings = warningsOf(strategy(), config);
    expect(found(warnings)).toEqual([expected]);
    expect(warnings[0]).toMatchObject({ severity: 'warning', field: 'config' });
    expect(warnings[0].message).toMatch(/^\S.*\.$/);
    expect(warnings[0].suggestion).toMatch(/^[A-Z].*\.$/);
  });

  it('leave a maker role for limit entries alone', () => {
    const warnings = warningsOf(strategyOf({ entry: entry(rising, limit) }), execution({ entryOrderRole: 'maker' }));
    expect(found(warnings)).toEqual([]);
  });

  it('leave an optimistic fallback alone that another resolution leaves unread', () => {
    const config = { ambiguityResolution: 'pessimistic', ambiguityFallback: 'optimistic' };
    expect(found(warningsOf(strategyOf(), config))).toEqual([]);
  });

  it('are all tested above', () => {
    const tested = new Set(cases.map(([name]) => name.split(' ')[0]));
    expect(CONFIG_WARNING_CODES.filter((code) => !tested.has(code))).toEqual([]);
  });
});
