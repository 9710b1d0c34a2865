// Streamed marks: what a report reads of the equity of a run is what it reads of the column.
import { expect, it } from 'vitest';
import { runBacktest, simulateTask } from '../../../src/engine/backtest.ts';
import { daysOf } from '../../../src/engine/bars/days.ts';
import { equityPreview, previewRows } from '../../../src/engine/report/equityPreview.ts';
import { flatParts, flatSummary, measureRun } from '../../../src/engine/report/flatSummary.ts';
import { LentMemory } from '../../../src/engine/simulate/lentMemory.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { createMarket } from '../../../src/engine/bars/market.ts';
import { randomSnapshot } from '../../support/bars.ts';
import { cross, market as price, sma, strategy } from '../../support/builders.ts';
import { configOf, SYMBOL } from '../../support/runs.ts';
import { randomInput } from '../../laws/simulationInputs.ts';
import { scaled } from '../../support/scale.ts';

/** Marks are streamed in blocks of 4,096. */
const ROWS = [4_130, 8_300];
const STARTS = 20;
const memory = new LentMemory(100);

function read(input: SimulationInput) {
  const parts = { input, simulation: simulate(input) };
  const measured = measureRun(parts);
  return {
    marks: parts.simulation.equity.length,
    daily: [...measured.daily.equity],
    points: equityPreview(parts).points(),
    summary: flatSummary(flatParts(parts, measured)),
  };
}

it.each(ROWS)('gives the statistics, days and preview of a column of %i rows', (rows) => {
  for (let seed = 1; seed <= scaled(30); seed++) {
    const made = randomInput(seed, rows + STARTS);
    // Another row ends the first block each time.
    for (let start = 0; start < STARTS; start++) {
      const input = { ...made, start };
      const { marks, ...column } = read(input);
      const days = daysOf(input.bars.time, start, input.end).lastRows;
      const scratch = memory.lend(input.end - start, { days, preview: previewRows(input) });
      const { marks: none, ...streamed } = read({ ...input, scratch });
      expect(marks).toBe(input.end - start);
      // A run that is played twice may keep the second, which has a column.
      expect([0, marks]).toContain(none);
      expect(streamed, `seed ${seed}, row ${start}`).toEqual(column);
    }
  }
});

it('is what a backtest of more than a million bars does, and what no artifact does', () => {
  const snapshot = randomSnapshot({ symbol: SYMBOL, count: 1_048_700, seed: 3 });
  const market = createMarket([snapshot], SYMBOL, '1h');
  const strategyAst = strategy(cross(price(), 'cross_up', sma(20)));
  const config = { ...configOf(), timeframe: '1h' as const };
  const task = { id: 'long', strategyAst, settings: {}, config, strategyHash: '' };
  const run = runBacktest(task, market, null);
  const artifact = simulateTask(task, market, null, false);
  if (!run.ok || !artifact.ok) throw new Error('A run failed.');
  expect(run.reproducibility.resultHash).toBe(artifact.resultHash);
  expect(artifact.report.simulation.streamed).toBeNull();
});
