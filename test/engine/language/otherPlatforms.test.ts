// Other platforms: members and words of Pine, backtrader, freqtrade and QuantConnect, and where they belong here.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { above, close, five, sma, strategyOf, type Body, type Json } from './strategyBodies.ts';

const errorsOf = (body: Body) => checkStrategy(body).issues.filter(({ severity }) => severity === 'error');
/** The strategy after the patches of at most four rounds. */
function repaired(sent: Body): Json {
  let body = sent;
  for (let round = 0; round < 4; round++) {
    for (const { patch = [] } of errorsOf(body))
      body = jsonPatch.applyPatch(structuredClone(body), structuredClone(patch) as Operation[]).newDocument;
  }
  expect(errorsOf(body)).toEqual([]);
  return (body as unknown as { strategyAst: { strategy: Json } }).strategyAst.strategy;
}
const action = { side: 'long', sizing: { mode: 'percent_equity', value: 95 } };
const volumeAverage = { kind: 'indicator', indicator: 'sma', args: { length: 20, source: 'volume' } };

describe('a habit from elsewhere is repaired:', () => {
  const riskOf = (risk: Json): Json => repaired(strategyOf(above, { risk })).risk as Json;
  const triggerOf = (trigger: Json): unknown => (repaired(strategyOf(trigger)).entry as Json).trigger;

  it('the mode of a trailing stop and of a take-profit', () => {
    expect(riskOf({ trailingStop: { type: 'percent', value: 2 } })).toEqual({ trailingStop: { distancePercent: 2 } });
    expect(riskOf({ takeProfits: [{ mode: 'percent', value: 4, closePercent: 100 }] })).toEqual({
      takeProfits: [{ triggerPercent: 4, closePercent: 100 }],
    });
  });

  it('an earlier bar in brackets, but not one counted from the end', () => {
    const earlier = { ...close, offset: 1 };
    expect(triggerOf({ ...above, right: 'close[1]' })).toMatchObject({ right: earlier });
    const [error] = errorsOf(strategyOf({ ...above, right: 'close[-1]' }));
    expect(error.patch).toBeUndefined();
  });

  it('conditions joined by an operator without a kind', () => {
    expect(triggerOf({ operator: 'AND', conditions: [above] })).toEqual({ kind: 'all', items: [above] });
    expect(triggerOf({ op: 'or', conditions: [above] })).toEqual({ kind: 'any', items: [above] });
  });
});

describe('a condition written as text', () => {
  it.each<[string, Json]>([
    ['close > sma(close, 5)', { ...above }],
    ['close >= 5', { kind: 'compare', op: 'gte', left: close, right: five }],
    [
      'volume > sma(volume, 20)',
      { kind: 'compare', op: 'gt', left: { kind: 'market', field: 'volume' }, right: volumeAverage },
    ],
    ['ta.crossover(close, ta.sma(close, 5))', { kind: 'cross', op: 'cross_up', left: close, right: sma }],
    ['qtpylib.crossed_below(close, sma_5)', { kind: 'cross', op: 'cross_down', left: close, right: sma }],
    [
      'position_size == 0',
      {
        kind: 'compare',
        op: 'eq',
        left: { kind: 'state', field: 'position_size' },
        right: { kind: 'const', value: 0 },
      },
    ],
  ])('is read: %s', (text, trigger) => {
    expect(repaired(strategyOf(text as unknown as Json))).toMatchObject({ entry: { trigger } });
  });

  it.each(['close > open and open > lows', 'close > foo', 'max(close, open)', 'close', 'a'.repeat(200) + ' > 5'])(
    'has no patch where it is not a condition, or names what there is not: %s',
    (text) => {
      const [error, ...others] = errorsOf(strategyOf(text as unknown as Json));
      expect(others).toEqual([]);
      expect(error.patch).toBeUndefined();
    },
  );
});

