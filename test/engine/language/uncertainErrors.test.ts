// Numbers out of bounds: which have a patch, and which only advice, because what was meant is not certain. And errors
// that must be reported once.
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { above, close, five, sma, strategyOf, type Body, type Json } from './strategyBodies.ts';

const check = (body: Body) => checkStrategy(body);

describe('what was meant is not certain, so that there is advice and no patch, for', () => {
  const supertrend = { kind: 'indicator', indicator: 'supertrend', output: 'direction' };
  const stop = { risk: { stopLoss: { mode: 'percent', value: -5 }, timeStop: { maxBars: 9 } } };
  it.each<[string, Body, string]>([
    ['a negative stop', strategyOf(above, stop), 'Give a number above 0'],
    ['a period of zero', strategyOf({ ...above, right: { ...sma, args: { length: 0 } } }), 'Use 20, the usual value'],
    [
      'a fraction of a bar',
      strategyOf({ ...above, right: { ...sma, args: { length: '0.2' } } }),
      'Use 20, the usual value',
    ],
    [
      'a quantile in percent',
      strategyOf({ ...above, right: { kind: 'rolling', op: 'quantile', source: close, period: 9, quantile: 95 } }),
      'at most 1',
    ],
    [
      'the order of the arguments of supertrend, whose factor comes first in Pine',
      strategyOf({ ...above, left: { ...supertrend, args: [3, 10], output: 'trend' }, right: five }),
      'Name each argument: {"length": …, "multiplier": …}.',
    ],
    ['the direction of supertrend', strategyOf({ ...above, left: supertrend, right: five }), 'in Pine'],
  ])('%s', (_what, body, advice) => {
    const [issue, ...others] = check(body).issues;
    expect(others).toEqual([]);
    expect(issue.patch).toBeUndefined();
    expect(issue.suggestion).toContain(advice);
  });
});

describe('a number that would read a later bar is refused with the reason and without a patch:', () => {
  const read = (left: Json): Body => strategyOf({ ...above, left });
  it.each<[string, Body]>([
    ['an offset', read({ ...close, offset: -1 })],
    ['an offset as a text', read({ ...close, offset: '-1' })],
    ['an offset of a shift', read({ kind: 'shift', source: close, offset: -1 })],
    ['the bars of a change', read({ kind: 'percent_change', source: close, bars: -1 })],
    ['an occurrence', read({ kind: 'value_when', value: close, when: above, occurrence: -1 })],
    ['a member', read({ ...close, lookahead: true })],
    ['a text', read('close[-1]' as never)],
    ['a kind', read({ kind: 'lead', source: close, offset: 1 })],
  ])('%s', (_what, body) => {
    const { issues } = check(body);
    const told = issues.map(({ message, suggestion }) => `${message} ${suggestion}`);
    expect(told.filter((text) => text.includes('would read a price that is not yet known'))).toHaveLength(1);
    expect(issues.filter(({ patch }) => patch !== undefined)).toEqual([]);
  });
});

it('a count of bars or a multiplier with a sign has no patch', () => {
  const band = { kind: 'indicator', indicator: 'supertrend', args: { length: -7, multiplier: -2.5 } };
  const trigger = { ...above, right: { ...band, output: 'supertrend' } };
  const { issues } = check(strategyOf(trigger, { risk: { timeStop: { maxBars: -9 } } }));
  expect(issues.map(({ path, patch }) => [path.split('/').at(-1), patch])).toEqual([
    ['maxBars', undefined],
    ['length', undefined],
    ['multiplier', undefined],
  ]);
});

describe('one fault is one issue:', () => {
  const codesOf = (body: Body) => check(body).issues.map(({ code, path }) => `${code} ${path}`);
  const params = [{ name: 'slow', type: 'int', default: 5, min: 'x' }];
  const right = { ...sma, args: { length: { param: 'slow' } } };
  it('a param that is declared with a fault counts as declared where it is used', () => {
    const trigger = { kind: 'rising', source: { ...close, offset: { param: 'slow' } }, bars: 2 };
    expect(codesOf(strategyOf({ kind: 'all', items: [trigger, { ...above, right }] }, { params }))).toEqual([
      'TYPE_MISMATCH /strategyAst/strategy/params/0/min',
    ]);
  });
  it('a take-profit that closes more than all of the position', () => {
    const takeProfits = [{ triggerPercent: 4, closePercent: 150 }];
    expect(codesOf(strategyOf(above, { risk: { takeProfits, timeStop: { maxBars: 9 } } }))).toEqual([
      'RISK_INVALID /strategyAst/strategy/risk/takeProfits/0/closePercent',
    ]);
  });
});
