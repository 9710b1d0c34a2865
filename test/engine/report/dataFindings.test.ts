// What the diagnosis says first of data that a run lacked: how many bars, why, and what to do.
import { beforeAll, describe, expect, it } from 'vitest';
import { createMarket, runBacktest, type BacktestTask, type Market } from '../../../src/engine/index.ts';
import { shippedData } from '../../support/shippedData.ts';
import { astOf, compare, constant, entry, market as field, sma, type Json } from '../../support/builders.ts';
import { incompleteMarkets } from '../../support/incompleteMarkets.ts';

const markets = new Map<string, Market>();
beforeAll(async () => {
  const catalog = await shippedData();
  markets.set('SPX', createMarket(await catalog.snapshots('SPX', '1d'), 'SPX', '1d'));
  for (const [name, market] of await incompleteMarkets(catalog)) markets.set(name, market);
});

interface Case {
  readonly market: string;
  readonly trigger: Json;
  readonly settings?: Json;
  readonly range?: Json;
}
const close = field();
const priceOf = (symbol: string): Json => field('close', { instrument: { symbol } });
const rises = (price: Json, id?: string): Json =>
  compare(price, 'gt', { kind: 'shift', offset: 1, source: price }, { id });
const held: Json = {
  kind: 'exit',
  when: compare({ kind: 'state', field: 'position_bars_since_entry' }, 'gte', constant(5)),
};

function diagnosisOf({ market, trigger, settings = {}, range }: Case) {
  const { base } = markets.get(market)!;
  const action = { side: 'long', sizing: { mode: 'percent_equity', value: 50 } };
  const strategyAst = astOf({ entry: entry(trigger, { action }), exits: [held] });
  const config = {
    timeframe: base.timeframe,
    signalInstrument: { symbol: base.symbol },
    initialBalance: 10_000,
    ...(range && { range }),
  };
  const task = { id: 'findings', settings, strategyHash: '', strategyAst, config } as unknown as BacktestTask;
  const outcome = runBacktest(task, markets.get(market)!, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.summary.strategyTrace!.diagnosis;
}

describe('values that were missing for a known reason', () => {
  const firstOf = (given: Case) => {
    const [first, ...others] = diagnosisOf(given);
    expect(others.some(({ code }) => code === 'RULE_ALWAYS_FALSE')).toBe(false);
    return first;
  };

  it('are those of an instrument that covers a part of the range: how many, from when to when, and what to do', () => {
    const range = { start: '2000-01-01', end: '2015-01-01' };
    expect(firstOf({ market: 'with GOOG', trigger: rises(priceOf('GOOG'), 'goog'), range })).toMatchObject({
      code: 'SERIES_INCOMPLETE',
      severity: 'warning',
      nodeId: 'goog',
      message:
        'GOOG 1d is unknown on 1625 of the 3773 bars: 1162 come before its first bar has closed; 463 come after its ' +
        'last bar. Its bars cover 2004-08-19 to 2013-03-02.',
      suggestion: 'Import the bars of GOOG that are missing, or set config.range to the time that it covers.',
    });
  });

  it('are not reported where the instrument covers all but a few of the bars', () => {
    const range = { start: '2005-01-01', end: '2013-03-01' };
    const found = diagnosisOf({ market: 'with GOOG', trigger: rises(priceOf('GOOG')), range });
    expect(found.map(({ code }) => code)).not.toContain('SERIES_INCOMPLETE');
  });

  it('are those of an instrument whose bars open at other times, with both times and no word of a division', () => {
    const found = firstOf({ market: 'with other times', trigger: rises(priceOf('OTHER')) });
    expect(found.severity).toBe('error');
    expect(found.message).toContain('OTHER 1d is unknown on 5030 of the 5030 bars');
    expect(found.message).toContain('since they open at other times (OTHER at 13:30Z and SPX at 00:00Z)');
    expect(found.suggestion).toContain('Import bars of OTHER that open when those of SPX do');
  });

  it('leave the explanation of a condition that is unknown for another reason', () => {
    const quotient = compare({ kind: 'math', op: 'div', args: [close, constant(0)] }, 'gt', 1, { id: 'quotient' });
    const found = diagnosisOf({
      market: 'with GOOG',
      trigger: { kind: 'all', items: [quotient, rises(priceOf('GOOG'), 'goog')] },
    });
    expect(found.map(({ code, nodeId }) => `${code} ${nodeId}`)).toEqual([
      'SERIES_INCOMPLETE goog',
      'RULE_ALWAYS_FALSE quotient',
    ]);
  });

  it('are found behind any other condition of the rule', () => {
    const trigger = { kind: 'any', items: [rises(close), rises(priceOf('GOOG'), 'goog')] };
    const { code, nodeId } = firstOf({ market: 'with GOOG', trigger });
    expect([code, nodeId]).toEqual(['SERIES_INCOMPLETE', 'goog']);
  });

  it('are those after the last bar of a coarser timeframe of the same instrument, which stands in for them', () => {
    const trigger = compare(close, 'gt', field('close', { timeframe: '1d' }), { id: 'daily' });
    const { code, nodeId, message } = firstOf({ market: 'with early days', trigger });
    expect([code, nodeId]).toEqual(['SERIES_INCOMPLETE', 'daily']);
    expect(message).toMatch(/^EURUSD 1d has no new value on \d+ of the \d+ bars: \d+ come after its last bar\. /);
  });

  it('are those before the first value of an imported column, not the holes between its values', () => {
    const trigger = compare({ kind: 'series', name: 'late' }, 'gt', 0, { id: 'late' });
    const { code, nodeId, message } = firstOf({ market: 'with a late column', trigger });
    expect([code, nodeId]).toEqual(['SERIES_INCOMPLETE', 'late']);
    expect(message).toMatch(/^The column "late" of SPX 1d is unknown on 1501 of the 3000 bars\. Its values run from /);
  });

  it('are those of a warm-up that was stated too short', () => {
    const trigger = compare(close, 'gt', sma(1_000));
    const { message, suggestion } = firstOf({ market: 'SPX', trigger, settings: { warmupPeriod: 20 } });
    expect(message).toContain('was unknown on the first 979 of the 5011 bars: ');
    expect(message).toContain(': settings.warmupPeriod is 20, and the longest period needs 999.');
    expect(suggestion).toBe('Remove settings.warmupPeriod, or raise it to 999.');
  });
});
