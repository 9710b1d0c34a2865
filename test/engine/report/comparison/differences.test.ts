// What differs between runs: settings by place, positions that only one of them took, and warnings that say why numbers
// cannot be compared.
import { describe, expect, it } from 'vitest';
import { resolveConfig, type BacktestConfig } from '../../../../src/engine/config.ts';
import { comparisonWarnings, type ComparableRun } from '../../../../src/engine/report/comparison/comparability.ts';
import {
  matchPositions,
  PositionList,
  type ComparedPositions,
} from '../../../../src/engine/report/comparison/matchedPositions.ts';
import { settingDifferences } from '../../../../src/engine/report/comparison/settingDifferences.ts';
import { diceOf } from '../../../support/dice.ts';

describe('settings that differ', () => {
  const average = (length: number) => ({ kind: 'indicator', indicator: 'sma', args: { length } });
  const run = (length: number, more: object = {}) => ({
    strategy: { entry: [{ trigger: { kind: 'compare', left: average(length), right: { kind: 'const', value: 1 } } }] },
    config: { timeframe: '1d', execution: { feeModel: { tiers: [{ takerRate: 0.001 }] } }, params: {}, ...more },
  });

  it('are listed by place, in words and with the value of each run, and equal ones are not', () => {
    expect(settingDifferences([run(10), run(20, { params: { fast: 3 } }), run(10)])).toEqual({
      omitted: 0,
      settings: [
        {
          path: '/strategy/entry/0/trigger/left/args/length',
          text: 'strategy: entry 1, trigger, left (sma), args, length',
          values: [10, 20, 10],
        },
        { path: '/config/params/fast', text: 'config: params, fast', values: [null, 3, null] },
      ],
    });
    expect(settingDifferences([run(10), run(10)]).settings).toEqual([]);
  });

  it('are whole objects where these are of different kinds, and whole lists of different lengths', () => {
    const other = { strategy: { entry: [{ trigger: { kind: 'not', item: true } }] }, config: run(10).config };
    const [trigger] = settingDifferences([run(10), other]).settings;
    expect([trigger.path, trigger.text]).toEqual(['/strategy/entry/0/trigger', 'strategy: entry 1, trigger']);
    expect(trigger.values[1]).toEqual({ kind: 'not', item: true });
    const tiers = [{ takerRate: 0.001 }, { takerRate: 0.0005 }];
    const cheaper = run(10, { execution: { feeModel: { tiers } } });
    expect(settingDifferences([run(10), cheaper]).settings).toEqual([
      {
        path: '/config/execution/feeModel/tiers',
        text: 'config: execution, fee model, tiers',
        values: [[{ takerRate: 0.001 }], tiers],
      },
    ]);
  });

  it('are bounded in number and length, whatever the members are called', () => {
    const many = (value: number) => Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`p${index}`, value]));
    const { settings, omitted } = settingDifferences([{ params: many(1) }, { params: many(2) }]);
    expect([settings.length, omitted]).toEqual([100, 50]);
    const long = settingDifferences([{ note: 'x'.repeat(9_000) }, { constructor: { list: Array(3_000).fill(1) } }]);
    expect(long.settings.map(({ path, values }) => [path, JSON.stringify(values).length < 220])).toEqual([
      ['/note', true],
      ['/constructor', true],
    ]);
  });
});

interface Fill {
  readonly positionId: number;
  readonly entryTime: number;
  readonly exitTime?: number;
  readonly pnl?: number;
  readonly side?: string;
  readonly symbol?: string;
}
const listOf = (fills: readonly Fill[], start = 0, end = 1_000): ComparedPositions => {
  const list = new PositionList('SPX');
  const rows = fills.map(({ positionId, entryTime, exitTime = 10, pnl = 1, side = 'long', symbol }) => {
    const row = {
      positionId,
      side,
      entryTime,
      entryPrice: 5,
      quantity: 2,
      exitTime,
      exitPrice: 6,
      pnl,
      exitReason: 'stop',
    };
    return symbol === undefined ? row : { symbol, ...row };
  });
  // In two parts, as long results are decoded.
  list.add(rows.slice(0, 1));
  list.add(rows.slice(1));
  return { positions: list.positions, window: { start, end } };
};

