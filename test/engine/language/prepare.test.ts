import { describe, expect, it } from 'vitest';
import { lowerGraph } from '../../support/lowerGraph.ts';
import { prepareStrategy, type RunInputs, type PrepareContext } from '../../../src/engine/language/prepare/prepare.ts';
import { all, compare, entry, graph, indicator, market, strategy, type Json } from '../../support/builders.ts';

const withParams = (): Json =>
  strategy(
    compare(indicator('rsi', { length: { param: 'length' } }), 'lt', { kind: 'const', value: { param: 'level' } }),
    {
      params: [
        { name: 'length', type: 'int', default: 14, min: 2, max: 50 },
        { name: 'level', type: 'choice', default: 30, values: [20, 30, 40] },
        { name: 'isLate', type: 'bool', default: false },
        { name: 'average', type: 'choice', default: 'sma', values: ['sma', 'ema', 'nonsense'] },
      ],
      risk: { stopLoss: { mode: 'percent', value: 2 }, takeProfits: [{ triggerPercent: 4, closePercent: 60 }] },
    },
  );
function rules(payload: Json, inputs?: RunInputs, settings: Json = {}, context?: PrepareContext): Json {
  const prepared = prepareStrategy(payload, settings, inputs, context);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.issues));
  return prepared.strategy;
}
function issues(payload: Json, inputs?: RunInputs, context?: PrepareContext): string[] {
  const prepared = prepareStrategy(payload, {}, inputs, context);
  return prepared.ok ? [] : prepared.issues.map(({ code, path }) => `${code} ${path}`);
}

