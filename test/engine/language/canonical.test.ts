import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../../src/engine/language/canonical/canonical.ts';
import { strategyHash } from '../../../src/engine/language/canonical/content.ts';
import { all, any, compare, constant, cross, indicator, market, strategy, type Json } from '../../support/builders.ts';

const rsi = indicator('rsi', { length: 14 });
const low = compare(rsi, 'lt', 30);
const up = cross(market(), 'cross_up', indicator('sma', { length: 20 }));
const hash = (trigger: Json, more: object = {}): string => strategyHash(strategy(trigger, more), {});

/** Spellings of one meaning, each with another. */
const SAME: readonly [name: string, left: Json, right: Json][] = [
  ['and is all', { kind: 'and', items: [low, up] }, all(low, up)],
  ['or is any', { kind: 'or', items: [low, up] }, any(low, up)],
  ['a nested all is flattened', all(all(low, up), low), all(low, up, low)],
  ['one item is the item', all(any(low)), low],
  ['typical is hlc3', compare(market('typical'), 'gt', 1), compare(market('hlc3'), 'gt', 1)],
  ['median is hl2', compare(market('median'), 'gt', 1), compare(market('hl2'), 'gt', 1)],
  ['an indicator alias is its id', compare(indicator('relative_strength_index'), 'lt', 30), low],
  ['an absent argument is its default', compare(indicator('rsi'), 'lt', 30), low],
  [
    'the order of arguments does not matter',
    compare(indicator('macd', { fast_length: 5, slow_length: 9 }, { output: 'histogram' }), 'gt', 0),
    compare(indicator('macd', { slow_length: 9, fast_length: 5 }, { output: 'histogram' }), 'gt', 0),
  ],
  ['the only output need not be named', compare(indicator('rsi', {}, { output: 'value' }), 'lt', 30), low],
  [
    'a source field is a market expression',
    compare(indicator('sma', { source: 'open' }), 'gt', 1),
    compare(indicator('sma', {}, { source: market('open') }), 'gt', 1),
  ],
  [
    'the source is close by default',
    compare(indicator('sma', {}, { source: market() }), 'gt', 1),
    compare(indicator('sma'), 'gt', 1),
  ],
  [
    'a shift of a market field is its offset',
    compare({ kind: 'shift', offset: 2, source: market() }, 'gt', 1),
    compare(market('close', { offset: 2 }), 'gt', 1),
  ],
  [
    'shifts add up',
    compare({ kind: 'shift', offset: 2, source: { kind: 'shift', offset: 1, source: rsi } }, 'gt', 1),
    compare({ ...rsi, offset: 3 }, 'gt', 1),
  ],
  ['a shift by nothing is nothing', compare({ kind: 'shift', offset: 0, source: rsi }, 'gt', 1), compare(rsi, 'gt', 1)],
  [
    'a pattern alias is its id',
    { kind: 'pattern', name: 'CDLHAMMER' },
    { kind: 'pattern', name: 'hammer', side: 'any', within: 1 },
  ],
  ['names do not count', { ...low, id: 'x', label: 'L', description: 'd', meta: { a: 1 } }, low],
  ['a tolerance of 0 is none', { ...low, tolerance: 0 }, low],
];
const DIFFERENT: readonly [name: string, left: Json, right: Json][] = [
  ['another number', low, compare(rsi, 'lt', 31)],
  ['another operator', low, compare(rsi, 'lte', 30)],
  ['sides swapped', low, compare(30, 'lt', rsi)],
  [
    'a shift of another timeframe is no offset',
    compare({ kind: 'shift', offset: 1, source: market('close', { timeframe: '4h' }) }, 'gt', 1),
    compare(market('close', { timeframe: '4h', offset: 1 }), 'gt', 1),
  ],
  [
    'a shift of another instrument is no offset',
    compare({ kind: 'shift', offset: 1, source: market('close', { instrument: { symbol: 'X' } }) }, 'gt', 1),
    compare(market('close', { instrument: { symbol: 'X' }, offset: 1 }), 'gt', 1),
  ],
  ['another timeframe', compare(market('close', { timeframe: '4h' }), 'gt', 1), compare(market(), 'gt', 1)],
  [
    'another zone of a time window',
    { kind: 'time_window', weekdays: ['mon'] },
    { kind: 'time_window', weekdays: ['mon'], timezone: 'Asia/Tokyo' },
  ],
];

describe('canonical form', () => {
  for (const [name, left, right] of SAME) it(`${name}: one hash`, () => expect(hash(left)).toBe(hash(right)));
  for (const [name, left, right] of DIFFERENT)
    it(`gives different hashes to ${name}`, () => expect(hash(left)).not.toBe(hash(right)));

  it('writes exit as a list of exits, and one entry as a list', () => {
    const { entry, exits, ...rest } = strategy(low).strategy;
    const other = { ...strategy(low), strategy: { ...rest, entry: [entry], exit: exits[0] } };
    expect(strategyHash(other, {})).toBe(hash(low));
  });

  it('writes equal sub-trees as equal bytes', () => {
    const { strategy: made } = canonicalize(
      strategy(all(low, compare(indicator('relative_strength_index'), 'gt', constant(5)))),
    ) as Json;
    const [first, second] = made.entry[0].trigger.items;
    expect(JSON.stringify(first.left)).toBe(JSON.stringify(second.left));
  });

  it('hashes the settings in effect, wherever they are written, and no other defaults', () => {
    const bare = strategyHash(strategy(low), { maxConcurrentPositions: 3, warmupPeriod: 40 });
    const inDefaults = strategy(low, {
      defaults: { maxConcurrentPositions: 3, warmupBars: 40, timeframe: '1d', instrument: { symbol: 'SPX' } },
    });
    expect(strategyHash(inDefaults, {})).toBe(bare);
    expect(strategyHash(strategy(low), {})).not.toBe(bare);
    expect(strategyHash(strategy(low), { maxConcurrentPositions: 1 })).toBe(hash(low));
  });

  it('hashes the time zone only where the clock is read', () => {
    const hour = compare({ kind: 'time', field: 'hour' }, 'gte', 9);
    expect(hash(hour, { defaults: { timezone: 'Asia/Tokyo' } })).not.toBe(hash(hour));
    expect(hash(low, { defaults: { timezone: 'Asia/Tokyo' } })).toBe(hash(low));
  });

  it('hashes a strategy whose tree would have a trillion nodes', () => {
    let node: Json = low;
    for (let i = 0; i < 40; i++)
      node = {
        kind: 'any',
        items: [
          { kind: 'not', item: node },
          { kind: 'not', item: node },
        ],
      };
    expect(hash(node)).toMatch(/^[0-9a-f]{64}$/);
  });
});
