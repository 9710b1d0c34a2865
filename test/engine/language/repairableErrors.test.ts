// Errors that repair: what authors write by habit from other languages is recognized, and its patch makes the strategy
// valid.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy, TIMEFRAMES } from '../../../src/engine/index.ts';
import { TIER_LIMITS } from '../../../src/tiers.ts';
import { graph, strategy } from '../../support/builders.ts';
import { above, close, five, sma, strategyOf, type Body, type Json } from './strategyBodies.ts';

const SYMBOLS = new Set(['SPX', 'EURUSD', 'AAPL', 'MSFT', 'GOOG', 'IBM', 'NASDAQ']);
const check = (body: Body) => checkStrategy(body, { limits: TIER_LIMITS.pro, knownSymbols: SYMBOLS });
const entryOf = (action: Json): Json => ({
  kind: 'entry',
  trigger: above,
  action: { side: 'long', sizing: { mode: 'percent_equity', value: 95 }, ...action },
});
const compared = (call: Json): Json => ({
  kind: 'compare',
  op: 'gt',
  left: { kind: 'indicator', ...call },
  right: five,
});
const sized = (size: Json): Json => ({ ...entryOf({}), action: { side: 'long', size } });

/** A graph whose nodes stand in a map by their ids. */
function keyedGraph(): Json {
  const { nodes, ...rest } = graph() as { readonly nodes: readonly { readonly id: string }[] };
  return { ...rest, nodes: Object.fromEntries(nodes.map(({ id, ...node }) => [id, node])) };
}

/** A graph that compares with a constant written as a node in place of a reference. */
const graphAboveFive = (): Json => ({
  protocol: 'svc.signal-graph',
  version: 2,
  nodes: [
    { id: 'close', ...close },
    { id: 'above', kind: 'compare', op: 'gt', left: { ref: 'close' }, right: { kind: 'const', value: 5 } },
  ],
  strategy: {
    kind: 'strategy',
    entry: { ...entryOf({}), trigger: { ref: 'above' } },
    risk: { timeStop: { maxBars: 9 } },
  },
});

/**
 * Applies every patch of every error, in the order of the issues; where there is none, the word that a suggestion
 * proposes.
 */
function patched(body: Body): Body {
  const errors = check(body).issues.filter(({ severity }) => severity === 'error');
  const steps = errors.flatMap(({ code, path, suggestion, patch }): readonly object[] => {
    if (patch !== undefined) return patch;
    const word = /Did you mean "([^"]+)"/.exec(suggestion ?? '')?.[1];
    if (word === undefined) return [];
    if (code !== 'UNKNOWN_FIELD') return [{ op: 'replace', path, value: word }];
    return [{ op: 'move', from: path, path: path.slice(0, path.lastIndexOf('/') + 1) + word }];
  });
  return jsonPatch.applyPatch(structuredClone(body), structuredClone(steps) as Operation[]).newDocument;
}

