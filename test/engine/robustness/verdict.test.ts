// The verdict of a robustness check in words, by what was found.
import { describe, expect, it } from 'vitest';
import { findingsOf, verdictOf, type Finding } from '../../../src/engine/robustness/findings.ts';

const finding = (severity: Finding['severity'], message: string): Finding => ({ code: 'X', severity, message });
const verdict = (returnPct: number | null, ...findings: Finding[]) =>
  verdictOf({ baseline: { returnPct } } as Parameters<typeof verdictOf>[0], findings);

describe('the verdict of a robustness check', () => {
  it.each([
    [-0.123, 'The backtest loses 12.3 %: there is no gain whose robustness could be tested.'],
    [-0.0001, 'The backtest loses less than 0.1 %: there is no gain whose robustness could be tested.'],
    [0, 'The backtest earns nothing: there is no gain whose robustness could be tested.'],
    [null, 'The backtest earns nothing: there is no gain whose robustness could be tested.'],
  ])('calls a return of %s no gain', (returnPct, text) => {
    expect(verdict(returnPct)).toEqual({ code: 'unprofitable', text });
  });

  it('begins with what decides, in a sentence of its own', () => {
    expect(verdict(0.2, finding('error', 'The run looks ahead: two signals differ.'))).toEqual({
      code: 'broken',
      text: 'Do not use this result. The run looks ahead: two signals differ.',
    });
    expect(verdict(0.2, finding('warning', 'The gain is gone at 1.5 times the fees.')).text).toBe(
      'One weakness found. The gain is gone at 1.5 times the fees.',
    );
    const two = [finding('warning', 'The gain is gone.'), finding('warning', 'Another.'), finding('info', 'A remark.')];
    expect(verdict(0.2, ...two)).toEqual({
      code: 'fragile',
      text: '2 weaknesses found; this is the first. The gain is gone.',
    });
  });

  it('does not call a result robust without naming what is left to read', () => {
    expect(verdict(0.2).text).toBe('None of the requested analyses found a weakness.');
    expect(verdict(0.2, finding('info', 'Fewer than two positions.'))).toEqual({
      code: 'robust',
      text: 'None of the requested analyses found a weakness. One finding of severity info should be read.',
    });
  });
});

describe('a finding', () => {
  const messagesOf = (found: object): string[] =>
    findingsOf({ baseline: { returnPct: 0.1 }, ...found } as unknown as Parameters<typeof findingsOf>[0]).map(
      ({ message }) => message,
    );

  it.each([
    [1, 'The run looks ahead: on bars that end earlier, 1 signal and 1 trade before the end are different.'],
    [2, 'The run looks ahead: on bars that end earlier, 2 signals and 2 trades before the end are different.'],
  ])('counts signals and trades: %i', (count, message) => {
    const lookAheadAudit = { passed: false, first: null, signalsDiffering: count, tradesDiffering: count };
    expect(messagesOf({ lookAheadAudit })).toEqual([message]);
  });

  it.each([
    [1, 'With only the 1 bar of the warm-up before the start, 1 signal and 1 trade are different. No tested length'],
    [3, 'With only the 3 bars of the warm-up before the start, 3 signals and 3 trades are different. No tested length'],
  ])('counts what the warm-up changes: %i', (count, message) => {
    const byMultiple = [{ signalsDiffering: count, tradesDiffering: count }];
    const warmUpAudit = { passed: false, warmupBars: count, byMultiple, enoughBars: null };
    expect(messagesOf({ warmUpAudit })).toEqual([expect.stringContaining(message)]);
  });
});
