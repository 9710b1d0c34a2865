// Walk-forward: what a fold chooses depends on its training window alone, and its windows neither overlap nor leave the
// range.
import { describe, expect, it } from 'vitest';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { cutFolds } from '../../../src/engine/sweep/folds.ts';
import { planSweep } from '../../../src/engine/sweep/sweepJob.ts';
import { SweepSpec } from '../../../src/engine/sweep/sweepRequest.ts';
import { makeSnapshot } from '../../../src/market/snapshotFiles.ts';
import { INSTRUMENT } from '../../support/runs.ts';
import { compiled, CONFIG, CROSSING, marketOf, rowsOf, sweepContextFor, finished } from '../../support/sweeps.ts';

const strategy = compiled(CROSSING);
const space = { fast: { min: 2, max: 8, step: 2 }, slow: { min: 10, max: 40, step: 10 } };

/** Two instruments: the second has bars [from, to) of the days of the first, and moves in waves that averages catch. */
function withOther({ from = 0, to = 600, bars = 600 }: { from?: number; to?: number; bars?: number }) {
  const base = marketOf(bars, 21, (row, noise) => 0.002 * Math.sin(row / 9) + 0.012 * noise);
  const { time, open, high, low, close } = marketOf(bars, 22, (row, noise) =>
    0.003 + 0.008 * Math.sin(row / 4) + 0.002 * noise).base; // prettier-ignore
  const part = (column: Float64Array): Float64Array => column.slice(from, to);
  const columns = { time: part(time), open: part(open), high: part(high), low: part(low), close: part(close) };
  const snapshot = makeSnapshot(
    { ...columns, volume: new Float64Array(to - from).fill(1), series: new Map() },
    { symbol: 'OTHER', timeframe: '1d', instrument: INSTRUMENT },
  );
  const other = createMarket([snapshot], 'OTHER', '1d');
  const markets = new Map([
    [base.base.symbol, base],
    ['OTHER', other],
  ]);
  const ranges = { fast: { min: 2, max: 8, step: 2 }, slow: { min: 10, max: 20, step: 10 } };
  const given = {
    space: { ...ranges, symbol: { values: [...markets.keys()] } },
    method: 'grid',
    walkForward: { kind: 'anchored', folds: 4, trainFraction: 0.4 },
  }; // prettier-ignore
  const context = { ...sweepContextFor(strategy, given, base), marketOf: (symbol: string) => markets.get(symbol) };
  return { result: finished(context, rowsOf(context)), base: base.base };
}

describe('walk-forward over instruments of which one ends early', () => {
  it('chooses the other instrument once the first has ended before the test window', () => {
    // The test windows begin at bars 240, 330, 420 and 510; OTHER is the better one, and ends after the second begins.
    const { result } = withOther({ to: 350 });
    const { folds } = result.walkForward!;
    expect(folds.map(({ symbol }) => symbol)).toEqual(['OTHER', 'OTHER', ...Array(2).fill(folds[3].symbol)]);
    expect(folds[3].symbol).not.toBe('OTHER');
    expect(folds.map(({ status }) => status)).not.toContain('no_bars');
  });

  it('names the folds that have no bars, leaves them out of the headline, and says what share is covered', () => {
    // OTHER ends with the training of the second fold, which cannot know that.
    const { result, base } = withOther({ to: 330 });
    const { folds, outOfSample } = result.walkForward!;
    expect(folds[1]).toMatchObject({ status: 'no_bars', symbol: 'OTHER', coveredShare: 0, outOfSample: null });
    expect(folds[1].returnPct).toBeNull();
    const traded = folds.filter(({ status }) => status === 'traded');
    expect(outOfSample.foldsTraded).toBe(traded.length);
    expect(outOfSample.coveredShare).toBeCloseTo(traded.length / 4, 2);
    // A day of daily bars is a return: only those of the traded folds count.
    const days = (from: number, to: number) => base.time.filter((time) => time >= from && time < to).length;
    expect(outOfSample.days).toBe(traded.reduce((sum, { test }) => sum + days(test.start, test.end), 0));
    const grown = traded.reduce((money, { returnPct }) => money * (1 + returnPct!), 1);
    expect(outOfSample.returnPct).toBeCloseTo(grown - 1, 12);
    const warning = result.warnings.find(({ code }) => code === 'WALK_FORWARD_GAPS')!.message;
    const [from, to] = [folds[1].test.start, folds[1].test.end].map((time) =>
      new Date(time).toISOString().slice(0, 10),
    );
    expect(warning).toContain(`fold 2 (${from} to ${to}) has no bars of OTHER`);
    expect(warning).toContain(`cover ${Math.round(100 * outOfSample.coveredShare)} % of the test period`);
  });

  it('counts a window with bars for a part of it by that part', () => {
    const { result } = withOther({ to: 312 });
    const [first] = result.walkForward!.folds;
    expect(first).toMatchObject({ status: 'traded', symbol: 'OTHER' });
    expect(first.coveredShare).toBeCloseTo(72 / 90, 2);
    expect(result.warnings.map(({ code }) => code)).toContain('WALK_FORWARD_GAPS');
  });

  it('does not warn when every fold is traded in full', () => {
    const { result } = withOther({});
    expect(result.walkForward!.outOfSample).toMatchObject({ foldsTraded: 4, coveredShare: 1 });
    expect(result.warnings.map(({ code }) => code)).not.toContain('WALK_FORWARD_GAPS');
  });

  it('never chooses a variant without bars in the training window, whatever its objective would be there', () => {
    const { result } = withOther({ from: 500 });
    expect(result.walkForward!.folds.map(({ symbol }) => symbol)).not.toContain('OTHER');
  });
});