describe('matched positions', () => {
  it('are of the same instrument, side and entry, with all their closing fills', () => {
    const a = listOf([
      { positionId: 1, entryTime: 1, exitTime: 4, pnl: 1 },
      { positionId: 1, entryTime: 1, exitTime: 7, pnl: 2 },
      { positionId: 2, entryTime: 2 },
      { positionId: 3, entryTime: 3, side: 'short' },
    ]);
    const b = listOf([
      { positionId: 9, entryTime: 1, exitTime: 7, pnl: 3, symbol: 'SPX' },
      { positionId: 8, entryTime: 2, exitTime: 11 },
      { positionId: 7, entryTime: 3, side: 'long' },
      { positionId: 6, entryTime: 3, side: 'short', symbol: 'NASDAQ', pnl: -4 },
    ]);
    const { both, changed, onlyA, onlyB } = matchPositions(a, b, 1);
    expect([both, changed]).toEqual([2, 1]);
    expect([onlyA.count, onlyA.pnl, onlyA.rows.map(({ side }) => side)]).toEqual([1, 1, ['short']]);
    expect([onlyB.count, onlyB.pnl, onlyB.rows.length]).toEqual([2, -3, 1]);
    expect(matchPositions(a, a, 9)).toMatchObject({ both: 3, changed: 0, onlyA: { rows: [] }, onlyB: { rows: [] } });
    expect(a.positions[0]).toMatchObject({ quantity: 4, pnl: 3, exitTime: 7 });
  });

  it('are counted apart where the other run had no bars', () => {
    const a = listOf([1, 2, 3, 4].map((entryTime) => ({ positionId: entryTime, entryTime })));
    const { onlyA } = matchPositions(a, listOf([], 2, 4), 9);
    expect([onlyA.count, onlyA.outsidePeriod]).toEqual([4, 2]);
    expect(matchPositions(a, { positions: [], window: null }, 9).onlyA.outsidePeriod).toBe(4);
  });

  it('are as many as a count of equal entries says', () => {
    const dice = diceOf(5);
    const draw = () =>
      listOf(
        Array.from({ length: 300 }, (_, positionId) => ({
          positionId,
          entryTime: dice.whole(0, 40),
          side: dice.pick(['long', 'short']),
          symbol: dice.pick(['A', 'B']),
        })),
      );
    const [a, b] = [draw(), draw()];
    const countOf = ({ positions }: ComparedPositions, key: string) =>
      positions.filter(({ symbol, side, entryTime }) => `${symbol}${side}${entryTime}` === key).length;
    const keys = new Set(a.positions.map(({ symbol, side, entryTime }) => `${symbol}${side}${entryTime}`));
    const both = [...keys].reduce((sum, key) => sum + Math.min(countOf(a, key), countOf(b, key)), 0);
    const matched = matchPositions(a, b, 0);
    expect([matched.both, matched.onlyA.count, matched.onlyB.count]).toEqual([both, 300 - both, 300 - both]);
    const reversed = matchPositions(b, a, 0);
    expect([reversed.both, reversed.changed]).toEqual([matched.both, matched.changed]);
  });
});

describe('warnings of a comparison', () => {
  const CONFIG: BacktestConfig = { timeframe: '1d', signalInstrument: { symbol: 'SPX' }, initialBalance: 10_000 };
  const RUN: ComparableRun = {
    symbols: ['SPX'],
    config: resolveConfig(CONFIG),
    window: { start: 0, end: 86_400_000 },
    periodsPerYear: 252,
    currency: 'USD',
    engineVersion: '1.9.0',
    dataHash: 'a',
  };
  const codes = (more: Partial<ComparableRun>): string[] =>
    comparisonWarnings([RUN, { ...RUN, ...more }]).map(({ code }) => code);
  const withConfig = (more: Partial<BacktestConfig>) => ({ config: resolveConfig({ ...CONFIG, ...more }) });
  const feeModel = {
    kind: 'tiered_maker_taker' as const,
    tiers: [{ minCumulativeNotional: 0, makerRate: 0, takerRate: 0.001 }],
  };

  it.each<[string, Partial<ComparableRun>]>([
    ['PERIODS_DIFFER', { window: { start: 0, end: 3 * 86_400_000 } }],
    ['MARKETS_DIFFER', { symbols: ['NASDAQ'] }],
    ['TIMEFRAMES_DIFFER', withConfig({ timeframe: '1h' })],
    ['CURRENCIES_DIFFER', { currency: 'EUR' }],
    ['BALANCES_DIFFER', withConfig({ initialBalance: 500 })],
    ['COSTS_DIFFER', withConfig({ execution: { feeModel, slippage: { kind: 'none' } } })],
    ['CALENDARS_DIFFER', { periodsPerYear: 365 }],
    ['RISK_FREE_RATES_DIFFER', withConfig({ riskFreeRatePerYear: 0.02 })],
    ['ENGINES_DIFFER', { engineVersion: '1.8.0' }],
    ['DATA_DIFFER', { dataHash: 'b' }],
  ])('say %s of exactly that difference', (code, more) => {
    expect(codes(more)).toEqual([code]);
  });

  it('are none for equal runs, an unknown currency, and other params', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ currency: null })).toEqual([]);
    expect(codes(withConfig({ params: { fast: 3 } }))).toEqual([]);
  });

  it('name the values', () => {
    const [warning] = comparisonWarnings([RUN, { ...RUN, window: { start: 0, end: 3 * 86_400_000 } }]);
    expect(warning.message).toContain('1970-01-01 to 1970-01-01; 1970-01-01 to 1970-01-03');
    const [costs] = comparisonWarnings([
      RUN,
      { ...RUN, ...withConfig({ execution: { feeModel, slippage: { kind: 'none' } } }) },
    ]);
    expect(costs.message).toContain('fees from 0 %, slippage none; fees from 0 % to 0.1 %, slippage none');
  });
});
