// The warnings that come with a result: one run that has each, and one that has none.
import { beforeAll, describe, expect, it } from 'vitest';
import type { ValidationIssue } from '../../../src/engine/language/issues/issues.ts';
import { CONFIG_WARNING_CODES } from '../../../src/engine/definitions/issueCodes.ts';
import { createMarket, runBacktest, type Market } from '../../../src/engine/index.ts';
import { astOf, compare, entry, exit, market, sma, type Json } from '../../support/builders.ts';
import { resample } from '../../../src/engine/bars/resample.ts';
import { openSnapshot } from '../../../src/engine/bars/arrow.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { randomColumns, randomSnapshot } from '../../support/bars.ts';
import { configOf, dailySnapshot, INSTRUMENT, SYMBOL } from '../../support/runs.ts';

let bars: Market;
beforeAll(() => {
  bars = createMarket([dailySnapshot(120)], SYMBOL, '1d');
});

const rising = compare(market(), 'gt', sma(5));
const strategyOf = (more: object = {}, trigger: Json = rising): Json =>
  astOf({ entry: entry(trigger), exits: [exit(compare(market(), 'lt', sma(5)))], ...more });

function warningsOf(strategyAst: Json, more: object = {}, on = bars): readonly ValidationIssue[] {
  const config = { ...configOf(), ...more };
  const outcome = runBacktest({ id: 'x', strategyAst, settings: {}, config, strategyHash: 'x' }, on, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.warnings;
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
    ['DIVIDENDS_UNUSED /config/dividends', () => strategyOf(), { dividends: [{ symbol: 'TSET', time: 0, amount: 1 }] }],
    ['DIVIDENDS_UNUSED /config/dividendColumn', () => strategyOf(), { dividendColumn: 'Dividends' }],
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

  describe('about finer bars that contradict the base bars', () => {
    /** 100 days, and their hours, of which those of the first `wrong` days are multiplied by 1.3. */
    function withHours(wrong: number): Market {
      const days = resample(openSnapshot(randomSnapshot({ symbol: SYMBOL, count: 2_400 })), '1d');
      const hours = randomColumns({ count: 2_400 });
      const column = (values: Float64Array) => values.map((value, row) => value * (row < 24 * wrong ? 1.3 : 1));
      const { open, high, low, close } = hours;
      const fine = { ...hours, open: column(open), high: column(high), low: column(low), close: column(close) };
      const about = { symbol: SYMBOL, instrument: INSTRUMENT };
      const snapshots = [
        makeSnapshot(days, { ...about, timeframe: '1d' }),
        makeSnapshot(fine, { ...about, timeframe: '1h' }),
      ];
      return createMarket(snapshots, SYMBOL, '1d');
    }
    const contradictions = (wrong: number, more: object = {}): readonly ValidationIssue[] =>
      warningsOf(strategyOf(), more, withHours(wrong)).filter(({ code }) => code === 'FINER_BARS_CONTRADICT');

    it('name the first bar, both values, the cause, and that the fallback settles them', () => {
      const [warning, ...others] = contradictions(7);
      expect(others).toEqual([]);
      expect(warning).toMatchObject({ path: '/config/timeframe', field: 'config', severity: 'warning' });
      expect(warning.message.replaceAll(/(is|reach) [\d.]*\d/g, '$1 N')).toBe(
        'The 1h bars contradict 7 of the 100 1d bars that they lie in. The first opens at 2024-01-01T00:00Z: its ' +
          'high is N, and the 1h bars inside it reach N. Likely cause: adjusted prices beside raw ones, 1h to 1d ' +
          'ratio 1.30. Of these, 7 are in the range. Contradicted bars are not drilled into: the fallback ' +
          '(pessimistic) settles those that are undecided.',
      );
      expect(warning.suggestion).toContain('both adjusted or both raw');
    });

    it('say that drilling is off when there are many of them', () => {
      const [{ message }] = contradictions(100, { ambiguityFallback: 'distance' });
      expect(message).toContain(
        ' That is too many: no bar of the series is drilled into, and the fallback (distance) ',
      );
    });

    it('are about the range, and about runs that would drill', () => {
      const later = { range: { start: '2024-02-01' } };
      expect(contradictions(0)).toEqual([]);
      expect(contradictions(7, later)).toEqual([]);
      expect(contradictions(20, later)).toHaveLength(1);
      expect(contradictions(100, { ambiguityResolution: 'pessimistic' })).toEqual([]);
    });
  });

  it('are all tested above', () => {
    const tested = new Set([...cases.map(([name]) => name.split(' ')[0]), 'FINER_BARS_CONTRADICT']);
    expect(CONFIG_WARNING_CODES.filter((code) => !tested.has(code))).toEqual([]);
  });
});
