import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { compileTokens } from '../../../src/engine/language/tokens/compileTokens.ts';
import { graph, strategy, type Json } from '../../support/builders.ts';

const nodes = (count: number, node: (i: number) => Json): Json => ({
  ...graph(),
  nodes: Array.from({ length: count }, (_, i) => ({ id: `n${i}`, ...node(i) })),
});
function nested(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = { kind: 'session', name: 'london' };
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

/** Name → a body as JSON text would give it, and an issue code of the answer. */
const CASES: readonly [name: string, code: string, body: () => Json][] = [
  ['an AST nested 100,000 deep', 'PAYLOAD_TOO_DEEP', () => ({ strategyAst: strategy(nested(100_000, (item) => ({ kind: 'not', item }))) })],
  ['a graph whose meta nests 100,000 deep', 'PAYLOAD_TOO_DEEP', () => ({ signalGraph: { ...graph(), meta: nested(100_000, (a) => ({ a })) } })],
  ['a chain of 4,000 references', 'PAYLOAD_TOO_DEEP', () => ({ signalGraph: nodes(4_000, (i) => ({ kind: 'not', item: { ref: `n${i + 1}` } })) })],
  ['a megabyte of nodes', 'TIER_LIMIT_NODES', () => ({ signalGraph: nodes(19_000, (i) => ({ kind: 'const', value: i, label: 'x'.repeat(20) })) })],
  ['a megabyte of unknown indicators', 'TIER_LIMIT_NODES', () => ({ signalGraph: nodes(9_000, (i) => ({ kind: 'indicator', indicator: `zma${i}${'y'.repeat(50)}`, args: {} })) })],
  ['a megabyte of unknown members', 'UNKNOWN_FIELD', () => ({ signalGraph: { ...graph(), ...Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`member${i}`, 1])) } })],
  ['more objects than any strategy has', 'TIER_LIMIT_NODES', () => ({ strategyAst: { ...strategy(), meta: { list: Array.from({ length: 60_000 }, () => ({})) } } })],
  ['a node used twice at each of sixty levels', 'TIER_LIMIT_NODES', () => ({
    signalGraph: { ...nodes(60, (i) => (i === 0 ? { kind: 'session', name: 'london' } : { kind: 'all', items: [{ ref: `n${i - 1}` }, { ref: `n${i - 1}` }] })), strategy: { ...graph().strategy, entry: { ...graph().strategy.entry, trigger: { ref: 'n59' } } } },
  })],
  ['a cycle through two thousand nodes', 'GRAPH_CYCLE', () => ({ signalGraph: nodes(2_000, (i) => ({ kind: 'shift', offset: 1, source: { ref: `n${(i + 1) % 2_000}` } })) })],
  ['a node that reads itself', 'GRAPH_CYCLE', () => ({ signalGraph: nodes(1, () => ({ kind: 'shift', offset: 1, source: { ref: 'n0' } })) })],
  ['four thousand nodes of one id', 'NODE_ID_DUPLICATE', () => ({ signalGraph: { ...graph(), nodes: Array.from({ length: 4_000 }, () => ({ id: 'a', kind: 'const', value: 1 })) } })],
  ['__proto__ as a member, an id, a kind and an argument', 'UNKNOWN_FIELD', () =>
    JSON.parse('{"signalGraph":{"__proto__":{"polluted":1},"protocol":"svc.signal-graph","version":2,"nodes":[{"id":"__proto__","kind":"constructor"},{"id":"toString","kind":"indicator","indicator":"sma","args":{"__proto__":{"polluted":1}}}],"strategy":{"kind":"strategy","entry":{"kind":"entry","trigger":{"ref":"__proto__"},"action":null}}}}')],
  ['numbers past every bound', 'OUT_OF_RANGE', () => JSON.parse('{"settings":{"warmupPeriod":1e999},"strategyAst":{"protocol":"svc.strategy","version":1e308,"strategy":{"kind":"strategy","entry":{"kind":"entry","trigger":{"kind":"compare","op":"gt","left":{"kind":"rolling","op":"sum","period":9007199254740993,"source":{"kind":"const","value":1e999}},"right":{"kind":"const","value":-1e999}},"action":{"side":"long","sizing":{"mode":"fixed","value":1e999}}}}}}')],
  ['an array in place of everything', 'TYPE_MISMATCH', () => ({ settings: [], strategyAst: [], signalGraph: [[[]]] })],
  ['names a kilobyte long', 'UNKNOWN_INDICATOR', () => ({ signalGraph: nodes(500, () => ({ kind: 'indicator', indicator: 'm'.repeat(2_000), args: {} })) })],
  ['a megabyte of digits for an output', 'INDICATOR_OUTPUT_UNKNOWN', () => ({ strategyAst: strategy({ kind: 'compare', op: 'gt', left: { kind: 'indicator', indicator: 'bbands', args: {}, output: `${'1'.repeat(1_000_000)}x` }, right: { kind: 'const', value: 1 } }) })],
  ['a megabyte of spaces for the bounds of a time', 'TYPE_MISMATCH', () => ({ strategyAst: strategy({ kind: 'time', between: `${' '.repeat(1_000_000)}x` }) })],
  ['a tag under another name that has no text', 'MISSING_FIELD', () => ({ strategyAst: strategy({ type: { toString: null }, op: 'gt' }) })],
  ['one all of four thousand items', 'OUT_OF_RANGE', () => ({ strategyAst: strategy({ kind: 'all', items: Array.from({ length: 4_000 }, (_, i) => ({ kind: 'rising', bars: i + 1, source: { kind: 'market', field: 'close' } })) }) })],
]; // prettier-ignore

describe('hostile payloads', () => {
  for (const [name, code, body] of CASES) {
    it(`answers ${name} with ${code} and a short list of issues`, () => {
      const outcome = checkStrategy({ settings: {}, ...body() });
      expect(outcome.valid).toBe(false);
      expect(outcome.issues.map((issue) => issue.code)).toContain(code);
      expect(outcome.issues.length).toBeLessThanOrEqual(100);
      expect(JSON.stringify(outcome).length).toBeLessThan(100_000);
      expect(({} as Json).polluted).toBeUndefined();
    });
  }

  it('rejects token lists that nest too deep or are too long', () => {
    const group = Array.from({ length: 1_500 }, () => ({ type: 'group', value: '(' }));
    expect(compileTokens({ entryTokens: group }).issues.map(({ code }) => code)).toEqual(['PAYLOAD_TOO_DEEP']);
    const minus = Array.from({ length: 1_500 }, () => ({ type: 'operator', value: '-' }));
    expect(compileTokens({ entryTokens: minus }).issues.map(({ code }) => code)).toEqual(['PAYLOAD_TOO_DEEP']);
    const long = Array.from({ length: 5_000 }, () => ({ type: 'number', value: 1 }));
    expect(compileTokens({ entryTokens: long }).issues.map(({ code }) => code)).toEqual(['OUT_OF_RANGE']);
  });
});
