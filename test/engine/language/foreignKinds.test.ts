// Foreign kinds: words of other platforms for conditions and values, and what of the language does the same.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { entry } from '../../support/builders.ts';
import { above, close, five, sma, strategyOf, type Body, type Json } from './strategyBodies.ts';

const errorsOf = (body: Body) => checkStrategy(body).issues.filter(({ severity }) => severity === 'error');
const applied = (body: Body, steps: unknown): Body =>
  jsonPatch.applyPatch(structuredClone(body), structuredClone(steps) as Operation[]).newDocument;
const triggerOf = (body: Body) =>
  (body as unknown as { strategyAst: { strategy: { entry: { trigger: Json } } } }).strategyAst.strategy.entry.trigger;
// oxlint-disable-next-line unicorn/no-thenable -- the language's word for it.
const branches = { then: close, else: sma };
const below = { ...above, op: 'lt' };

describe('a patch writes the kind that does it:', () => {
  it.each<[string, Json, Json]>([
    [
      'between as an operator',
      { kind: 'compare', op: 'between', left: close, lower: five, upper: sma },
      { kind: 'between', value: close, lower: five, upper: sma },
    ],
    [
      'between as an operator with a list',
      { kind: 'compare', op: 'between', left: 'close', right: [1, 'open'] },
      {
        kind: 'between',
        value: close,
        lower: { kind: 'const', value: 1 },
        upper: { kind: 'market', field: 'open' },
      },
    ],
    [
      'rising as an operator',
      { kind: 'compare', op: 'rising', left: close, bars: 3 },
      { kind: 'rising', source: close, bars: 3 },
    ],
    [
      'near as an operator',
      { kind: 'compare', op: 'near', left: close, right: sma, tolerance: 1 },
      { kind: 'near', left: close, right: sma, tolerance: 1 },
    ],
    [
      'and as an operator',
      { kind: 'compare', op: 'and', left: above, right: below },
      { kind: 'all', items: [above, below] },
    ],
    [
      'or as an operator',
      { kind: 'compare', op: '||', left: above, right: below },
      { kind: 'any', items: [above, below] },
    ],
    [
      'sequence as an operator',
      { kind: 'compare', op: 'sequence', steps: [{ expr: above }, { expr: below }] },
      { kind: 'sequence', steps: [{ expr: above }, { expr: below }] },
    ],
    [
      'a logical node',
      { kind: 'logical', op: 'AND', conditions: [above, below] },
      { kind: 'all', items: [above, below] },
    ],
    [
      'a binary node',
      { kind: 'binary', op: '>', left: close, right: sma },
      { kind: 'compare', op: 'gt', left: close, right: sma },
    ],
    ['any_of', { kind: 'any_of', items: [above, below] }, { kind: 'any', items: [above, below] }],
    [
      'in_range',
      { kind: 'in_range', value: close, lower: five, upper: sma },
      { kind: 'between', value: close, lower: five, upper: sma },
    ],
    ['followed_by', { kind: 'followed_by', steps: [{ expr: above }] }, { kind: 'sequence', steps: [{ expr: above }] }],
    ['increasing', { kind: 'increasing', source: close, bars: 3 }, { kind: 'rising', source: close, bars: 3 }],
    [
      'crosses',
      { kind: 'crosses', direction: 'up', left: close, right: sma },
      { kind: 'cross', op: 'cross_up', left: close, right: sma },
    ],
    [
      'prev',
      { ...above, right: { kind: 'prev', source: close, bars: 1 } },
      { ...above, right: { kind: 'shift', source: close, offset: 1 } },
    ],
    [
      'iff',
      { ...above, right: { kind: 'iff', condition: above, ...branches } },
      { ...above, right: { kind: 'if', cond: above, ...branches } },
    ],
    [
      'hours, which dates would take as well',
      { kind: 'trading_hours', from: '09:30', to: '16:00' },
      { kind: 'time_window', between: { from: '09:30', to: '16:00' } },
    ],
  ])('%s', (_what, written, meant) => {
    let body = strategyOf(written);
    for (let round = 0; round < 3; round++) for (const { patch } of errorsOf(body)) body = applied(body, patch ?? []);
    expect(triggerOf(body)).toEqual(meant);
    expect(errorsOf(body)).toEqual([]);
  });

  it('the operands of a graph', () => {
    const node = (id: string, op: string): Json => ({
      id,
      kind: 'compare',
      op,
      left: { ref: 'a' },
      right: { ref: 'b' },
    });
    const graph = {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [
        { id: 'a', ...close },
        { id: 'b', ...sma },
        node('above', 'gt'),
        node('below', 'lt'),
        { id: 'both', kind: 'compare', op: 'or', left: { ref: 'above' }, right: { ref: 'below' } },
      ],
      strategy: { kind: 'strategy', entry: entry({ ref: 'both' }), risk: { timeStop: { maxBars: 9 } } },
    };
    const [error, ...others] = errorsOf({ settings: {}, signalGraph: graph });
    expect(others).toEqual([]);
    expect(errorsOf(applied({ settings: {}, signalGraph: graph }, error.patch))).toEqual([]);
  });
});