describe('a patch repairs', () => {
  it.each<[string, Body]>([
    ['the kind crossover', strategyOf({ kind: 'crossover', left: close, right: sma })],
    ['the kind crosses_below', strategyOf({ kind: 'crosses_below', left: close, right: sma })],
    ['an operator written as a kind', strategyOf({ kind: 'gt', left: close, right: sma })],
    ['a pattern with its side in the name', strategyOf({ kind: 'pattern', name: 'bullish_engulfing' })],
    ['simple_ma', strategyOf({ ...above, right: { ...sma, indicator: 'simple_ma' } })],
    ['relative_strength', strategyOf({ ...above, right: { ...sma, indicator: 'relative_strength' } })],
    ['type instead of mode', strategyOf(above, { risk: { stopLoss: { type: 'atr', period: 14, multiplier: 2 } } })],
    ['a StrategyAst sent as a graph', { settings: {}, signalGraph: strategy() }],
    ['a graph sent as a StrategyAst', { settings: {}, strategyAst: graph() }],
    ['a strategy without its envelope', { settings: {}, strategyAst: strategy().strategy }],
    ['a number of bars for a time stop', strategyOf(above, { risk: { timeStop: 9 } })],
    ['days instead of weekdays', strategyOf({ kind: 'time_window', days: ['mon'] })],
    ['days written out', strategyOf({ kind: 'time_window', weekdays: ['monday', 'Friday'] })],
    ['price instead of close', strategyOf({ ...above, left: { kind: 'market', field: 'price' } })],
    ['equity instead of account_equity', strategyOf({ ...above, left: { kind: 'state', field: 'equity' } })],
    ['buy instead of long', strategyOf(above, { entry: entryOf({ side: 'buy' }) })],
    [
      'percent instead of percent_equity',
      strategyOf(above, { entry: entryOf({ sizing: { mode: 'percent', value: 95 } }) }),
    ],
    ['the name of a field as an expression', strategyOf({ ...above, left: 'close' })],
    ['an indicator written as a kind', strategyOf({ ...above, right: { kind: 'sma', length: 5 } })],
    ['a pattern written as a kind', strategyOf({ kind: 'hammer' })],
    [
      'arguments beside args',
      strategyOf({
        ...above,
        right: { kind: 'indicator', indicator: 'keltner', output: 'upper', period: 20, multiplier: 2 },
      }),
    ],
    [
      'arguments of an indicator written as a kind',
      strategyOf({ ...above, right: { kind: 'keltner', output: 'upper', period: 20, multiplier: 2 } }),
    ],
    ['name instead of indicator', strategyOf({ ...above, right: { ...sma, indicator: undefined, name: 'sma' } })],
    ['params instead of args', strategyOf({ ...above, right: { ...sma, args: undefined, params: { length: 5 } } })],
    [
      'TA-Lib’s name of an output',
      strategyOf({ ...above, right: { kind: 'indicator', indicator: 'bbands', output: 'upperband' } }),
    ],
    [
      'an output with the name of its indicator',
      strategyOf({ ...above, right: { kind: 'indicator', indicator: 'macd', output: 'macd_signal' } }),
    ],
    ['a time in place of its window', strategyOf({ kind: 'time', from: '9:30', to: '16:00' })],
    ['a time between two clocks', strategyOf({ kind: 'time', op: 'between', start: '09:30', end: '16:00', tz: 'UTC' })],
    ['a time with one bound', strategyOf({ kind: 'time', after: '09:30' })],
    [
      'a time with its clocks in a list',
      strategyOf({ kind: 'time', between: ['22:00', '24:00'], days: ['Mon', 'tue'] }),
    ],
    ['a time with its clocks in a text', strategyOf({ kind: 'time', window: '09:30-16:00' })],
    ['a time of weekdays', strategyOf({ kind: 'time', weekdays: 'friday' })],
    ['a time with an operator', strategyOf({ kind: 'time', field: 'hour', op: '>=', value: 9 })],
    [
      'arguments in the order of everyone',
      strategyOf(compared({ indicator: 'macd', args: [12, 26, 9], output: 'signal' })),
    ],
    ['arguments in a text', strategyOf(compared({ indicator: 'macd', args: '12, 26,9', output: 'signal' }))],
    ['a call as the name', strategyOf(compared({ indicator: 'ta.macd(12, 26, 9)', output: 'signal' }))],
    ['a source before the length', strategyOf(compared({ indicator: 'rsi', args: ['close', 14] }))],
    ['an empty list of arguments', strategyOf(compared({ indicator: 'rsi', args: [] }))],
    ['a trailing stop in percent', strategyOf(above, { risk: { trailingStop: { mode: 'percent', value: 2 } } })],
    [
      'a trailing stop in ATRs',
      strategyOf(above, { risk: { trailingStop: { mode: 'atr', period: 14, multiplier: 3 } } }),
    ],
    ['a list of one condition', strategyOf([above] as unknown as Json)],
    ['a list of conditions, which must all hold', strategyOf([above, { ...above, op: 'gte' }] as unknown as Json)],
    ['a list of one action', strategyOf(above, { entry: { ...entryOf({}), action: [entryOf({}).action] } })],
    ['one exit outside of a list', strategyOf(above, { exits: { kind: 'exit', when: above } })],
    ['one weekday outside of a list', strategyOf({ kind: 'time_window', weekdays: 'mon' })],
    [
      'a constant expression instead of a number',
      strategyOf({ ...above, right: { ...sma, args: { length: { kind: 'const', value: 5 } } } }),
    ],
    [
      'a parameter expression instead of a parameter',
      strategyOf(above, {
        params: [{ name: 'bars', type: 'int', default: 5 }],
        risk: { timeStop: { maxBars: { kind: 'param', name: 'bars' } } },
      }),
    ],
    ['the item of a not in a list', strategyOf({ kind: 'not', items: [above] })],
    ['size instead of sizing', strategyOf(above, { entry: sized({ mode: 'percent_equity', value: 95 }) })],
    ['quantity instead of value', strategyOf(above, { entry: entryOf({ sizing: { mode: 'fixed', quantity: 1 } }) })],
    ['the type of an order as the order', strategyOf(above, { entry: entryOf({ order: 'market' }) })],
    ['the name of a column with its length', strategyOf({ ...above, left: 'rsi_14', right: 'ema_50' })],
    ['a field of the bar as a kind', strategyOf({ ...above, left: { kind: 'close' } })],
    ['price as a kind', strategyOf({ ...above, left: { kind: 'price', field: 'close' } })],
    ['a field of the state as a kind', strategyOf({ ...above, left: { kind: 'bars_since_entry' }, right: five })],
    ['a number as a kind', strategyOf({ ...above, right: { kind: 'constant', value: 5 } })],
    [
      'pandas-ta’s name of an output',
      strategyOf({ ...above, right: { kind: 'indicator', indicator: 'bbands', output: 'BBL_20_2.0' } }),
    ],
    ['operator instead of op', strategyOf({ ...above, op: undefined, operator: '>' })],
    ['a constant of Pine as the side', strategyOf(above, { entry: entryOf({ side: 'strategy.long' }) })],
    [
      'a map of parameters',
      strategyOf(
        { ...above, right: { ...sma, args: { length: { param: 'slow' } } } },
        {
          params: { slow: { type: 'int', default: 5 } },
        },
      ),
    ],
    ['a map of nodes', { settings: {}, signalGraph: keyedGraph() }],
    ['the side of an order for that of a pattern', strategyOf({ kind: 'pattern', name: 'engulfing', side: 'long' })],
    [
      'names of other platforms in the risk section',
      strategyOf(above, {
        risk: undefined,
        riskManagement: { takeProfits: [{ percent: 5, close: 100 }], trailingStop: { percent: 3 } },
      }),
    ],
    ['{"and": [ … ]} as a condition', strategyOf({ and: [above, { or: [above, { not: above }] }] })],
    [
      'steps of a sequence without expr',
      strategyOf({
        kind: 'sequence',
        steps: [
          { ...above, op: '>' },
          { ...above, left: 'open', minBars: 1 },
        ],
      }),
    ],
    ['a period instead of bars', strategyOf({ kind: 'rising', source: close, period: 3 })],
    ['min and max instead of lower and upper', strategyOf({ kind: 'between', source: close, min: five, max: sma })],
    [
      'a stop order of an exchange',
      strategyOf(above, { entry: entryOf({ order: { type: 'stop_market', stopPrice: 'high', expiry: 3 } }) }),
    ],
    ['entries instead of entry', strategyOf(above, { entry: undefined, entries: [entryOf({})] })],
    [
      'the types of params of other languages',
      strategyOf(
        { ...above, right: { ...sma, args: { length: { param: 'slow' } } } },
        { params: [{ name: 'slow', type: 'integer', value: 5 }] },
      ),
    ],
    ['the default of a param as a text', strategyOf(above, { params: [{ name: 'slow', type: 'int', default: '5' }] })],
    [
      'a break-even of another platform',
      strategyOf(above, { risk: { stopLoss: { mode: 'percent', value: 5 }, breakEven: { afterPercent: 2 } } }),
    ],
    [
      'multiples of R written as r',
      strategyOf(above, {
        risk: { stopLoss: { mode: 'percent', value: 5 }, takeProfits: [{ r: 2, closePercent: 100 }] },
      }),
    ],
    [
      'the lines of ichimoku in Japanese',
      strategyOf({
        ...above,
        right: {
          kind: 'indicator',
          indicator: 'ichimoku',
          args: { tenkan: 9, kijun: 26, senkou: 52 },
          output: 'kijun_sen',
        },
      }),
    ],
    ['settings of freqtrade', { ...strategyOf(above), settings: { max_open_trades: 3, startup_candle_count: 30 } }],
    ['a day as 1day', strategyOf(above, { defaults: { timeframe: '1day' } })],
    ['a constant within a graph', { settings: {}, signalGraph: graphAboveFive() }],
    ['condition instead of expr', strategyOf({ kind: 'rolling_window', window: 3, mode: 'any', condition: above })],
  ])('%s', (_what, body) => {
    expect(check(body).valid).toBe(false);
    expect(check(patched(body)).issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('no patch', () => {
  it.each<[string, Body, string]>([
    [
      'evaluates an entry written as text',
      strategyOf(above, { entry: 'close > sma(close, 50)' }),
      'Give an object with kind, trigger and action',
    ],
    ['takes ticks for percent', strategyOf(above, { risk: { trail_offset: 50 } }), '"distancePercent": 2'],
    [
      'evaluates request.security',
      strategyOf({ ...above, left: "request.security(syminfo.tickerid, 'D', close)" }),
      'with `timeframe` on its market, indicator and pattern nodes',
    ],
    [
      'adds args to a math node, which needs its inputs',
      strategyOf({ ...above, left: { kind: 'math', op: 'add' } }),
      'list',
    ],
    [
      'guesses how conditions beside the trigger are joined',
      strategyOf(above, { exits: [{ kind: 'exit', conditions: [above] }] }),
      'kind "any" where one of them is enough',
    ],
    ['takes 2 % for a number', strategyOf(above, { risk: { stopLoss: { mode: 'fixed', value: '2%' } } }), 'Write 2:'],
    ['guesses the mode of a stop', strategyOf(above, { risk: { stopLoss: 0.02 } }), '{"mode": "percent", "value": 2}'],
    [
      'makes a list of what has an error',
      strategyOf(above, { exits: { kind: 'exit', when: 5 } }),
      'Put it into a list',
    ],
    ['compares a field with a number', strategyOf({ kind: 'bars_since_entry' }), '"position_bars_since_entry"'],
    [
      'replaces a text that no field has as its name',
      strategyOf({ ...above, left: 'average of 20' }),
      '"indicator": "sma"',
    ],
  ])('%s', (_what, body, suggestion) => {
    const errors = check(body).issues.filter(({ severity }) => severity === 'error');
    expect(errors.map((error) => error.suggestion).join('\n')).toContain(suggestion);
    expect(errors.filter(({ patch }) => patch !== undefined)).toEqual([]);
  });
});

describe('the name of an indicator', () => {
  const nameOf = (indicator: string, args: Json = { length: 5 }) => {
    const body = strategyOf({ ...above, right: { kind: 'indicator', indicator, args } });
    const { strategy: repaired } = patched(body).strategyAst as { strategy: { entry: { trigger: { right: Json } } } };
    const [issue] = check(body).issues;
    return { issue, right: repaired.entry.trigger.right };
  };

  it.each([
    ['ta.ema', 'ema'],
    ['talib.SMA', 'sma'],
    ['bt.indicators.RSI', 'rsi'],
    ['EMAIndicator', 'ema'],
    ['lsma', 'linearreg'],
    ['kmaa', 'kama'],
    ['rssi', 'rsi'],
    ['linearegr', 'linearreg'],
  ])('is known from another library: %s', (written, meant) => {
    const { issue, right } = nameOf(written);
    expect(issue.patch).toEqual([{ op: 'replace', path: issue.path, value: meant }]);
    expect(right.indicator).toBe(meant);
  });

  it.each(['cfo', 'rsx', 'rvgi', 'ssf', 'stc', 'crsi', 'evwma', 'epma', 'trama', 'stderr', 'median', 'vosc', 'DI+'])(
    'of an indicator that does not exist is not replaced by a similar one: %s',
    (written) => {
      const { issue } = nameOf(written);
      expect(issue).toMatchObject({ code: 'UNKNOWN_INDICATOR' });
      expect(issue.suggestion).toContain('GET /public/v1/authoring-pack');
      expect(issue.patch).toBeUndefined();
    },
  );

  it('may have its length behind it', () => {
    expect(nameOf('EMA_50', {}).right).toEqual({ kind: 'indicator', indicator: 'ema', args: { length: 50 } });
    expect(nameOf('EMA_50').issue.patch).toBeUndefined();
  });

  it('may stand for an average by the number that TA-Lib gives it', () => {
    const right = { kind: 'indicator', indicator: 'bbands', args: { matype: 1 }, output: 'upper' };
    const sent = strategyOf({ ...above, right });
    // The name of the argument hides its value, and both are repaired at once.
    expect(check(sent).issues[1]).toMatchObject({ code: 'TYPE_MISMATCH', suggestion: 'Use "ema".' });
    expect(check(patched(sent)).issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('a suggestion', () => {
  it.each<[string, Body, string, string]>([
    ['an empty list of entries', strategyOf(above, { entry: [] }), 'ENTRY_MISSING', 'Add an object with kind'],
    ['an entry that is null', strategyOf(above, { entry: null }), 'ENTRY_MISSING', 'Give an object with kind'],
    ['an empty list of conditions', strategyOf({ kind: 'all', items: [] }), 'OUT_OF_RANGE', 'Add a condition.'],
    [
      'args that are a number',
      strategyOf({ ...above, right: { ...sma, args: 20 } }),
      'TYPE_MISMATCH',
      '{"length": 20}',
    ],
    [
      'an exit’s action as a word',
      strategyOf(above, { exits: [{ kind: 'exit', when: above, action: 'close' }] }),
      'TYPE_MISMATCH',
      'without an action, an exit closes all',
    ],
    ['an exit as a text', strategyOf(above, { exits: ['rsi(14) > 70'] }), 'TYPE_MISMATCH', '"when": '],
    [
      'a take-profit as a number',
      strategyOf(above, { risk: { takeProfits: [5], timeStop: { maxBars: 9 } } }),
      'TYPE_MISMATCH',
      'such as {"triggerPercent"',
    ],
    [
      'several exits as `exit`',
      strategyOf(above, { exit: [1, 2].map(() => ({ kind: 'exit', when: above })) }),
      'TYPE_MISMATCH',
      'Write it as "exits"',
    ],
    [
      'a param as a text',
      strategyOf({ ...above, right: { ...sma, args: { length: '$fast' } } }),
      'TYPE_MISMATCH',
      '{"param": "<name>"}',
    ],
    [
      'a member that has no place',
      { ...strategyOf(above), settings: { maxConcurrentPositions: 1, warmupPeriod: 9, comment: 'mine' } },
      'UNKNOWN_FIELD',
      'Remove it.',
    ],
    [
      'a member unlike any other',
      { ...strategyOf(above), settings: { comment: 'mine' } },
      'UNKNOWN_FIELD',
      'Remove it, or use one of maxConcurrentPositions, warmupPeriod.',
    ],
    [
      'a value compared with itself',
      strategyOf({ ...above, right: close }),
      'CONTRADICTION',
      'Both sides are the same',
    ],
  ])('shows the way out of %s', (_what, body, code, suggestion) => {
    const issue = check(body).issues.find((one) => one.code === code);
    expect(issue?.suggestion).toContain(suggestion);
  });

  it('does not take a prefix for an error of typing', () => {
    const [issue] = check(strategyOf({ ...above, left: { kind: 'market', field: 'my_close' } })).issues;
    expect(issue).toMatchObject({ code: 'OUT_OF_RANGE', suggestion: 'Did you mean "close"?' });
    expect(issue.patch).toBeUndefined();
  });

  it('names the members of an object that is missing', () => {
    const { issues } = check(strategyOf(above, { entry: { kind: 'entry', trigger: above } }));
    expect(issues).toMatchObject([
      { code: 'MISSING_FIELD', suggestion: expect.stringContaining('"sizing": {') as string },
    ]);
  });

  it('names the object that a member is to be written in', () => {
    const { kind, trigger } = entryOf({});
    const { issues } = check(strategyOf(above, { entry: { kind, trigger, side: 'long', size: '100%' } }));
    const advice = issues.filter(({ code }) => code === 'UNKNOWN_FIELD').map(({ suggestion }) => suggestion);
    expect(new Set(advice)).toEqual(new Set(['Write it in action, as side.', 'Write it in action, as sizing.']));
  });

  it('says how a time of day is written that is missing', () => {
    const { issues } = check(strategyOf({ kind: 'time_window', between: { to: '10:00' } }));
    expect(issues[0]).toMatchObject({ suggestion: 'Write a time as HH:MM, from 00:00 to 24:00.' });
  });

  it('says what a patch writes', () => {
    const { issues } = check(strategyOf({ ...above, right: 30 }));
    expect(issues[0]).toMatchObject({ suggestion: 'Write {"kind":"const","value":30}.' });
  });

  it('names every timeframe for one that does not exist', () => {
    const { issues } = check(strategyOf({ ...above, left: { ...close, timeframe: '7m' } }));
    expect(issues).toContainEqual(
      expect.objectContaining({ code: 'UNKNOWN_TIMEFRAME', suggestion: `Use one of ${TIMEFRAMES.join(', ')}.` }),
    );
  });

  it('never cuts an enumeration off', () => {
    const { issues } = check(strategyOf({ ...above, left: { kind: 'state', field: 'foo' } }));
    expect(issues[0].suggestion).toContain('last_exit_price');
  });

  it('is not joined by warnings that another error causes', () => {
    const signalGraph = {
      protocol: 'svc.signal-graph',
      version: 2,
      nodes: [{ id: 'price', kind: 'market', field: 'close' }],
      strategy: {
        kind: 'strategy',
        entry: {
          kind: 'entry',
          trigger: { ref: 'typo' },
          action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
        },
      },
    };
    const { issues } = check({ settings: {}, signalGraph });
    const codes = issues.map(({ code }) => code);
    expect(issues.find(({ code }) => code === 'REF_NOT_FOUND')?.suggestion).toBe('Add a node with this id.');
    expect(codes).not.toContain('UNUSED_NODE');
  });
});
