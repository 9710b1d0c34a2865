// The payload tables of the contract, row by row: each member is taken as written there, and refused when it is
// anything else.
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';

const compare = {
  kind: 'compare',
  op: 'gt',
  left: { kind: 'market', field: 'close' },
  right: { kind: 'const', value: 1 },
};
const ast = () => ({
  protocol: 'svc.strategy',
  version: 1,
  strategy: {
    kind: 'strategy',
    defaults: { instrument: { symbol: 'EURUSD' }, timeframe: '1h', warmupBars: 10 },
    entry: {
      kind: 'entry',
      setup: structuredClone(compare),
      trigger: { ...structuredClone(compare), right: { kind: 'const', value: 1.1 } },
      filters: [{ kind: 'pattern', name: 'hammer' }],
      action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
    },
    exits: [{ kind: 'exit', when: { ...structuredClone(compare), op: 'lt' } }],
  },
});
const graph = () => ({
  protocol: 'svc.signal-graph',
  version: 2,
  meta: { name: 'G', tags: ['a'], source: { editor: 'ai', blockIds: ['b'] } },
  nodes: [
    { id: 'n-const', kind: 'const', value: 1, label: 'one', description: 'd' },
    { id: 'n-market', kind: 'market', field: 'hlc3', timeframe: '4h', offset: 1, instrument: { symbol: 'EURUSD' } },
    { id: 'n-indicator', kind: 'indicator', indicator: 'macd', args: {}, output: 'macd', timeframe: '1h', offset: 0 },
    { id: 'n-state', kind: 'state', field: 'position_exists', offset: 1 },
    { id: 'n-rolling', kind: 'rolling', op: 'max', period: 5, source: { ref: 'n-market' } },
    { id: 'n-compare', kind: 'compare', op: 'gt', left: { ref: 'n-rolling' }, right: { ref: 'n-const' } },
    { id: 'n-flat', kind: 'compare', op: 'lt', left: { ref: 'n-state' }, right: { ref: 'n-const' } },
    { id: 'n-cross', kind: 'cross', op: 'cross_up', left: { ref: 'n-indicator' }, right: { ref: 'n-const' } },
  ],
  strategy: {
    kind: 'strategy',
    entry: {
      kind: 'entry',
      trigger: { ref: 'n-cross' },
      filters: [{ ref: 'n-compare' }, { ref: 'n-flat' }],
      action: { side: 'long', sizing: { mode: 'fixed', value: 1 } },
    },
    exits: [{ kind: 'exit', when: { ref: 'n-compare' } }],
  },
});

type Json = Record<string, unknown>;
/** The payload with one member set; undefined takes it away. */
function changed(payload: Json, path: string, value: unknown): Json {
  const segments = path.split('.');
  const last = segments.pop()!;
  const owner = segments.reduce<Json>((at, segment) => at[segment] as Json, payload);
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return payload;
}
const errorsOf = (payloads: { strategyAst?: unknown; signalGraph?: unknown; settings?: unknown }) =>
  checkStrategy({ settings: {}, ...payloads }).issues.filter((issue) => issue.severity === 'error');

describe('StrategyAst', () => {
  it('accepts a payload with every row of the table', () => {
    expect(errorsOf({ strategyAst: ast() })).toEqual([]);
  });
  it.each([
    ['protocol', 'svc.other', 'PROTOCOL_UNSUPPORTED'],
    ['version', 2, 'VERSION_UNSUPPORTED'],
    ['strategy.kind', 'plan', 'UNKNOWN_NODE_KIND'],
    ['strategy.defaults.instrument.symbol', 5, 'TYPE_MISMATCH'],
    ['strategy.defaults.timeframe', '7h', 'UNKNOWN_TIMEFRAME'],
    ['strategy.defaults.warmupBars', 'many', 'TYPE_MISMATCH'],
    ['strategy.entry.kind', 'exit', 'UNKNOWN_NODE_KIND'],
    ['strategy.entry.setup', { kind: 'const', value: 1 }, 'TYPE_MISMATCH'],
    ['strategy.entry.trigger', undefined, 'TRIGGER_MISSING'],
    ['strategy.entry.filters.0.name', 'hamer', 'UNKNOWN_PATTERN'],
    ['strategy.entry.action.side', 'up', 'OUT_OF_RANGE'],
    ['strategy.entry.action.sizing.mode', 'all_in', 'SIZING_INVALID'],
    ['strategy.entry.action.sizing.value', -1, 'SIZING_INVALID'],
    ['strategy.entry.trigger.op', 'greater', 'UNKNOWN_OPERATOR'],
  ])('%s = %j is refused', (path, value, code) => {
    const issues = errorsOf({ strategyAst: changed(ast(), path, value) });
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.map((issue) => issue.code)).toContain(code);
    expect(issues.every((issue) => issue.path.startsWith('/strategyAst') && issue.field === 'strategyAst')).toBe(true);
  });
});

describe('SignalGraph', () => {
  it('accepts a payload with every node kind and field of the table', () => {
    expect(errorsOf({ signalGraph: graph() })).toEqual([]);
  });
  it.each([
    ['protocol', undefined],
    ['version', 1],
    ['nodes', []],
    ['strategy', undefined],
    ['extra', 1],
    ['meta.source.editor', 'vim'],
    ['nodes.0.value', undefined],
    ['nodes.1.field', 'vwap'],
    ['nodes.1.timeframe', '7h'],
    ['nodes.1.offset', -1],
    ['nodes.1.instrument', {}],
    ['nodes.2.indicator', undefined],
    ['nodes.2.output', 'line'],
    ['nodes.3.field', undefined],
    ['nodes.4.op', 'middle'],
    ['nodes.4.period', 0],
    ['nodes.4.source', undefined],
    ['nodes.5.left', { ref: 'nowhere' }],
    ['nodes.7.op', 'cross_over'],
    ['nodes.0.id', undefined],
    ['nodes.0.kind', undefined],
    ['strategy.entry.trigger', { ref: 'n-const' }],
  ])('%s = %j is refused', (path, value) => {
    const issues = errorsOf({ signalGraph: changed(graph(), path, value) });
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.every((issue) => issue.path.startsWith('/signalGraph'))).toBe(true);
  });
});
