// Nothing looks ahead: what a run over the first n bars does is what a run over more bars does up to there; and a run
// repeated gives the same bytes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulateTask } from '../../src/engine/backtest.ts';
import type { SimulatedRun } from '../../src/engine/report/simulatedRun.ts';
import type { Market } from '../../src/engine/bars/bars.ts';
import { hasBit } from '../../src/engine/kernels/bits.ts';
import { createMarket } from '../../src/engine/bars/market.ts';
import type { StrategyAst } from '../../src/engine/language/grammar/ast.ts';
import type { BacktestConfig } from '../../src/engine/config.ts';
import { makeSnapshot } from '../../src/market/snapshotFiles.ts';
import { makeInstrument } from '../../src/market/instrument.ts';
import { randomColumns } from '../support/bars.ts';
import { scaled } from '../support/scale.ts';
import { strategyArbitrary } from '../support/strategies.ts';

const SEED = 20_261_121;
const ROWS = 400;
const model = Array.from({ length: ROWS }, (_, row) => (row % 13 === 0 ? NaN : row % 29));
const all = randomColumns({ count: ROWS, seed: 11, series: { model } });

/** The first `rows` of the same bars. */
function marketOf(rows: number): Market {
  const columns = {
    time: all.time.slice(0, rows),
    open: all.open.slice(0, rows),
    high: all.high.slice(0, rows),
    low: all.low.slice(0, rows),
    close: all.close.slice(0, rows),
    volume: all.volume.slice(0, rows),
    series: new Map([...all.series].map(([name, column]) => [name, column.slice(0, rows)])),
  };
  const snapshot = makeSnapshot(columns, { symbol: 'TEST', timeframe: '1h', instrument: makeInstrument('TEST') });
  return createMarket([snapshot], 'TEST', '1h');
}

const config: BacktestConfig = {
  timeframe: '1h',
  signalInstrument: { symbol: 'TEST' },
  initialBalance: 10_000,
  execution: {
    feeModel: {
      kind: 'tiered_maker_taker',
      tiers: [
        { minCumulativeNotional: 0, makerRate: 0.0002, takerRate: 0.001 },
        { minCumulativeNotional: 1, makerRate: 0.0001, takerRate: 0.0006 },
        { minCumulativeNotional: 300, makerRate: 0, takerRate: 0.0003 },
      ],
    },
    slippage: { kind: 'volatility_scaled', reference: 'bar_range_pct', multiplier: 0.05 },
  },
};

function runOn(strategyAst: StrategyAst, market: Market): SimulatedRun & { ok: true } {
  const run = simulateTask({ id: 'law', strategyAst, settings: {}, config, strategyHash: '' }, market, null, false);
  if (!run.ok) throw new Error(run.error.message);
  return run;
}

describe('a run', { timeout: 600_000 }, () => {
  const whole = marketOf(ROWS);
  // Coarser timeframes warm up for most of these bars; strategies on base bars alone trade more.
  const strategies = fc.oneof(
    strategyArbitrary({ timeframes: ['4h', '1d'], named: false }),
    strategyArbitrary({ depth: 2, named: false, price: { min: 90, max: 150 } }),
  );

  it('has the same signals, fills and equity on the first bars as a run over more bars', () => {
    let fillCount = 0;
    let tierCount = 0;
    fc.assert(
      fc.property(strategies, fc.integer({ min: 150, max: ROWS - 1 }), (ast, rows) => {
        const [long, short] = [runOn(ast, whole), runOn(ast, marketOf(rows))];
        const { input: longInput, simulation: longer } = long.report;
        const { input: shortInput, simulation: shorter } = short.report;
        for (const [rule, { signal }] of shortInput.entries.entries()) {
          const other = longInput.entries[rule].signal;
          if (signal.kind !== 'bits' || other.kind !== 'bits') continue;
          for (let row = 0; row < rows; row++)
            expect(hasBit(other.isTrue, row), `entry ${rule} row ${row}`).toBe(hasBit(signal.isTrue, row));
        }
        // The close at the end of the data is the one fill that more bars take away.
        const fills = shorter.trades.filter(({ exitReason }) => exitReason !== 'end_of_data');
        expect(longer.trades.slice(0, fills.length)).toEqual(fills);
        const marks = Math.max(0, shorter.equity.length - 1);
        expect(longer.equity.slice(0, marks)).toEqual(shorter.equity.slice(0, marks));
        fillCount += fills.length;
        tierCount += shorter.totals.tiers.slice(1).filter(({ notional }) => notional > 0).length;
      }),
      { numRuns: scaled(2_000), seed: SEED },
    );
    // Most strategies that are drawn never trade.
    expect(fillCount).toBeGreaterThan(scaled(2_000));
    // Fills that paid by another tier than the first are among them.
    expect(tierCount).toBeGreaterThan(scaled(2_000) / 20);
  });

  it('gives the same result whatever ran before it', () => {
    fc.assert(
      fc.property(strategies, strategies, (ast, other) => {
        const first = runOn(ast, whole).resultHash;
        runOn(other, whole);
        expect(runOn(ast, whole).resultHash).toBe(first);
      }),
      { numRuns: scaled(200), seed: SEED },
    );
  });
});
