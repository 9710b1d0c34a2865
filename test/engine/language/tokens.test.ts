import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../../src/engine/language/check/checkStrategy.ts';
import { compileTokens } from '../../../src/engine/language/tokens/compileTokens.ts';
import type { Json } from '../../support/builders.ts';

/**
 * Words → tokens: numbers, brackets, and/or/not, fields, `name:length` for indicators, `!name` for patterns, else
 * operators.
 */
function tokens(text: string): Json[] {
  return text.split(' ').map((word, i) => {
    const id = `t${i}`;
    if (/^\d/.test(word)) return { id, type: 'number', value: Number(word) };
    if (word === '(' || word === ')') return { id, type: 'group', value: word };
    if (['and', 'or', 'not'].includes(word)) return { id, type: 'logic', value: word };
    if (['open', 'high', 'low', 'close'].includes(word)) return { id, type: 'market', name: word };
    if (/^![a-z]/.test(word)) return { id, type: 'pattern', name: word.slice(1) };
    const [name, length] = word.split(':');
    if (length !== undefined) return { id, type: 'indicator', name, args: { length: Number(length) } };
    return { id, type: 'operator', value: word };
  });
}

/** An expression as fully bracketed text, which shows how tightly each operator bound. */
function shown(node: Json): string {
  switch (node.kind) {
    case 'const':
      return String(node.value);
    case 'market':
      return node.field;
    case 'indicator':
      return `${node.indicator}${node.args.length}`;
    case 'pattern':
      return node.name;
    case 'math':
      return `${node.op}(${node.args.map(shown).join(',')})`;
    case 'compare':
    case 'cross':
      return `${node.op}(${shown(node.left)},${shown(node.right)})`;
    case 'not':
      return `not(${shown(node.item)})`;
    default:
      return `${node.kind}(${node.items.map(shown).join(',')})`;
  }
}
const trigger = (text: string): string => {
  const { strategyAst, issues } = compileTokens({
    entryTokens: tokens(text),
    exitTokens: tokens('close < 1'),
    settings: {},
  });
  if (strategyAst === null) throw new Error(JSON.stringify(issues));
  return shown((strategyAst.strategy.entry as Json).trigger);
};

