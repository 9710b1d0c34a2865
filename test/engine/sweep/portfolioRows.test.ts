// Rows of sweeps of portfolios: every number of every row is that of the separate backtest with its config, and every
// fold that of a separate run over its window.
import { describe, expect, it } from 'vitest';
import { runBacktest } from '../../../src/engine/backtest.ts';
import type { Market, Universe } from '../../../src/engine/bars/bars.ts';
import { openedMarkets } from '../../../src/engine/comparedRun.ts';
import type { BacktestConfig } from '../../../src/engine/config.ts';
import type { FlatKey } from '../../../src/engine/definitions/statistics/statistics.ts';
import { foldsOf } from '../../../src/engine/sweep/folds.ts';
import type { SweepContext } from '../../../src/engine/sweep/shard.ts';
import { configOf, paramsOf } from '../../../src/engine/sweep/space.ts';
import { objectiveOf } from '../../../src/engine/sweep/sweepJob.ts';
import type { SweepRows } from '../../../src/engine/sweep/sweepRows.ts';
import {
  portfolioContext,
  listOf,
  openMarket,
  PORTFOLIO_CONFIG,
  ROTATION,
  SLOTTED,
} from '../../support/portfolioSweeps.ts';
import { compiled, CROSSING, finished, rowsOf, tpeRowsOf } from '../../support/sweeps.ts';

const UNIVERSES = [['MID', 'ADD', 'ZIP'], ['ADD', 'END', 'YET', 'WAX'], ['WAX']];
const { instruments: _list, ...COMMON } = PORTFOLIO_CONFIG;

/** The summary of the separate backtest with this config. */
function backtestOf(
  { job: { strategy } }: SweepContext,
  config: BacktestConfig,
): Partial<Record<FlatKey, number | null>> {
  const market = openedMarkets(config, openMarket) as Market | Universe;
  const outcome = runBacktest({ id: 'separate', ...strategy, config }, market, null);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.summary;
}

const configAt = ({ job, space }: SweepContext, rows: SweepRows, row: number): BacktestConfig =>
  configOf(
    job.spec.config,
    space,
    rows.coordinates.map((column) => column[row]),
  );

function expectSeparate(context: SweepContext, rows: SweepRows): void {
  expect(rows.failures.first).toEqual([]);
  for (let row = 0; row < rows.indexes.length; row++) {
    const expected = backtestOf(context, configAt(context, rows, row));
    for (const { key, values } of rows.metrics) {
      const value = expected[key];
      expect(Object.is(values[row] + 0, value ?? NaN), `row ${row}, ${key}: ${values[row]} and ${value}`).toBe(true);
    }
  }
  const positions = rows.metrics.find(({ key }) => key === 'totalPositions')!.values;
  expect(positions.every((count) => count > 0)).toBe(true);
}

const SWEEPS: Readonly<Record<string, () => SweepContext>> = {
  'a rotation over top, keepWithin and lookback': () =>
    portfolioContext(ROTATION, {
      space: { top: { values: [1, 2, 4] }, keep: { values: [4, 6] }, lookback: { values: [10, 60] } },
      constraints: [{ left: 'keep', op: 'gte', right: 'top' }],
      method: 'grid',
    }),
  'a rotation over universes and its band': () =>
    portfolioContext(ROTATION, {
      config: { range: { start: '2024-06-01' } },
      space: { instruments: { values: UNIVERSES }, band: { values: [0, 5] }, top: { values: [1] } },
      method: 'grid',
    }),
  'an account over its slots, universe and averages': () =>
    portfolioContext(SLOTTED, {
      config: { portfolio: { slots: 1 } },
      space: {
        slots: { min: 1, max: 3 },
        instruments: { values: UNIVERSES },
        fast: { values: [3, 9] },
        stop: { values: [2, 20] },
      },
      method: 'random',
      budget: 20,
    }),
  'crossings with a benchmark': () =>
    portfolioContext(CROSSING, {
      config: { benchmark: { symbol: 'ADD' }, leverage: 2, fundingRate: 0.0001 },
      space: { fast: { min: 2, max: 20, log: true }, slow: { min: 21, max: 60 } },
      method: 'latin_hypercube',
      budget: 12,
    }),
};

describe.each(Object.entries(SWEEPS))('a sweep of %s', (_, contextOf) => {
  it('has in every row the numbers of the separate backtest', () => {
    const context = contextOf();
    expectSeparate(context, rowsOf(context));
  });

  it('has the same rows in several shards', () => {
    expect(rowsOf(contextOf(), 5)).toEqual(rowsOf(contextOf()));
  });

  it('finishes with a verdict', () => {
    const context = contextOf();
    const result = finished(context, rowsOf(context, 2));
    expect(result.overfitting.deflatedSharpe).not.toBeNull();
    expect(result.overfitting.overfittingProbability).not.toBeNull();
    expect(result.curves.length).toBeGreaterThan(0);
    expect(result.top[0].params).toEqual(
      paramsOf(
        context.space,
        context.space.dimensions.map((dimension) => {
          const value = result.top[0].params[dimension.name];
          return dimension.kind === 'levels'
            ? dimension.values.indexOf(value)
            : dimension.kind === 'steps'
              ? ((value as number) - dimension.min) / dimension.step
              : (value as number);
        }),
      ),
    );
  });
});

it('tpe proposes points of a portfolio, whose rows are those of separate backtests', () => {
  const context = portfolioContext(ROTATION, {
    space: { instruments: { values: UNIVERSES.slice(0, 2) }, top: { min: 1, max: 3 }, lookback: { min: 5, max: 90 } },
    method: 'tpe',
    budget: 60,
  });
  const rows = tpeRowsOf(context);
  expect(rows.failures.first).toEqual([]);
  expect(rows.indexes.length).toBe(60);
  expectSeparate(context, rows);
});