describe('walk-forward', () => {
  it.each(['anchored', 'rolling'] as const)(
    'chooses the same parameters when every bar out of sample changes (%s)',
    (kind) => {
      const walkForward = { kind, folds: 1, trainFraction: 0.6, purgeBars: 3, embargoBars: 5 };
      const context = (market: ReturnType<typeof marketOf>) =>
        sweepContextFor(strategy, { space, method: 'grid', walkForward }, market);
      const before = marketOf(600, 9);
      // The same noise up to the purged bars, then another market.
      const after = marketOf(600, 9, (row, noise) => (row < 600 * 0.6 - 3 ? 0.01 * noise : 0.03 - 0.02 * noise));
      const [a, b] = [before, after].map((market) => finished(context(market), rowsOf(context(market))).walkForward!);
      expect(b.folds.map(({ variant, params, inSample }) => ({ variant, params, inSample }))).toEqual(
        a.folds.map(({ variant, params, inSample }) => ({ variant, params, inSample })),
      );
      expect(a.folds[0].variant).not.toBeNull();
      expect(b.outOfSample.returnPct).not.toBe(a.outOfSample.returnPct);
    },
  );

  it('begins each test window with the balance that the previous one left, closing every position at its end', () => {
    const walkForward = { kind: 'rolling', folds: 3, trainFraction: 0.4 };
    const context = sweepContextFor(strategy, { space, method: 'grid', walkForward }, marketOf(600, 4));
    const { folds, outOfSample, equity } = finished(context, rowsOf(context)).walkForward!;
    const grown = folds.reduce((money, { returnPct }) => money * (1 + returnPct!), CONFIG.initialBalance);
    expect(outOfSample.returnPct).toBeCloseTo(grown / CONFIG.initialBalance - 1, 12);
    expect(equity.at(-1)![1]).toBeCloseTo(grown, 8);
    folds.slice(1).forEach(({ test }, fold) => expect(test.start).toBe(folds[fold].test.end));
  });

  it('trains from the first bar when anchored, on a window of fixed length when rolling', () => {
    const settings = { folds: 4, trainFraction: 0.5, purgeBars: 2, embargoBars: 3 };
    const anchored = cutFolds({ kind: 'anchored', ...settings }, 100, 900);
    const rolling = cutFolds({ kind: 'rolling', ...settings }, 100, 900);
    expect(anchored.map(({ train }) => train)).toEqual([
      [100, 498],
      [100, 598],
      [100, 698],
      [100, 798],
    ]);
    expect(rolling.map(({ train }) => train)).toEqual([
      [100, 498],
      [200, 598],
      [300, 698],
      [400, 798],
    ]);
    expect(anchored.map(({ test }) => test)).toEqual([
      [503, 600],
      [603, 700],
      [703, 800],
      [803, 900],
    ]);
  });

  it('tests every bar after the first training once, whatever the number of folds', () => {
    for (const folds of [1, 2, 3, 4, 7]) {
      const settings = { kind: 'rolling', folds, trainFraction: 0.5, purgeBars: 0, embargoBars: 0 } as const;
      const tested = cutFolds(settings, 10, 113).flatMap(({ test: [from, to] }) =>
        Array.from({ length: to - from }, (_, row) => from + row),
      );
      // 51 of 103 rows are for the first training.
      expect(tested).toEqual(Array.from({ length: 52 }, (_, row) => 61 + row));
    }
  });

  it('is rejected with tpe, which has seen the test windows', () => {
    const spec = SweepSpec.parse({
      config: CONFIG,
      space,
      method: 'tpe',
      budget: 10,
      walkForward: { kind: 'rolling', folds: 2 },
    });
    expect(planSweep(strategy, spec)).toMatchObject({ ok: false, faults: [{ path: '/walkForward' }] });
  });
});