describe('what does it is named, where a patch would be a guess:', () => {
  it.each<[string, Json, string]>([
    [
      'any as an operator of values',
      { kind: 'compare', op: 'any', left: close, right: five },
      'Use kind "any" with items (a list).',
    ],
    [
      'between without bounds',
      { kind: 'compare', op: 'between', left: close, right: five },
      'with value, lower and upper.',
    ],
    [
      'crosses as an operator',
      { kind: 'compare', op: 'crosses', left: close, right: sma },
      '"cross" with op (one of cross_up,',
    ],
    [
      'outside',
      { kind: 'outside', value: close, lower: five, upper: sma },
      '{"kind": "not", "item": {"kind": "between"',
    ],
    [
      'outside as an operator',
      { kind: 'compare', op: 'outside', left: close },
      '{"kind": "not", "item": {"kind": "between"',
    ],
    ['xor', { kind: 'xor', items: [above, below] }, 'Use kind "any" of two'],
    ['consecutive', { kind: 'consecutive', condition: above, bars: 3 }, '"mode": "all"'],
    ['within', { kind: 'within', condition: above, bars: 3 }, '"mode": "any"'],
    ['count', { kind: 'count', condition: above, bars: 3 }, '"mode": "count_gt"'],
    ['day_of_week', { kind: 'day_of_week', days: ['mon'] }, '"weekdays": ["mon", "fri"]'],
    ['rebalance', { kind: 'rebalance', every: 'month' }, '{"kind": "schedule", "every": "month", "on": "last"}'],
    ['a day in words', { kind: 'first trading day of the month' }, '{"kind": "schedule", "every": "month"'],
    ['rank', { kind: 'rank', top: 10 }, 'write entry.rank'],
    ['always', { kind: 'always' }, '{"kind": "compare", "op": "gt", "left"'],
    ['true', true as unknown as Json, '{"kind": "compare", "op": "gt", "left"'],
    ['an expression', { kind: 'expression', code: 'close > open' }, 'are not evaluated'],
    ['change', { ...above, left: { kind: 'ta.change', source: close } }, 'indicator "mom"'],
    ['pct_change', { ...above, left: { kind: 'pct_change', source: close } }, 'in points: 2 is 2 %'],
    ['breadth', { ...above, left: { kind: 'breadth' } }, '{"kind": "cross_section", "op": "rank"'],
    ['nz', { ...above, left: { kind: 'nz', source: close } }, 'Leave it out'],
    ['request.security', { ...above, left: { kind: 'request.security', symbol: 'SPX' } }, '`timeframe`'],
  ])('%s', (_what, trigger, advice) => {
    const errors = errorsOf(strategyOf(trigger));
    expect(errors).toEqual([expect.objectContaining({ suggestion: expect.stringContaining(advice) as string })]);
    expect(errors[0].patch).toBeUndefined();
  });
});

describe('equality', () => {
  const warningOf = (trigger: Json) => checkStrategy(strategyOf(trigger)).issues;
  it.each([
    ['eq', 'Use kind "cross" with op "cross_any"'],
    ['neq', 'Add a `tolerance`'],
  ])('of computed numbers by %s is warned of with the way to say what is meant', (op, advice) => {
    expect(warningOf({ kind: 'compare', op, left: close, right: sma })).toEqual([
      expect.objectContaining({ code: 'FLOAT_EQUALITY', suggestion: expect.stringContaining(advice) as string }),
    ]);
    expect(warningOf({ kind: 'compare', op, left: close, right: sma, tolerance: 0.5 })).toEqual([]);
  });

  it('of prices as the bars have them is exact', () => {
    const highest = { kind: 'rolling', op: 'max', period: 20, source: close };
    for (const right of [highest, { kind: 'market', field: 'open' }, { kind: 'shift', source: close, offset: 1 }])
      expect(warningOf({ kind: 'compare', op: 'eq', left: close, right })).toEqual([]);
    expect(warningOf({ kind: 'compare', op: 'eq', left: close, right: { ...highest, op: 'avg' } })).toHaveLength(1);
  });
});
