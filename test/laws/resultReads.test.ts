// A run of which only some keys are read, as in a sweep: the same values as from a run of which everything is read.
import { describe, expect, it } from 'vitest';
import { firstOutside, highestOf, lowestOf, priceBlocksOf } from '../../src/engine/bars/priceBlocks.ts';
import { chosenSummary, flatParts, flatSummary, measureRun, readsOf } from '../../src/engine/report/flatSummary.ts';
import { FLAT_KEYS } from '../../src/engine/definitions/statistics/statistics.ts';
import { simulate } from '../../src/engine/simulate/simulate.ts';
import type { Scratch } from '../../src/engine/simulate/simulation.ts';
import { TradeLog } from '../../src/engine/simulate/tradeLog.ts';
import { diceOf } from '../support/dice.ts';
import { scaled } from '../support/scale.ts';
import { bucketMinutes, randomInput, randomMinutes } from './simulationInputs.ts';

describe('a run of which only some keys are read', () => {
  it('has the same values of these keys, key by key, in memory that earlier runs have written to', () => {
    const scratch: Scratch = {
      equity: new Float64Array(100).fill(1e9),
      inPosition: new Uint32Array(4).fill(-1),
      trades: new TradeLog(),
    };
    let positions = 0;
    for (let seed = 1; seed <= scaled(600); seed++) {
      const input = randomInput(seed);
      const whole = { input, simulation: simulate(input) };
      const all = flatSummary(flatParts(whole, measureRun(whole)));
      positions += all.totalPositions;
      for (const key of FLAT_KEYS) {
        const wanted = new Set([key]);
        const simulation = simulate({ ...input, scratch, reads: readsOf(wanted, input) });
        const value = chosenSummary({ input, simulation }, null, wanted)[key];
        if (!Object.is(value, all[key])) expect.fail(`seed ${seed}, ${key}: ${value} instead of ${all[key]}`);
      }
    }
    expect(positions).toBeGreaterThan(scaled(600) * 3);
  });
});

describe('price blocks', () => {
  it('find the rows and extremes that looking at every bar finds', () => {
    for (let seed = 1; seed <= scaled(300); seed++) {
      const dice = diceOf(seed);
      const bars = bucketMinutes(randomMinutes(dice, 300), 1);
      const blocks = priceBlocksOf(bars);
      const from = dice.whole(0, 299);
      const to = dice.whole(from, 300);
      const above = dice.pick([Infinity, bars.open[from] + dice.number(0, 8)]);
      const below = dice.pick([-Infinity, bars.open[from] - dice.number(0, 8)]);
      const rows = Array.from({ length: to - from }, (_, at) => from + at);
      const first = rows.find((row) => bars.high[row] >= above || bars.low[row] <= below) ?? to;
      expect(firstOutside(blocks, from, to, above, below)).toBe(first);
      const floor = dice.number(90, 110);
      expect(highestOf(blocks, from, to, floor)).toBe(Math.max(floor, ...rows.map((row) => bars.high[row])));
      expect(lowestOf(blocks, from, to, floor)).toBe(Math.min(floor, ...rows.map((row) => bars.low[row])));
    }
  });
});