it('a sweep of a list of one has the rows of the sweep of its instrument', () => {
  const space = { fast: { values: [3, 5, 9] }, slow: { values: [20, 40] } };
  const walkForward = { kind: 'rolling', folds: 2, trainFraction: 0.5 };
  const given = { space, method: 'grid', walkForward };
  const single = { ...COMMON, signalInstrument: { symbol: 'ADD' } };
  const alone = portfolioContext(CROSSING, { ...given, config: single }, {});
  const listed = portfolioContext(CROSSING, { ...given, config: { ...COMMON, instruments: listOf(['ADD']) } }, {});
  expect(rowsOf(listed)).toEqual(rowsOf(alone));
  const [a, b] = [alone, listed].map((context) => finished(context, rowsOf(context)));
  expect(b).toEqual(a);
});

it('names the levels of a universe by their place and first symbols', () => {
  const context = SWEEPS['a rotation over universes and its band']();
  const [dimension] = context.space.dimensions;
  expect(dimension).toMatchObject({ kind: 'levels', values: ['1: MID, ADD, ZIP', '2: ADD, END, … (4)', '3: WAX'] });
});

describe('the walk-forward of a portfolio', () => {
  const walk = (kind: string) =>
    portfolioContext(ROTATION, {
      space: {
        instruments: { values: UNIVERSES.slice(0, 2) },
        top: { values: [1, 2] },
        lookback: { values: [10, 30] },
      },
      method: 'grid',
      objective: 'returnPct',
      constraints: [{ left: 'maxDrawdown', op: 'lt', right: 0.9 }],
      walkForward: { kind, folds: 3, trainFraction: 0.4, purgeBars: 2, embargoBars: 3 },
    });

  it.each(['rolling', 'anchored'])('trains in %s windows like separate runs over them', (kind) => {
    const context = walk(kind);
    const rows = rowsOf(context);
    const folds = foldsOf(context.job.spec, context.marketOf);
    expect(folds.length).toBe(3);
    folds.forEach(({ train }, fold) =>
      rows.indexes.forEach((_, row) => {
        const expected = backtestOf(context, { ...configAt(context, rows, row), range: train });
        expect(rows.training[fold][row]).toBe(expected.maxDrawdown! < 0.9 ? expected.returnPct! : NaN);
      }),
    );
  });

  it.each(['rolling', 'anchored'])('trades the test windows of %s folds like separate runs over them', (kind) => {
    const context = walk(kind);
    const rows = rowsOf(context);
    const { walkForward } = finished(context, rows);
    let balance = PORTFOLIO_CONFIG.initialBalance;
    for (const fold of walkForward!.folds) {
      expect(fold.status).toBe('traded');
      const config = { ...configAt(context, rows, rows.indexes.indexOf(fold.variant!)), range: fold.test };
      const expected = backtestOf(context, { ...config, initialBalance: balance });
      const { key } = objectiveOf(context.job.spec);
      expect(fold.outOfSample).toBe(expected[key]);
      expect(fold.returnPct).toBe(expected.returnPct);
      expect(fold.totalPositions).toBe(expected.totalPositions);
      balance = expected.finalEquity!;
    }
    expect(walkForward!.outOfSample.returnPct).toBe(balance / PORTFOLIO_CONFIG.initialBalance - 1);
    expect(walkForward!.folds.map(({ symbol }) => symbol)).toEqual(
      walkForward!.folds.map(({ params }) => String(params.instruments).replace(/^\d+: /, '')),
    );
  });

  it('has no bars where no instrument has any, and covers what any has', () => {
    // END has bars on the first 400 of 700 days; the other list goes on.
    const context = portfolioContext(ROTATION, {
      space: { instruments: { values: [['END']] }, top: { values: [1] }, lookback: { values: [5, 10] } },
      method: 'grid',
      walkForward: { kind: 'rolling', folds: 3, trainFraction: 0.4 },
    });
    const { walkForward, warnings } = finished(context, rowsOf(context));
    expect(walkForward!.folds.map(({ status }) => status)).toEqual(['traded', 'no_variant', 'no_variant']);
    expect(walkForward!.folds[0].coveredShare).toBeLessThan(0.95);
    expect(warnings.map(({ code }) => code)).toContain('WALK_FORWARD_GAPS');
    const both = portfolioContext(ROTATION, {
      space: { instruments: { values: [['END', 'MID']] }, top: { values: [1] }, lookback: { values: [5, 10] } },
      method: 'grid',
      walkForward: { kind: 'rolling', folds: 3, trainFraction: 0.4 },
    });
    const covered = finished(both, rowsOf(both)).walkForward!.folds.map(({ coveredShare }) => coveredShare);
    expect(covered).toEqual([1, 1, 1]);
  });
});

describe('variants of portfolios that cannot run', () => {
  it('fail one by one, with their reason', () => {
    const context = portfolioContext(ROTATION, {
      space: {
        instruments: {
          values: [
            ['MID', 'NONE'],
            ['MID', 'ADD'],
          ],
        },
        top: { values: [1, 2] },
      },
      method: 'grid',
    });
    const rows = rowsOf(context);
    expect(rows.failures.count).toBe(2);
    expect(rows.failures.first[0]).toMatchObject({
      code: 'SYMBOL_NOT_AVAILABLE',
      message: 'There are no 1d bars of NONE.',
    });
    const { warnings } = finished(context, rows);
    expect(warnings.map(({ code }) => code)).toContain('VARIANTS_FAILED');
    expect(compiled(ROTATION).strategyHash).toBe(context.job.strategy.strategyHash);
  });
});
