import { describe, expect, it } from 'vitest';
import { readingOf, readingsOf } from '../../../src/engine/language/hints/hintTable.ts';

describe('a hint table', () => {
  it('gives each word its readings, in the order of the table', () => {
    const table = { long: 'buy bull', bullish: 'long bull' };
    expect([...readingsOf(table)]).toEqual([
      ['buy', ['long']],
      ['bull', ['long', 'bullish']],
      ['long', ['bullish']],
    ]);
    expect(readingsOf(table).get('constructor')).toBeUndefined();
  });

  it('gives each word its reading where it has only one', () => {
    expect([...readingOf({ all: 'and &&', any: 'or' })]).toEqual([
      ['and', 'all'],
      ['&&', 'all'],
      ['or', 'any'],
    ]);
  });

  it('refuses a word with two readings where only one is possible', () => {
    expect(() => readingOf({ all: 'and both', any: 'or both' })).toThrow(
      'The word "both" has two readings: "all" and "any".',
    );
  });
});