describe('editor tokens', () => {
  const precedence: readonly [string, string][] = [
    ['close > open', 'gt(close,open)'],
    ['close + 2 * open > 3', 'gt(add(close,mul(2,open)),3)'],
    ['close - open - low > 0', 'gt(sub(sub(close,open),low),0)'],
    ['( close + open ) / 2 > low', 'gt(div(add(close,open),2),low)'],
    ['2 ^ 3 ^ 2 > close', 'gt(pow(2,pow(3,2)),close)'],
    ['- close * 2 < - 1', 'lt(mul(neg(close),2),neg(1))'],
    ['- 2 ^ 2 < close', 'lt(neg(pow(2,2)),close)'],
    ['close > 1 or close < 2 and open > 3', 'any(gt(close,1),all(lt(close,2),gt(open,3)))'],
    ['( close > 1 or close < 2 ) and open > 3', 'all(any(gt(close,1),lt(close,2)),gt(open,3))'],
    ['not close > 1 and open > 2', 'all(not(gt(close,1)),gt(open,2))'],
    ['not ( close > 1 and open > 2 )', 'not(all(gt(close,1),gt(open,2)))'],
    ['not not !hammer', 'not(not(hammer))'],
    ['ema:9 cross_up ema:21', 'cross_up(ema9,ema21)'],
    ['close crosses_above sma:20', 'cross_up(close,sma20)'],
    ['rsi:14 <= 30 and rsi:14 != 0', 'all(lte(rsi14,30),neq(rsi14,0))'],
  ];
  for (const [text, expected] of precedence) it(`${text} is ${expected}`, () => expect(trigger(text)).toBe(expected));

  it('keeps token ids as node ids, and compiles exits to one exit of all of the position', () => {
    const { strategyAst, valid } = compileTokens({
      entryTokens: [
        { id: 'a', type: 'indicator', name: 'macd', args: { output: 'histogram', timeframe: '4h', offset: 1 } },
        { id: 'b', type: 'operator', value: '>' },
        { id: 'c', type: 'number', value: 0 },
      ],
      exitTokens: [{ id: 'd', type: 'pattern', name: 'engulfing', args: { side: 'bearish', within: 2 } }],
      settings: { maxConcurrentPositions: 4 },
    });
    expect(valid).toBe(true);
    const { entry, exits } = strategyAst!.strategy as Json;
    expect(entry.trigger).toEqual({
      id: 'b',
      kind: 'compare',
      op: 'gt',
      left: {
        id: 'a',
        kind: 'indicator',
        indicator: 'macd',
        args: {},
        output: 'histogram',
        timeframe: '4h',
        offset: 1,
      },
      right: { id: 'c', kind: 'const', value: 0 },
    });
    expect(entry.action).toEqual({ side: 'long', sizing: { mode: 'percent_equity', value: 25 } });
    expect(exits).toEqual([
      { kind: 'exit', when: { id: 'd', kind: 'pattern', name: 'engulfing', side: 'bearish', within: 2 } },
    ]);
    expect(checkStrategy({ settings: {}, strategyAst: strategyAst! }).valid).toBe(true);
  });

  it('gives a node no id that two tokens share', () => {
    const list = tokens('close < 1');
    expect(compileTokens({ entryTokens: list, exitTokens: tokens('close > 2') }).valid).toBe(true);
  });

  const invalid: readonly [name: string, body: Json, code: string, path: string][] = [
    ['no entry', { entryTokens: [] }, 'ENTRY_MISSING', '/entryTokens'],
    ['no list', { entryTokens: 'close > 1' }, 'TYPE_MISMATCH', '/entryTokens'],
    ['an unknown type', { entryTokens: [{ type: 'word', value: 1 }] }, 'OUT_OF_RANGE', '/entryTokens/0/type'],
    [
      'an unknown member',
      { entryTokens: [{ type: 'number', value: 1, colour: 'red' }] },
      'UNKNOWN_FIELD',
      '/entryTokens/0/colour',
    ],
    ['an unknown operator', { entryTokens: tokens('close =~ 1') }, 'UNKNOWN_OPERATOR', '/entryTokens/1'],
    [
      'an operator with the name of a member of every object',
      {
        entryTokens: [
          { type: 'market', name: 'close' },
          { type: 'operator', value: 'constructor' },
        ],
      },
      'UNKNOWN_OPERATOR',
      '/entryTokens/1',
    ],
    [
      'a logic word with the name of a member of every object',
      { entryTokens: [...tokens('close > 1'), { type: 'logic', value: 'constructor' }, ...tokens('close > 2')] },
      'UNKNOWN_OPERATOR',
      '/entryTokens/3',
    ],
    ['two operands in a row', { entryTokens: tokens('close open > 1') }, 'TYPE_MISMATCH', '/entryTokens/1'],
    ['a comparison chained', { entryTokens: tokens('1 < close < 3') }, 'TYPE_MISMATCH', '/entryTokens/3'],
    ['a group not closed', { entryTokens: tokens('( close > 1') }, 'MISSING_FIELD', '/entryTokens/0'],
    ['a group not opened', { entryTokens: tokens('close > 1 )') }, 'TYPE_MISMATCH', '/entryTokens/3'],
    ['a number as the whole condition', { entryTokens: tokens('close + 1') }, 'TYPE_MISMATCH', '/entryTokens/0'],
    [
      'a condition added to a number',
      { entryTokens: tokens('( close > 1 ) + 1 > 2') },
      'TYPE_MISMATCH',
      '/entryTokens/0',
    ],
    ['an operand missing at the end', { entryTokens: tokens('close >') }, 'MISSING_FIELD', '/entryTokens/1'],
    ['a misspelt indicator', { entryTokens: tokens('supertrnd:9 > 1') }, 'UNKNOWN_INDICATOR', '/entryTokens/0/name'],
    [
      'an argument out of range',
      { entryTokens: tokens('rsi:0 > 1') },
      'INDICATOR_ARG_OUT_OF_RANGE',
      '/entryTokens/0/args/length',
    ],
    [
      'a misspelt field',
      { entryTokens: [{ type: 'market', name: 'clsoe' }, ...tokens('> 1')] },
      'OUT_OF_RANGE',
      '/entryTokens/0/name',
    ],
    [
      'an unknown timeframe',
      { entryTokens: [{ type: 'market', name: 'close', args: { timeframe: '3h' } }, ...tokens('> 1')] },
      'UNKNOWN_TIMEFRAME',
      '/entryTokens/0/args/timeframe',
    ],
    [
      'an error in the exit',
      { entryTokens: tokens('close > 1'), exitTokens: tokens('!hamer') },
      'UNKNOWN_PATTERN',
      '/exitTokens/0/name',
    ],
    [
      'wrong settings',
      { entryTokens: tokens('close > 1'), settings: { maxConcurrentPositions: 0 } },
      'OUT_OF_RANGE',
      '/settings/maxConcurrentPositions',
    ],
  ];
  for (const [name, body, code, path] of invalid) {
    it(`reports ${code} at ${path} for ${name}`, () => {
      const { valid, issues, strategyAst } = compileTokens(body);
      expect(valid).toBe(false);
      expect(strategyAst).toBeNull();
      expect(issues.map((issue) => `${issue.code} ${issue.path}`)).toContain(`${code} ${path}`);
      for (const issue of issues) expect(issue.field).toBe(issue.path.split('/')[1]);
    });
  }
});