describe('a patch repairs', () => {
  it.each<[string, Body, Json]>([
    [
      'an entry with when and the direction of Pine',
      strategyOf(above, {
        entry: { kind: 'entry', when: above, direction: 'strategy.long', action: { sizing: action.sizing } },
      }),
      { entry: { kind: 'entry', trigger: above, action } },
    ],
    [
      'an exit’s side and comment',
      strategyOf(above, { exits: [{ kind: 'exit', when: above, side: 'both', comment: 'out' }] }),
      { exits: [{ kind: 'exit', when: above, appliesTo: 'any', reason: 'out' }] },
    ],
    [
      'inputs of Pine and a reference to one',
      strategyOf(
        { ...above, right: { ...sma, args: { length: { kind: 'input', name: 'len' } } } },
        { inputs: [{ name: 'len', type: 'int', defval: 5, minval: 2, maxval: 9 }] },
      ),
      { params: [{ name: 'len', type: 'int', default: 5, min: 2, max: 9 }] },
    ],
    [
      'the size of Pine',
      strategyOf(above, {
        entry: {
          kind: 'entry',
          trigger: above,
          action: { ...action, sizing: { mode: 'strategy.percent_of_equity', value: 95 } },
        },
      }),
      { entry: { kind: 'entry', trigger: above, action } },
    ],
    ['a resolution of QuantConnect', strategyOf(above, { resolution: 'Daily' }), { defaults: { timeframe: '1d' } }],
    [
      'a reward for the risk',
      strategyOf(above, { risk: { stopLoss: { mode: 'percent', value: 5 }, takeProfits: [{ rr: 2, close: 100 }] } }),
      { risk: { takeProfits: [{ triggerR: 2, closePercent: 100 }] } },
    ],
    [
      'a pattern of TA-Lib as a kind',
      strategyOf({ kind: 'talib.CDLHAMMER' }),
      { entry: { trigger: { name: 'hammer' } } },
    ],
    [
      'an operator of math as a kind',
      strategyOf({ ...above, left: { kind: 'abs', args: [close] } }),
      { entry: { trigger: { left: { kind: 'math', op: 'abs', args: [close] } } } },
    ],
    [
      'an operation over bars as a kind',
      strategyOf({ ...above, left: { kind: 'zscore', source: close, period: 9 } }),
      { entry: { trigger: { left: { kind: 'rolling', op: 'zscore', source: close, period: 9 } } } },
    ],
    [
      'an indicator of that name as a kind',
      strategyOf({ ...above, left: { kind: 'zscore', length: 9 } }),
      { entry: { trigger: { left: { kind: 'indicator', indicator: 'zscore', args: { length: 9 } } } } },
    ],
  ])('%s', (_what, body, strategy) => {
    expect(repaired(body)).toMatchObject(strategy);
  });
});

