// Columns: names of indicators and their outputs in the places of fields, kinds, indicators and expressions.
import jsonPatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/index.ts';
import { above, close, strategyOf, type Body, type Json } from './strategyBodies.ts';

const errorsOf = (body: Body) => checkStrategy(body).issues.filter(({ severity }) => severity === 'error');
const leftOf = (body: Body) =>
  (body as unknown as { strategyAst: { strategy: { entry: { trigger: { left: Json } } } } }).strategyAst.strategy.entry
    .trigger.left;
/** What the patch of the only error makes of the left side of the trigger. */
function repairedLeft(left: unknown): Json {
  const body = strategyOf({ ...above, left });
  const [error, ...others] = errorsOf(body);
  expect(others).toEqual([]);
  const { newDocument } = jsonPatch.applyPatch(structuredClone(body), structuredClone(error.patch) as Operation[]);
  expect(errorsOf(newDocument)).toEqual([]);
  return leftOf(newDocument);
}

describe('Heikin-Ashi is an indicator', () => {
  const haClose = { kind: 'indicator', indicator: 'heikin_ashi', args: {}, output: 'close' };
  it.each<[string, unknown]>([
    ['as a field', { kind: 'market', field: 'ha_close' }],
    ['as a field in camel case', { kind: 'market', field: 'haClose' }],
    ['as a kind', { kind: 'ha_close' }],
    ['as an indicator', { kind: 'indicator', indicator: 'heikin_ashi_close', args: {} }],
    ['as a text', 'HA_Close'],
    ['with a hyphen', { kind: 'indicator', indicator: 'heikin-ashi', args: {}, output: 'close' }],
  ])('%s', (_what, left) => {
    expect(repairedLeft(left)).toEqual(haClose);
  });

  it('on its own bars', () => {
    const left = { kind: 'market', field: 'ha_close', timeframe: '1d', offset: 1 };
    expect(repairedLeft(left)).toEqual({ ...haClose, timeframe: '1d', offset: 1 });
  });

  it('as the source of another indicator, which is an expression and in a graph a node', () => {
    const args = { length: 5, source: 'ha_close' };
    const left = { kind: 'indicator', indicator: 'sma', args };
    expect(repairedLeft(left)).toEqual({ ...left, args: { length: 5 }, source: haClose });
    const nodes = [
      { id: 'average', ...left },
      { id: 'close', ...close },
      { id: 'above', kind: 'compare', op: 'gt', left: { ref: 'average' }, right: { ref: 'close' } },
    ];
    const action = { side: 'long', sizing: { mode: 'percent_equity', value: 95 } };
    const entry = { kind: 'entry', trigger: { ref: 'above' }, action };
    const strategy = { kind: 'strategy', entry, risk: { timeStop: { maxBars: 9 } } };
    const graph = { protocol: 'svc.signal-graph', version: 2, nodes, strategy };
    const [error] = errorsOf({ settings: {}, signalGraph: graph });
    expect(error.patch).toBeUndefined();
    expect(error.suggestion).toContain('a reference to {"kind":"indicator","indicator":"heikin_ashi"');
  });
});

describe('a field of the bar is not replaced by one that sounds similar:', () => {
  it.each<[string, Json]>([
    ['vwap', { indicator: 'vwap', args: {} }],
    ['hlcc4', { indicator: 'wclprice', args: {} }],
    ['sma_50', { indicator: 'sma', args: { length: 50 } }],
    ['bb_lowerband', { indicator: 'bbands', args: {}, output: 'lower' }],
    ['macd_hist', { indicator: 'macd', args: {}, output: 'histogram' }],
    ['stoch_k', { indicator: 'stoch', args: {}, output: 'k' }],
  ])('%s', (field, call) => {
    expect(repairedLeft({ kind: 'market', field })).toEqual({ kind: 'indicator', ...call });
  });
});

it('an output behind the name of its indicator keeps the arguments of the call', () => {
  const left = { kind: 'indicator', indicator: 'bb_upper', args: { length: 30 } };
  expect(repairedLeft(left)).toEqual({ ...left, indicator: 'bbands', output: 'upper' });
});
