// Rows of sweeps: each is the single backtest of its parameters, whatever the space, the method and the shards.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import { taskOf } from '../../../src/engine/sweep/shard.ts';
import { configOf } from '../../../src/engine/sweep/space.ts';
import { splitSummary } from '../../support/jsonResults.ts';
import { scaled, seededRandom } from '../../support/scale.ts';
import { compiled, CROSSING, marketOf, rowsOf, sweepContextFor, finished, tpeRowsOf } from '../../support/sweeps.ts';
import type { SweepContext } from '../../../src/engine/sweep/shard.ts';
import type { Bars, Market } from '../../../src/engine/bars/bars.ts';
import type { SweepResult } from '../../../src/engine/sweep/sweepResult.ts';
import type { SweepRows } from '../../../src/engine/sweep/sweepRows.ts';

const strategy = compiled(CROSSING);

/** JSON of the flat summary, of a row and of the backtest with its config. */
function bothSummaries(context: SweepContext, rows: SweepRows, row: number, market: Market): [string, string] {
  const config = configOf(
    context.job.spec.config,
    context.space,
    rows.coordinates.map((column) => column[row]),
  );
  const outcome = runBacktest(taskOf(context.job, config), market, null);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const own = Object.fromEntries(rows.metrics.map(({ key, values }) => [key, values[row]]));
  return [JSON.stringify(own), JSON.stringify(splitSummary(outcome.summary).summary)];
}

describe('a row', () => {
  const random = seededRandom(7);
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  const methods = ['grid', 'random', 'latin_hypercube'] as const;
  const spaces = Array.from({ length: scaled(60) }, (_, seed) => {
    const method = methods[seed % methods.length];
    const step = between(2, 6);
    return {
      seed,
      method,
      ...(method !== 'grid' && { budget: between(5, 20) }),
      space: {
        fast: { min: between(1, 8), max: between(9, 20), step },
        slow: { values: [between(2, 20), between(21, 40), between(41, 60)] },
        ...(seed % 2 === 0 && method !== 'grid' && { stop: { min: 0.5, max: 20, log: seed % 4 === 0 } }),
        ...(seed % 3 === 1 && { '/strategy/risk/timeStop/maxBars': { min: 5, max: 40, step: 15 } }),
      },
      constraints: [{ left: 'fast', op: 'lt', right: 'slow' }],
    };
  });

  it.each(spaces)('equals a single backtest byte for byte, in one shard and in three: %j', (given) => {
    const market = marketOf(260, given.seed);
    const context = sweepContextFor(strategy, given, market);
    const rows = rowsOf(context);
    expect(rowsOf(context, 3)).toEqual(rows);
    expect(rows.indexes.length).toBeGreaterThan(0);
    for (let row = 0; row < rows.indexes.length; row++) {
      const [own, single] = bothSummaries(context, rows, row, market);
      expect(own).toBe(single);
    }
  });

  it('holds the requested keys, with the same values', () => {
    const market = marketOf(260, 5);
    const given = { space: { fast: { min: 2, max: 9 } }, method: 'grid' };
    const all = rowsOf(sweepContextFor(strategy, given, market));
    const few = rowsOf(sweepContextFor(strategy, { ...given, metrics: ['cvar95', 'turnover', 'avgMfePct'] }, market));
    expect(few.metrics.map(({ key }) => key)).toEqual([
      'returnPct',
      'sharpeRatio',
      'cvar95',
      'turnover',
      'totalPositions',
      'avgMfePct',
    ]);
    for (const { key, values } of few.metrics)
      expect(values).toEqual(all.metrics.find((metric) => metric.key === key)!.values);
  });

  it('is absent for a variant that cannot be run, and the result says why', () => {
    const context = sweepContextFor(
      strategy,
      { space: { '/strategy/risk/timeStop/maxBars': { values: [0, 10] } }, method: 'grid' },
      marketOf(260, 5),
    );
    const rows = rowsOf(context);
    expect([...rows.indexes]).toEqual([1]);
    expect(rows.failures).toMatchObject({ count: 1, first: [{ variant: 0, code: 'STRATEGY_INVALID' }] });
  });
});

