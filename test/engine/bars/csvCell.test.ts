import papaparse from 'papaparse';
import { describe, expect, it } from 'vitest';
import { csvCell } from '../../../src/engine/bars/tableText.ts';
import { encodeStoredTrades } from '../../../src/engine/index.ts';
import { encodeSweepRows } from '../../../src/engine/sweep/sweepTable.ts';

describe('a cell of a CSV file', () => {
  it.each(['=1+1', '+1', '-1+2', '@SUM(A1)', '\tx', '\r=x'])('does not begin a formula: %j', (text) => {
    expect(csvCell(text).replace(/^"/, '')).toBe(`'${text}${csvCell(text).startsWith('"') ? '"' : ''}`);
  });

  it('leaves numbers and other text as they are', () => {
    expect([-1.5, 1e300, NaN, null, undefined, true, 'a-b', '', "'"].map(csvCell)).toEqual([
      '-1.5', '1e+300', '', '', '', 'true', 'a-b', '', "'",
    ]); // prettier-ignore
  });

  it('quotes what would end a cell', () => {
    const texts = ['a,b', 'say "x"', 'two\nlines', '=HYPERLINK("x","y")'];
    const { data } = papaparse.parse<string[]>(`${texts.map(csvCell).join(',')}\r\n`);
    expect(data[0]).toEqual([...texts.slice(0, 3), `'${texts[3]}`]);
  });
});

describe('a CSV file', () => {
  const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

  it('of trades holds no formula of a rule, and its negative numbers', () => {
    const text = [...encodeStoredTrades([[{ entryRule: '=cmd', side: 'long', pnl: -5 }]], 'csv')].map(decode).join('');
    expect(text).toContain("'=cmd");
    expect(text).not.toMatch(/(^|,)=/m);
    expect(text).toContain(',-5,');
  });

  it('of a sweep holds no formula of a param, in its heading or below', async () => {
    const dimension = { name: '=x', kind: 'levels', values: ['@a', 'b'] };
    const rows = { indexes: [0, 1], coordinates: [[0, 1]], metrics: [{ key: 'returnPct', values: [-1, 2] }] };
    let text = '';
    for await (const piece of encodeSweepRows({ dimensions: [dimension] } as never, [rows] as never, 'csv'))
      text += decode(piece);
    expect(text.split('\n').slice(0, 3)).toEqual(["variant,'=x,returnPct", "0,'@a,-1", '1,b,2']);
  });
});