describe('preparing a run', () => {
  it('replaces params by their defaults, or by the values of the run', () => {
    const byDefault = rules(withParams()).entries[0].trigger;
    expect([byDefault.left.args.length, byDefault.right.value]).toEqual([14, 30]);
    const given = rules(withParams(), { params: { length: 7, level: 40 } }).entries[0].trigger;
    expect([given.left.args.length, given.right.value]).toEqual([7, 40]);
    expect(rules(withParams()).entries[0].trigger.left.args.length).toBe(14);
  });

  it('takes a bool for 0 or 1, and a choice of words for an argument of words', () => {
    const payload = strategy(
      all(
        compare({ kind: 'param', name: 'isLate' }, 'eq', 1),
        compare(indicator('ma', { ma_type: { param: 'average' } }), 'gt', 1),
      ),
      { params: withParams().strategy.params },
    );
    const argument = (indicatorNode: Json): string =>
      Object.values(indicatorNode.args).find((value) => typeof value === 'string') as string;
    const { items } = rules(payload, { params: { isLate: true, average: 'ema' } }).entries[0].trigger;
    expect(items[0].left).toEqual({ kind: 'const', value: 1 });
    expect(argument(items[1].left)).toBe('ema');
    expect(issues(payload, { params: { average: 'nonsense' } })).toEqual([
      'INDICATOR_ARG_OUT_OF_RANGE /strategyAst/strategy/entry/trigger/items/1/left/args/ma_type',
    ]);
  });

  it('rejects a param or an override that makes the window of a slope too long', () => {
    const slope = (period: unknown): Json =>
      strategy(compare({ kind: 'rolling', op: 'slope', period, source: market() }, 'gt', 0), {
        params: [{ name: 'n', type: 'int', default: 20 }],
      });
    const pointer = '/strategyAst/strategy/entry/trigger/left/period';
    expect(issues(slope({ param: 'n' }), { params: { n: 5_000 } })).toEqual([]);
    expect(issues(slope({ param: 'n' }), { params: { n: 5_001 } })).toEqual([`OUT_OF_RANGE ${pointer}`]);
    const override = '/strategy/entry/trigger/left/period';
    expect(issues(slope(20), { overrides: { [override]: 5_001 } })).toEqual([
      `OUT_OF_RANGE /config/overrides/${override.replaceAll('/', '~1')}`,
    ]);
  });

  it('rejects state of an instrument that is not the one of the run', () => {
    const payload = strategy(
      compare({ kind: 'state', field: 'position_exists', instrument: { symbol: 'MSFT' } }, 'eq', 1),
    );
    expect(issues(payload)).toEqual([]);
    expect(issues(payload, {}, { symbol: 'MSFT' })).toEqual([]);
    expect(issues(payload, {}, { symbol: 'AAPL' })).toEqual([
      'NOT_AVAILABLE_YET /strategyAst/strategy/entry/trigger/left/instrument/symbol',
    ]);
    const prepared = prepareStrategy(payload, {}, {}, { symbol: 'AAPL' });
    expect(prepared.ok ? null : prepared.issues[0]).toMatchObject({
      message: 'This reads the state of "MSFT", and only "AAPL" is traded: nothing else has a position.',
      suggestion: 'Remove `instrument` to read the state of AAPL, or run the strategy on MSFT.',
    });
  });

  it('rejects params that are unknown, of the wrong type or out of range', () => {
    expect(issues(withParams(), { params: { lenght: 5 } })).toEqual(['PARAM_UNDEFINED /config/params/lenght']);
    expect(issues(withParams(), { params: { length: 1 } })).toEqual(['OUT_OF_RANGE /config/params/length']);
    expect(issues(withParams(), { params: { length: 7.5 } })).toEqual(['TYPE_MISMATCH /config/params/length']);
    expect(issues(withParams(), { params: { level: 31 } })).toEqual(['OUT_OF_RANGE /config/params/level']);
    expect(issues(withParams(), { params: { isLate: 1 } })).toEqual(['TYPE_MISMATCH /config/params/isLate']);
    expect(issues(withParams(), { params: { length: NaN, level: 0 } }).length).toBe(2);
    expect(issues(withParams(), JSON.parse('{"params":{"__proto__":1}}'))).toEqual([
      'PARAM_UNDEFINED /config/params/__proto__',
    ]);
  });

  it('rejects a param within its own bounds that does not fit its place', () => {
    const payload = strategy(compare(indicator('sma', { length: { param: 'n' } }), 'gt', 1), {
      params: [{ name: 'n', type: 'int', default: 5 }],
    });
    expect(issues(payload, { params: { n: 0 } })).toEqual([
      'INDICATOR_ARG_OUT_OF_RANGE /strategyAst/strategy/entry/trigger/left/args/length',
    ]);
    const stop = strategy(undefined, {
      params: [{ name: 'x', type: 'float', default: 2 }],
      risk: { stopLoss: { mode: 'percent', value: { param: 'x' } } },
    });
    expect(issues(stop, { params: { x: 120 } })).toEqual(['RISK_INVALID /strategyAst/strategy/risk/stopLoss/value']);
    expect(issues(stop, { params: { x: 0 } })).toEqual(['RISK_INVALID /strategyAst/strategy/risk/stopLoss/value']);
  });

  it('overrides numbers by pointer, in the AST or the graph, without changing the payload', () => {
    const payload = withParams();
    const before = JSON.stringify(payload);
    const overrides = { '/strategyAst/strategy/risk/stopLoss/value': 3, '/strategy/entry/trigger/left/args/length': 9 };
    const made = rules(payload, { overrides });
    expect([made.risk.stopLoss.value, made.entries[0].trigger.left.args.length]).toEqual([3, 9]);
    expect(JSON.stringify(payload)).toBe(before);
    const lowered = lowerGraph(graph());
    if (!lowered.ok) throw new Error('not lowered');
    const inGraph = rules(
      lowered.strategyAst,
      { overrides: { '/signalGraph/nodes/1/args/length': 33 } },
      {},
      { signalGraph: graph() },
    );
    expect(inGraph.entries[0].trigger.right.args.length).toBe(33);
    expect(inGraph.exits[0].when.right.args.length).toBe(33);
  });

  it('rejects overrides that lead nowhere, to no number, or out of range', () => {
    const at = (pointer: string, value: number): string[] => issues(withParams(), { overrides: { [pointer]: value } });
    expect(at('strategy', 1)).toEqual(['OUT_OF_RANGE /config/overrides/strategy']);
    expect(at('/strategyAst/strategy/nothing', 1)).toEqual([
      'OUT_OF_RANGE /config/overrides/~1strategyAst~1strategy~1nothing',
    ]);
    expect(at('/strategyAst/protocol', 1)).toEqual(['OUT_OF_RANGE /config/overrides/~1strategyAst~1protocol']);
    expect(at('/strategyAst/strategy/risk/stopLoss/value', -1)).toEqual([
      'RISK_INVALID /config/overrides/~1strategyAst~1strategy~1risk~1stopLoss~1value',
    ]);
    expect(at('/strategy/__proto__/x', 1)).toEqual(['OUT_OF_RANGE /config/overrides/~1strategy~1__proto__~1x']);
    expect(at('/strategyAst/strategy/risk/takeProfits/0/closePercent', 101)).toEqual([
      'RISK_INVALID /config/overrides/~1strategyAst~1strategy~1risk~1takeProfits~10~1closePercent',
    ]);
  });

  it('rejects an override of the length of a list, which is not a number of the payload', () => {
    const pointer = '/strategyAst/strategy/risk/takeProfits/length';
    expect(issues(withParams(), { overrides: { [pointer]: 3 } })).toEqual([
      `OUT_OF_RANGE /config/overrides/${pointer.replaceAll('/', '~1')}`,
    ]);
  });

  it('copies a section once, however many numbers in it are overridden', () => {
    const readsWith = (count: number): number => {
      const payload = withParams();
      let reads = 0;
      Object.defineProperty(payload.strategy, 'exits', {
        enumerable: true,
        get: () => {
          reads++;
          return [];
        },
      });
      const pointers = [
        '/strategy/risk/stopLoss/value',
        '/strategy/risk/takeProfits/0/triggerPercent',
        '/strategy/risk/takeProfits/0/closePercent',
        '/strategy/entry/trigger/left/args/length',
        '/strategy/entry/trigger/right/value',
        '/strategy/params/0/default',
        '/strategy/params/0/min',
        '/strategy/params/0/max',
      ].slice(0, count);
      rules(payload, { overrides: Object.fromEntries(pointers.map((pointer) => [pointer, 7])) });
      return reads;
    };
    expect(readsWith(8)).toBe(readsWith(1));
  });

  it('takes settings before the strategy’s defaults, and those before the general ones', () => {
    const plain = rules(strategy());
    expect([plain.maxConcurrentPositions, plain.warmupBars, plain.timezone]).toEqual([1, null, 'UTC']);
    const defaults = strategy(undefined, {
      defaults: { maxConcurrentPositions: 3, warmupBars: 50, timezone: 'Asia/Tokyo' },
    });
    expect(rules(defaults)).toMatchObject({ maxConcurrentPositions: 3, warmupBars: 50, timezone: 'Asia/Tokyo' });
    expect(rules(defaults, {}, { maxConcurrentPositions: 7, warmupPeriod: 60 })).toMatchObject({
      maxConcurrentPositions: 7,
      warmupBars: 60,
    });
  });

  it('rejects nodes finer than the bars of the run', () => {
    const payload = strategy(compare(market('close', { timeframe: '1h' }), 'gt', 1));
    expect(issues(payload, {}, { timeframe: '1h' })).toEqual([]);
    expect(issues(payload, {}, { timeframe: '4h' })).toEqual(['TIMEFRAME_BELOW_BASE /config/timeframe']);
  });

  it('writes out every default', () => {
    const made = rules(
      strategy(
        all(
          compare(indicator('RSI', { source: 'typical' }), 'lt', 30),
          { kind: 'pattern', name: 'CDLHAMMER' },
          compare({ kind: 'shift', offset: 2, source: market('median', { offset: 1 }) }, 'gt', {
            kind: 'shift',
            offset: 1,
            source: market('close', { timeframe: '4h' }),
          }),
          { kind: 'time_window', weekdays: ['mon'] },
        ),
        { exits: undefined, exit: { kind: 'exit', when: compare(market(), 'lt', 1) } },
      ),
    );
    const [trigger] = made.entries.map((one: Json) => one.trigger);
    expect(trigger.items[0].left).toEqual({
      kind: 'indicator',
      indicator: 'rsi',
      args: { length: 14 },
      output: 'value',
      offset: 0,
      source: { kind: 'market', field: 'hlc3', offset: 0 },
    });
    expect(trigger.items[1]).toEqual({ kind: 'pattern', name: 'hammer', side: 'any', args: {}, offset: 0, within: 1 });
    expect(trigger.items[2].left).toEqual({ kind: 'market', field: 'hl2', offset: 3 });
    expect(trigger.items[2].right).toEqual({
      kind: 'shift',
      offset: 1,
      source: { kind: 'market', field: 'close', timeframe: '4h', offset: 0 },
    });
    expect(trigger.items[3].timezone).toBe('UTC');
    expect(made.entries[0]).toMatchObject({
      filters: [],
      cooldownBars: 0,
      conflict: 'ignore',
      action: { order: { type: 'market' } },
    });
    expect(made.exits).toMatchObject([
      { appliesTo: 'any', priority: 0, action: { mode: 'percent_position', value: 100 } },
    ]);
    expect(made.risk).toEqual({ takeProfits: [] });
  });

  it('keeps a shift below a node with its own timeframe, where it counts that node’s bars', () => {
    const source = { kind: 'shift', offset: 1, source: market() };
    const made = rules(strategy(compare(indicator('ema', { length: 5 }, { timeframe: '4h', source }), 'gt', 1)));
    expect(made.entries[0].trigger.left.source).toEqual({
      kind: 'shift',
      offset: 1,
      source: { kind: 'market', field: 'close', offset: 0 },
    });
  });

  it('keeps the author’s names, and the lists that have one', () => {
    const inner = { ...all(compare(market(), 'gt', 1), compare(market(), 'lt', 9)), id: 'band' };
    const made = rules(
      strategy(undefined, { entry: entry(all(inner, compare(market('open'), 'gt', 2, { id: 'o', label: 'Open' }))) }),
    );
    expect(made.entries[0].trigger.items).toMatchObject([
      { id: 'band', kind: 'all' },
      { id: 'o', label: 'Open' },
    ]);
  });

  it('rewrites a payload without params or overrides once, however often it is run', () => {
    const payload = withParams();
    const [first, second] = [rules(payload), rules(payload)];
    expect(second.entries).toBe(first.entries);
    expect(rules(payload, { params: { length: 7 } }).entries).not.toBe(first.entries);
  });
});
