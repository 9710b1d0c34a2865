// MAE and MFE of positions that are opened and closed inside one bar or child, and of those that the fill of something
// else closes: only prices between the entry and the exit count (semantics §3.8, §4.7).
import { describe, expect, it } from 'vitest';
import { AMBIGUITY_FALLBACKS } from '../../../src/engine/config.ts';
import type { EntryRule } from '../../../src/engine/evaluate/tradingRules.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { simulate } from '../../../src/engine/simulate/simulate.ts';
import { barsOf, entryAt, FLAT, inputOf, NO_RISK, quarters, takeProfit, under, type Ohlc, pending } from './input.ts';

/** Position, reason, exit price, and the worst and the best price it was held through. */
const held = (input: SimulationInput) =>
  simulate(input).trades.map(({ positionId, exitReason, exitPrice, entryPrice, side, maePct, mfePct }) => {
    const rounded = (price: number): number => Number(price.toFixed(6));
    const at = (pct: number): number => rounded(entryPrice * (1 + side * pct));
    return [positionId, exitReason, rounded(exitPrice), at(maePct), at(mfePct)];
  });

describe('a position that is opened and reversed inside one price range', () => {
  // 100 is the open, before the entry at 102.
  const orders = (bars: ReturnType<typeof barsOf>, price: number): EntryRule[] => [
    entryAt(bars, [0], pending('stop', 102)),
    entryAt(bars, [1], { side: -1, conflict: 'reverse', ...pending('limit', price) }),
  ];
  const bar: Ohlc = [100, 104, 97, 98];

  it('is held from the price of its order to that of the other, not from the open of the bar', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], bar, [98, 98, 98, 98]]);
    for (const policy of AMBIGUITY_FALLBACKS) {
      const input = inputOf(bars, { entries: orders(bars, 103), maxConcurrentPositions: 2, config: under(policy) });
      expect(held(input)[0]).toEqual([1, 'reverse', 103, 102, 103]);
    }
  });

  it('is held from its price before slippage', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], bar, [98, 98, 98, 98]]);
    const slippage = { kind: 'fixed', unit: 'ticks', value: 0.5 } as const;
    const config = under('pessimistic', { execution: { slippage } });
    const instrument = { ...inputOf(bars).instrument, tickSize: 1 };
    const input = inputOf(bars, { entries: orders(bars, 103), maxConcurrentPositions: 2, config, instrument });
    expect(simulate(input).trades[0].entryPrice).toBe(102.5);
    expect(held(input)[0]).toEqual([1, 'reverse', 103, 102, 103]);
  });

  it('is held from the price of its order where a child decides', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], bar, [98, 98, 98, 98]]);
    const fine = quarters(2, [[99, 99, 97, 98], [100, 104, 100, 101], [101, 101, 98, 98]]); // prettier-ignore
    const input = inputOf(bars, { entries: orders(bars, 103), maxConcurrentPositions: 2, fine });
    expect(held(input)[0]).toEqual([1, 'reverse', 103, 102, 103]);
  });

  it('is held through the children that come after its entry where the other order is left to the bar', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], bar, [98, 98, 98, 98]]);
    const fine = quarters(2, [[100, 100, 97, 97], [101, 102.5, 101, 102], [102, 102.5, 101.5, 102]]); // prettier-ignore
    const input = inputOf(bars, { entries: orders(bars, 103), maxConcurrentPositions: 2, fine });
    // The close of the child that reached 102, and the low of the one after it; of the bar the exit price alone.
    expect(held(input)[0]).toEqual([1, 'reverse', 103, 101.5, 103]);
  });

  it('is held from its open where its order fills there', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], [102.5, 104, 97, 98], [98, 98, 98, 98]]);
    const input = inputOf(bars, { entries: orders(bars, 103), maxConcurrentPositions: 2, config: under('optimistic') });
    expect(held(input)[0]).toEqual([1, 'reverse', 103, 102.5, 103]);
  });
});

describe('a position with a moving stop that an order closes on the bar after a walk', () => {
  it('counts the children, and not the whole bar', () => {
    const bars = barsOf([FLAT, [100, 101, 99, 100], [100, 104, 90, 100], FLAT]);
    const fine = quarters(2, [[100, 101, 98, 100], [100, 102, 99, 100]]); // prettier-ignore
    const entries = [entryAt(bars, [0]), entryAt(bars, [1], { side: -1, conflict: 'close', ...pending('limit', 103) })];
    const trailingStop = { distance: { mode: 'percent', value: 20 }, activateAfterPercent: null } as const;
    const input = inputOf(bars, { entries, risk: { ...NO_RISK, trailingStop }, maxConcurrentPositions: 2, fine });
    expect(held(input)).toEqual([[1, 'reverse', 103, 98, 103]]);
  });
});

describe('liquidation', () => {
  const hundred = { sizing: { mode: 'fixed', value: 100 } } as const;
  const account = (policy: Parameters<typeof under>[0] = 'pessimistic') =>
    under(policy, { initialBalance: 1_000, leverage: 20, maintenanceMarginRate: 0 });

  it('closes the oldest position first, whichever position is settled first', () => {
    // Liquidated at 95. The younger position has the nearer stop, and is therefore played first.
    const bars = barsOf([FLAT, FLAT, [100, 101, 94, 95], FLAT]);
    const values = Float64Array.of(80, 90, NaN, NaN);
    const stopLoss = { mode: 'price', price: { kind: 'column', values }, update: 'entry' } as const;
    const risk = { ...NO_RISK, stopLoss };
    const input = inputOf(bars, {
      entries: [entryAt(bars, [0, 1], hundred)],
      risk,
      maxConcurrentPositions: 2,
      config: account(),
    });
    expect(held(input)).toEqual([
      [1, 'liquidation', 95, 95, 100],
      [2, 'liquidation', 95, 95, 100],
    ]);
  });

  it('leaves to a position that was played before the open and the exit price of its bar', () => {
    // Liquidated at 90 until the order fills at 98, then at 94.
    const bars = barsOf([FLAT, [100, 100, 100, 100], [100, 103, 93, 95], FLAT]);
    for (const policy of AMBIGUITY_FALLBACKS) {
      const input = inputOf(bars, {
        entries: [entryAt(bars, [0], hundred), entryAt(bars, [1], { ...hundred, ...pending('limit', 98) })],
        maxConcurrentPositions: 2,
        config: account(policy),
      });
      expect(held(input)).toEqual([
        [1, 'liquidation', 94, 94, 100],
        [2, 'liquidation', 94, 94, 98],
      ]);
    }
  });

  it('in a child leaves to every position the children before it', () => {
    const bars = barsOf([FLAT, FLAT, [100, 103, 94, 103], FLAT]);
    const fine = quarters(2, [[100, 101, 99, 99], [99, 99, 94, 95], [95, 103, 95, 103]]); // prettier-ignore
    const risk = { ...NO_RISK, takeProfits: [takeProfit({ mode: 'percent', value: 2 })] };
    const input = inputOf(bars, {
      entries: [entryAt(bars, [0, 1], hundred)],
      risk,
      maxConcurrentPositions: 2,
      fine,
      config: account('multi_resolution'),
    });
    expect(held(input)).toEqual([
      [1, 'liquidation', 95, 95, 101],
      [2, 'liquidation', 95, 95, 101],
    ]);
  });
});