describe('tpe', () => {
  it('is reproducible and finds a better row than the same number of random draws, on average', () => {
    const market = marketOf(500, 3, (row, noise) => 0.004 * Math.sin(row / 9) + 0.004 * noise);
    const given = {
      space: { fast: { min: 1, max: 60 }, slow: { min: 2, max: 120 } },
      budget: 60,
      constraints: [{ left: 'fast', op: 'lt', right: 'slow' }],
    };
    const bestOf = (method: string, seed: number): number => {
      const context = sweepContextFor(strategy, { ...given, method, seed }, market);
      return finished(context, method === 'tpe' ? tpeRowsOf(context) : rowsOf(context)).top[0].metrics.sharpeRatio!;
    };
    const seeds = [1, 2, 3, 4, 5];
    const total = (method: string): number => seeds.reduce((sum, seed) => sum + bestOf(method, seed), 0);
    expect(bestOf('tpe', 1)).toBe(bestOf('tpe', 1));
    expect(total('tpe')).toBeGreaterThan(total('random'));
  });

  it('lists a point once that it ran several times, as its first variant', () => {
    const space = { fast: { min: 2, max: 5 }, slow: { values: [10, 20, 30] } };
    const context = sweepContextFor(strategy, { space, method: 'tpe', budget: 72 }, marketOf(400, 3));
    const rows = tpeRowsOf(context);
    const points = [...rows.indexes].map((_, row) => rows.coordinates.map((column) => column[row]).join());
    const distinct = new Set(points);
    const { top, trials, evaluated } = finished(context, rows);
    expect(distinct.size).toBeLessThan(20);
    expect([evaluated, trials.sweep]).toEqual([72, distinct.size]);
    expect(new Set(top.map(({ params }) => JSON.stringify(params))).size).toBe(distinct.size);
    for (const { variant } of top) expect(points.indexOf(points[variant])).toBe(variant);
    // The same when the rows come in several shards: each has a best run of the point.
    const [first, last] = [0, 36].map((from) => partOf(rows, from, from + 36));
    expect(finished(context, first, last).top).toEqual(top);
  });

  it('measures a plateau as a grid of the same points does, however often it ran them', () => {
    const market = marketOf(400, 3);
    const space = { fast: { min: 2, max: 9 } };
    const context = sweepContextFor(strategy, { space, method: 'tpe', budget: 60 }, market);
    const grid = sweepContextFor(strategy, { space, method: 'grid' }, market);
    const plateaus = ({ top }: SweepResult) => top.map(({ params, plateau }) => ({ params, plateau }));
    expect(plateaus(finished(context, tpeRowsOf(context)))).toEqual(plateaus(finished(grid, rowsOf(grid))));
  });

  it('says that the neighbors of a cliff keep nothing, not a negative percentage', () => {
    const messages = Array.from({ length: 12 }, (_, seed) => {
      const given = { space: { fast: { min: 2, max: 6 } }, method: 'grid' };
      const context = sweepContextFor(strategy, given, marketOf(400, seed));
      const { top, warnings } = finished(context, rowsOf(context));
      const message = warnings.find(({ code }) => code === 'BEST_ON_CLIFF')?.message;
      return { score: top[0].plateau.score, message };
    });
    const cliffs = messages.filter(({ message }) => message !== undefined);
    expect(cliffs.some(({ score }) => score === 0)).toBe(true);
    for (const { score, message } of cliffs)
      expect(message).toContain(score! < 0.005 ? 'nearest rows are no better than the median row.' : ' rows keep ');
  });

  it('warns of a best row that hardly trades, and says how to leave such rows out', () => {
    const context = sweepContextFor(
      strategy,
      { space: { fast: { min: 2, max: 9 } }, method: 'grid' },
      marketOf(150, 3),
    );
    const { top, warnings } = finished(context, rowsOf(context));
    const { totalPositions } = top[0].metrics;
    expect(warnings).toContainEqual({
      code: 'BEST_HARDLY_TRADES',
      message:
        `The best row has ${totalPositions} positions, too few to tell skill from luck. Leave such rows out with the ` +
        'constraint {"left":"totalPositions","op":"gte","right":30}.',
    });
    const long = sweepContextFor(strategy, { space: { fast: { min: 2, max: 4 } }, method: 'grid' }, marketOf(3_000, 3));
    const codes = finished(long, rowsOf(long)).warnings.map(({ code }) => code);
    expect(codes).not.toContain('BEST_HARDLY_TRADES');
  });

  it('warns of finer bars that contradict the base bars, and ranks rows that are not drilled', () => {
    const market = marketOf(400, 3);
    const { base } = market;
    const wrong = (values: Float64Array): Float64Array => values.map((value) => value * 1.3);
    const { time, open, high, low, close } = base;
    const hours = { time, open: wrong(open), high: wrong(high), low: wrong(low), close: wrong(close) };
    const fine: Bars = { ...base, ...hours, timeframe: '1h', sha256: 'hours' };
    const given = { space: { stop: { min: 1, max: 4, step: 1 } }, method: 'grid' };
    const [context, plain] = [{ ...market, fine }, market].map((each) => sweepContextFor(strategy, given, each));
    const { warnings, top } = finished(context, rowsOf(context));
    expect(warnings[0].code).toBe('FINER_BARS_CONTRADICT');
    expect(warnings[0].message).toContain('1h to 1d ratio 1.30');
    expect(top).toEqual(finished(plain, rowsOf(plain)).top);
  });
});

/** Some of the rows, as a shard has them. */
function partOf(rows: SweepRows, from: number, to: number): SweepRows {
  const part = (column: Float64Array): Float64Array => column.slice(from, to);
  const width = rows.sums.length / rows.sampled.length;
  return {
    ...rows,
    indexes: part(rows.indexes),
    coordinates: rows.coordinates.map(part),
    metrics: rows.metrics.map(({ key, values }) => ({ key, values: part(values) })),
    dailySharpe: part(rows.dailySharpe),
    sampled: part(rows.sampled),
    sums: rows.sums.slice(from * width, to * width),
  };
}
