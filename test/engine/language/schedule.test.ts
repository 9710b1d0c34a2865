// Schedules in the language: their issues, their canonical form, params in them, and their texts.
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import type { StrategyAst } from '../../../src/engine/language/grammar/ast.ts';
import { prepareStrategy } from '../../../src/engine/language/prepare/prepare.ts';
import { textOf } from '../../../src/engine/language/grammar/nodeTexts.ts';
import { astOf, entry, exit, type Json } from '../../support/builders.ts';

const schedule = (members: object): Json => ({ kind: 'schedule', ...members });
const strategy = (trigger: Json, more: object = {}): Json => astOf({ entry: entry(trigger), ...more });
const check = (members: object, timeframe?: '1h' | '1d', more: object = {}) =>
  checkStrategy({ strategyAst: strategy(schedule(members), more) }, { ...(timeframe && { baseTimeframe: timeframe }) });
const issuesOf = (...given: Parameters<typeof check>): string[] =>
  check(...given)
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ code, path }) => `${code} ${path.replace('/strategyAst/strategy/entry/trigger/', '')}`);
const hashOf = (members: object, more: object = {}): string => check(members, undefined, more).compiled!.strategyHash;

describe('a schedule is refused', () => {
  it.each<[string, object, '1h' | '1d' | undefined, string]>([
    ['without a period and without a number of bars', {}, undefined, 'MISSING_FIELD every'],
    ['on day 0', { every: 'month', on: 0 }, undefined, 'OUT_OF_RANGE on'],
    ['on a day that no week has', { every: 'week', on: 8 }, undefined, 'OUT_OF_RANGE on'],
    ['on a day that no month has, from the end', { every: 'month', on: -32 }, undefined, 'OUT_OF_RANGE on'],
    ['with bars beside a period', { every: 'month', everyBars: 5 }, undefined, 'OUT_OF_RANGE every'],
    ['with bars beside a time', { at: '15:30', everyBars: 5 }, undefined, 'OUT_OF_RANGE at'],
    ['for 0 bars', { everyBars: 0 }, undefined, 'OUT_OF_RANGE everyBars'],
    ['at a time on daily bars', { every: 'month', on: 'last', at: '15:30' }, '1d', 'OUT_OF_RANGE at'],
    ['on the last day of intraday bars without a time', { every: 'month', on: 'last' }, '1h', 'MISSING_FIELD at'],
    ['on a day of another name', { every: 'month', on: 'lsat' }, undefined, 'OUT_OF_RANGE on'],
    ['at a time that is none', { every: 'month', at: '24:00' }, undefined, 'OUT_OF_RANGE at'],
  ])('%s', (_, members, timeframe, issue) => {
    expect(issuesOf(members, timeframe)).toEqual([issue]);
  });

  it('where a param is 0 in place of a day', () => {
    const params = [{ name: 'k', type: 'int', default: 2 }];
    const ast = strategy(schedule({ every: 'month', on: { param: 'k' } }), { params });
    const issuesWith = (k: number): unknown => {
      const answer = prepareStrategy(ast as StrategyAst, {}, { params: { k } });
      return answer.ok ? [] : answer.issues.map(({ code, message }) => `${code}: ${message}`);
    };
    expect(issuesWith(-3)).toEqual([]);
    expect(issuesWith(0)).toEqual([expect.stringMatching(/^OUT_OF_RANGE: The param of "on" is 0\. Count .* from 1/)]);
    expect(issuesWith(400)).toEqual([expect.stringContaining('OUT_OF_RANGE')]);
  });
});

describe('a schedule is accepted', () => {
  it.each<[object, '1h' | '1d']>([
    [{ every: 'month', on: 'last' }, '1d'],
    [{ every: 'month', on: -1 }, '1h'],
    [{ every: 'month', on: 'last', at: '20:00' }, '1h'],
    [{ every: 'day', at: '15:30' }, '1h'],
    [{ every: 'quarter', on: -3 }, '1d'],
    [{ everyBars: 21 }, '1d'],
  ])('%o on bars of %s', (members, timeframe) => {
    expect(issuesOf(members, timeframe)).toEqual([]);
  });

  it('as a trigger and as an exit, which is a turn of the month', () => {
    const left = exit(schedule({ every: 'month', on: 3 }));
    const turn = strategy(schedule({ every: 'month', on: -5 }), { exits: [left] });
    expect(checkStrategy({ strategyAst: turn }, { baseTimeframe: '1d' }).issues).toEqual([]);
  });
});

describe('the canonical form of a schedule', () => {
  it('has the number of the day: the first if none is written', () => {
    expect(hashOf({ every: 'week' })).toBe(hashOf({ every: 'week', on: 'first' }));
    expect(hashOf({ every: 'week', on: 1 })).toBe(hashOf({ every: 'week', on: 'first' }));
    expect(hashOf({ every: 'week', on: -1 })).toBe(hashOf({ every: 'week', on: 'last' }));
    expect(hashOf({ every: 'week', on: 2 })).not.toBe(hashOf({ every: 'week' }));
    expect(hashOf({ every: 'week', at: '10:00' })).not.toBe(hashOf({ every: 'week' }));
    expect(hashOf({ every: 'month' })).not.toBe(hashOf({ every: 'week' }));
    expect(hashOf({ everyBars: 5 })).not.toBe(hashOf({ everyBars: 6 }));
  });

  it.each<[object, string]>([
    [{ every: 'month' }, 'first trading day of the month (on a holiday, the next bar)'],
    [
      { every: 'week', on: 'last', at: '20:00' },
      'last trading day of the week from 20:00 (on a holiday, the next bar)',
    ],
    [{ every: 'quarter', on: -3 }, 'trading day 3 from the end of the quarter (on a holiday, the next bar)'],
    [{ every: 'year', on: 10 }, 'trading day 10 of the year (on a holiday, the next bar)'],
    [{ everyBars: 21 }, '1 bar in 21'],
    [{ everyBars: 1 }, '1 bar in 1'],
  ])('of %o is read as "%s"', (members, text) => {
    const answer = prepareStrategy(strategy(schedule(members)) as StrategyAst, {});
    if (!answer.ok) throw new Error(JSON.stringify(answer.issues));
    expect(textOf(answer.strategy.entries[0].trigger)).toBe(text);
  });
});
