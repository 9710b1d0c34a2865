// What authors bring from other platforms in another place, under another name or as text: the patches alone make it
// the strategy that was meant, and where the meaning is not certain, the advice names the form.
import jsonPatch from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { above, close, five, sma, strategyOf, type Body, type Json } from './strategyBodies.ts';

const stop = { risk: { stopLoss: { mode: 'percent', value: 5 } } };
const crossUp: Json = { kind: 'cross', op: 'cross_up', left: close, right: sma };
const sized = (sizing: unknown): Json => ({ kind: 'entry', trigger: above, action: { side: 'long', sizing } });
const highest = { kind: 'rolling', op: 'max', period: 20, source: { kind: 'market', field: 'high' } };
const withRisk = (risk: Json): Body => strategyOf(above, { risk });

/** The hash of what the patches of all errors make of a body, in up to three rounds. */
function repairedHash(body: Body): string | undefined {
  let current = structuredClone(body);
  for (let round = 0; round < 3; round++) {
    const { valid, issues, compiled } = checkStrategy(current);
    if (valid) return compiled?.strategyHash;
    for (const { patch = [] } of issues) current = jsonPatch.applyPatch(current, structuredClone(patch)).newDocument;
  }
  return undefined;
}

describe('the patches make the strategy that was meant of', () => {
  const cases: readonly (readonly [string, Body, Body])[] = [
    ...[{ a: close, b: sma }, { lhs: close, rhs: sma }, { fast: close, slow: sma }, { args: [close, sma] }].flatMap(
      (sides) =>
        ['up', 'above', 'crosses above', 'crossesAbove', 'crossover'].map(
          (direction) =>
            [
              `a cross with ${Object.keys(sides).join(' and ')} and the direction ${direction}`,
              strategyOf({ kind: 'cross', ...sides, direction }, stop),
              strategyOf(crossUp, stop),
            ] as const,
        ),
    ),
    [
      'a cross with an operator of its own name',
      strategyOf({ kind: 'compare', op: 'crosses_below', left: close, right: sma }, stop),
      strategyOf({ ...crossUp, op: 'cross_down' }, stop),
    ],
    [
      'functions with their module',
      strategyOf({ kind: 'qtpylib.crossed_above', series1: close, series2: { kind: 'ta.sma', length: 5 } }, stop),
      strategyOf({ ...crossUp, right: { ...sma, args: { length: 5 } } }, stop),
    ],
    [
      'the highest high as a kind',
      strategyOf({ ...above, right: { kind: 'ta.highest', source: 'high', length: 20 } }, stop),
      // On the same bar, the close is never above it.
      strategyOf({ ...above, right: { ...highest, offset: 1 } }, stop),
    ],
    [
      'named operands of math, one with a fault of its own',
      strategyOf(
        {
          ...above,
          right: { kind: 'math', op: '*', left: { kind: 'rolling', op: 'mean', window: 9, source: 'close' }, right: 2 },
        },
        stop,
      ),
      strategyOf(
        {
          ...above,
          right: {
            kind: 'math',
            op: 'mul',
            args: [
              { kind: 'rolling', op: 'avg', period: 9, source: close },
              { kind: 'const', value: 2 },
            ],
          },
        },
        stop,
      ),
    ],
    ['a number as text', strategyOf({ ...above, right: '5' }, stop), strategyOf({ ...above, right: five }, stop)],
    [
      'a call as text',
      strategyOf({ ...above, right: 'ta.sma(close, 20)' }, stop),
      strategyOf({ ...above, right: { ...sma, args: { length: 20 } } }, stop),
    ],
    [
      'percents as text',
      strategyOf(above, {
        entry: sized({ mode: 'percent_equity', value: '95%' }),
        risk: { stopLoss: '2.5 %', takeProfits: [{ triggerPercent: '4%', closePercent: '100 %' }] },
      }),
      strategyOf(above, {
        entry: sized({ mode: 'percent_equity', value: 95 }),
        risk: {
          stopLoss: { mode: 'percent', value: 2.5 },
          takeProfits: [{ triggerPercent: 4, closePercent: 100 }],
        },
      }),
    ],
    [
      'a quantile in percent as text',
      strategyOf({ ...above, right: { ...highest, op: 'quantile', quantile: '95%' } }, stop),
      strategyOf({ ...above, right: { ...highest, op: 'quantile', quantile: 0.95 } }, stop),
    ],
    ['a mode as a member', withRisk({ stopLoss: { percent: 5 } }), strategyOf(above, stop)],
    [
      'a stop and a target beside the entry',
      strategyOf(above, { risk: undefined, stop_loss: { percent: 5 }, take_profit: [{ percent: 4, close: 100 }] }),
      withRisk({ ...stop.risk, takeProfits: [{ triggerPercent: 4, closePercent: 100 }] }),
    ],
    [
      'a symbol and a timeframe in the wrong place',
      strategyOf(above, { ...stop, defaults: { symbol: 'SPX' }, timeframe: '4h' }),
      strategyOf(above, { ...stop, defaults: { instrument: { symbol: 'SPX' }, timeframe: '4h' } }),
    ],
    [
      'params as names and numbers',
      strategyOf({ ...above, right: { ...sma, args: { length: { param: 'n' } } } }, { ...stop, params: { n: 9 } }),
      strategyOf(
        { ...above, right: { ...sma, args: { length: { param: 'n' } } } },
        { ...stop, params: [{ name: 'n', type: 'int', default: 9 }] },
      ),
    ],
    [
      'times of day beside the kind',
      strategyOf({ kind: 'time_window', start: '09:30', end: '16:00' }, stop),
      strategyOf({ kind: 'time_window', between: { from: '09:30', to: '16:00' } }, stop),
    ],
  ];
  it.each(cases)('%s', (_what, written, meant) => {
    expect(checkStrategy(written).valid).toBe(false);
    const { compiled } = checkStrategy(meant);
    expect(repairedHash(written)).toBe(compiled!.strategyHash);
  });

  const graphOf = (nodes: readonly Json[], trigger: unknown): Body => {
    const { strategyAst } = strategyOf(above, stop) as unknown as { strategyAst: { strategy: Json } };
    const strategy = { ...strategyAst.strategy, entry: { ...(strategyAst.strategy.entry as Json), trigger } };
    return { settings: {}, signalGraph: { protocol: 'svc.signal-graph', version: 2, nodes, strategy } };
  };
  it('expressions, words and misnamed references in a graph', () => {
    const nodes = [
      { id: 'up', kind: 'compare', op: 'gt', left: 'close', right: { ...sma, args: { length: 20 } } },
      { id: 'low', kind: 'compare', op: 'lt', left: { ref: 'close' }, right: { value: 30 } },
      { id: 'both', kind: 'all', items: [{ node: 'up' }, 'low'] },
    ];
    const items = [
      { ...above, right: { ...sma, args: { length: 20 } } },
      { ...above, op: 'lt', right: { kind: 'const', value: 30 } },
    ];
    const { compiled } = checkStrategy(strategyOf({ kind: 'all', items }, stop));
    expect(repairedHash(graphOf(nodes, { id: 'both' }))).toBe(compiled!.strategyHash);
  });
});

