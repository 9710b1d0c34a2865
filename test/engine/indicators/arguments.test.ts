import { describe, expect, it } from 'vitest';
import { resolveArgs, resolveTalibArgs } from '../../../src/engine/indicators/arguments.ts';
import type { Args } from '../../../src/engine/indicators/definition.ts';
import { findIndicator, findTalib } from '../../../src/engine/indicators/registry.ts';

const codesOf = (id: string, given: Args): string[] =>
  resolveArgs(findIndicator(id)!, given).issues.map((issue) => issue.code);

describe('the check of arguments', () => {
  it('fills in the defaults', () => {
    expect(resolveArgs(findIndicator('macd')!, { fast_length: 5 })).toEqual({
      args: { fast_length: 5, slow_length: 26, signal_length: 9 },
      issues: [],
    });
  });

  it('rejects each argument that is unknown, of the wrong type or out of range', () => {
    expect(codesOf('rsi', { lenght: 14 })).toEqual(['UNKNOWN_INDICATOR_ARG']);
    expect(codesOf('rsi', { length: '14' })).toEqual(['TYPE_MISMATCH']);
    expect(codesOf('rsi', { length: 14.5 })).toEqual(['TYPE_MISMATCH']);
    expect(codesOf('rsi', { length: 1 })).toEqual(['INDICATOR_ARG_OUT_OF_RANGE']);
    expect(codesOf('rsi', { length: 1e9 })).toEqual(['INDICATOR_ARG_OUT_OF_RANGE']);
    expect(codesOf('bbands', { ma_type: 'median', multiplier: Infinity })).toEqual([
      'TYPE_MISMATCH',
      'INDICATOR_ARG_OUT_OF_RANGE',
    ]);
    expect(codesOf('rsi', JSON.parse('{"__proto__":1,"constructor":1}') as Args)).toEqual([
      'UNKNOWN_INDICATOR_ARG',
      'UNKNOWN_INDICATOR_ARG',
    ]);
  });
});

describe('the translation of TA-Lib’s arguments', () => {
  it('keeps TA-Lib’s defaults where ours differ', () => {
    expect(resolveTalibArgs(findTalib('STOCH')!, {}).args).toMatchObject({ k_length: 5, k_smooth: 3, d_length: 3 });
    expect(resolveTalibArgs(findTalib('EMA')!, {}).args).toEqual({ length: 30 });
    expect(resolveTalibArgs(findTalib('STOCHRSI')!, {}).args).toMatchObject({ length: 14, k_length: 5, k_smooth: 1 });
  });

  it('selects an average by its number, 11 being the function’s own', () => {
    const typeOf = (name: string, matype: number) => resolveTalibArgs(findTalib(name)!, { matype }).args.ma_type;
    expect([0, 1, 8, 9, 12, 13].map((type) => typeOf('MA', type))).toEqual(['sma', 'ema', 't3', 'hma', 'zlema', 'rma']);
    expect(typeOf('PPO', 11)).toBe('ema');
    expect(typeOf('BBANDS', 11)).toBe('sma');
  });

  it('rejects arguments under TA-Lib’s names', () => {
    const issuesOf = (given: Record<string, unknown>) => resolveTalibArgs(findTalib('STOCH')!, given).issues;
    expect(issuesOf({ slowk_matype: 14 })[0]).toMatchObject({
      code: 'INDICATOR_ARG_OUT_OF_RANGE',
      name: 'slowk_matype',
    });
    expect(issuesOf({ fastk_period: 0 })[0]).toMatchObject({
      code: 'INDICATOR_ARG_OUT_OF_RANGE',
      name: 'fastk_period',
    });
    expect(issuesOf({ timeperiod: 5 })[0]).toMatchObject({ code: 'UNKNOWN_INDICATOR_ARG', name: 'timeperiod' });
  });
});