describe('a member of another platform is told where it belongs:', () => {
  it.each<[string, Json, string]>([
    ['pyramiding', { pyramiding: 2 }, 'set maxConcurrentPositions in the settings'],
    ['minimal_roi', { minimal_roi: { '0': 0.05 } }, 'risk.takeProfits'],
    ['trailing_stop_positive', { trailing_stop_positive: 0.02 }, '"activateAfterPercent"'],
    ['enter_long', { enter_long: [above] }, '"side": "long"'],
    ['exit_short', { exit_short: [above] }, '"appliesTo": "short"'],
    ['universe', { universe: ['SPX'] }, 'list the instruments in the config'],
    ['rebalance', { rebalance: 'monthly' }, 'write strategy.allocation: {"kind": "allocation", "when"'],
    ['top_n', { top_n: 3 }, '"long": {"by": …, "top": 3}'],
    ['rotation', { rotation: true }, 'strategy.allocation'],
    ['handle_data', { handle_data: 'def' }, 'a strategy is data'],
    ['order_target_percent', { order_target_percent: 0.5 }, 'with weights'],
    ['a rank beside the entry', { rank: 'roc' }, 'in the entry as rank'],
    ['startDate', { startDate: '2020-01-01' }, '`range` in the config'],
    ['weight', { entry: { kind: 'entry', trigger: above, action: { ...action, weight: 1 } } }, '"percent_equity"'],
    ['title', { title: 'Mine' }, 'beside strategyAst'],
  ])('%s', (_what, more, advice) => {
    const errors = errorsOf(strategyOf(above, more));
    expect(errors).toEqual([expect.objectContaining({ suggestion: expect.stringContaining(advice) as string })]);
  });

  it.each<[string, Json]>([
    ['a param that is not declared', { ...sma, args: { length: '$slow' } }],
    ['several arguments in a list', { kind: 'indicator', indicator: 'supertrend', args: [3, 10], output: 'trend' }],
  ])('%s is left to the author', (_what, left) => {
    const [error] = errorsOf(strategyOf({ ...above, left }));
    expect(error).toMatchObject({ code: 'TYPE_MISMATCH' });
    expect(error.suggestion).toContain('{"');
    expect(error.patch).toBeUndefined();
  });

  it.each(['appliesTo', 'side'])('a sell, which closes a long position, as the %s of an exit', (member) => {
    const errors = errorsOf(strategyOf(above, { exits: [{ kind: 'exit', when: above, [member]: 'sell' }] }));
    expect(errors[0].suggestion).toContain('the side of the positions that the rule closes');
    expect(errors[0].patch).toBeUndefined();
  });

  it('the name of a field in place of a condition', () => {
    const [error] = errorsOf(strategyOf({ kind: 'not', item: 'in_position' }));
    expect(error.suggestion).toContain('compare it, as in {"kind": "compare"');
  });

  it('hours in place of the name of a session', () => {
    const [error] = errorsOf(strategyOf({ kind: 'session', name: '0930-1600' }));
    expect(error.suggestion).toContain('{"kind": "time_window", "between": {"from": "09:30", "to": "16:00"}}');
  });

  it('request.security in place of an indicator', () => {
    const call = { kind: 'indicator', indicator: 'request.security', args: {} };
    const [error] = errorsOf(strategyOf({ kind: 'compare', op: 'gt', left: call, right: call }));
    expect(error.suggestion).toContain('with `timeframe` on its market, indicator and pattern nodes');
  });

  it('the time in place of a condition', () => {
    const [error, ...others] = errorsOf(strategyOf({ kind: 'time', field: 'hour' }));
    expect(error.suggestion).toMatch(/^Use \{"kind": "time_window", .*, or compare it: \{"kind": "compare"/);
    expect(others).toEqual([]);
  });

  it('a field with an operator, which is no comparison', () => {
    const [error] = errorsOf(strategyOf({ kind: 'bars_in_trade', op: '>', value: 20 }));
    expect(error.suggestion).toContain('"position_bars_since_entry"');
    expect(error.patch).toBeUndefined();
  });
});

it('one item in place of a list is told to be put into one, however long it is', () => {
  const exit = { kind: 'exit', when: { kind: 'all', items: [above, above, above, above] } };
  const [error] = errorsOf(strategyOf(above, { exits: exit }));
  expect(error).toMatchObject({ suggestion: 'Put it into a list: [ … ].', patch: [{ value: [exit] }] });
});

describe('one error with all that there is to say', () => {
  it.each<[string, Json]>([
    ['a time of no window', { kind: 'time', dayOfWeek: 1 }],
    ['a time with a window', { kind: 'time', from: '09:30', to: '16:00', timezone: 'America/New_York' }],
    ['a time with an unknown operator', { kind: 'time', field: 'hour', op: 'about', value: 9 }],
  ])('is what %s gets', (_what, trigger) => {
    const errors = errorsOf(strategyOf(trigger));
    expect(errors).toHaveLength(1);
    expect(errors[0].suggestion).toMatch(/"kind": ?"time_window"/);
  });
});