describe('advice without a patch', () => {
  const adviceOn = (body: Body) =>
    checkStrategy(body).issues.map(({ path, suggestion, patch }) => [path.split('/').at(-1), suggestion, patch]);

  it('names the members of a cross that may have been meant, the required ones first', () => {
    expect(adviceOn(strategyOf({ kind: 'cross', these: close, those: sma, op: 'cross_up' }, stop))).toEqual(
      expect.arrayContaining([
        ['these', 'Remove it, or use one of left, right, within.', undefined],
        ['those', 'Remove it, or use one of left, right, within.', undefined],
      ]),
    );
  });

  it('names the form of a symbol, of a share to close, and of what belongs in the config', () => {
    const symbol = { instrument: { symbol: ['SPX', 'NASDAQ'] } };
    expect(adviceOn(strategyOf(above, { ...stop, defaults: symbol }))).toEqual([
      ['symbol', 'Give a string, such as "SPX".', undefined],
    ]);
    expect(adviceOn(withRisk({ takeProfits: [{ triggerPercent: 4 }] }))).toEqual([
      ['closePercent', 'Give a number, such as 100 for all of the position.', undefined],
    ]);
    const entry = { ...sized({ mode: 'fixed', value: 1 }), leverage: 2 };
    expect(adviceOn(strategyOf(above, { ...stop, entry }))).toEqual([
      ['leverage', 'Remove it, and set it in the config of the backtest.', undefined],
    ]);
  });
});

it('a warning of a tight stop says in which unit its number is', () => {
  const warned = (risk: Json) => {
    const [{ code, message, suggestion }] = checkStrategy(withRisk(risk)).issues;
    return `${code} ${message} ${suggestion}`;
  };
  expect(warned({ stopLoss: { mode: 'percent', value: 0.02 } })).toBe(
    'STOP_TIGHTER_THAN_NOISE value is in percent points: 0.02 means 0.02 %, less than a 1h bar usually moves, so ' +
      'that most positions stop out at once. Use at least 0.1. If 0.02 was meant as a fraction, write 2 for 2 %.',
  );
  expect(warned({ stopLoss: { mode: 'atr', period: 14, multiplier: 0.2 } })).toBe(
    'STOP_TIGHTER_THAN_NOISE multiplier is a multiple of the ATR: 0.2 means 0.2 ATR, less than a 1h bar usually ' +
      'moves, so that most positions stop out at once. Use at least 0.5.',
  );
});
