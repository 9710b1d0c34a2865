// Slots, ranks and linked groups of a portfolio, by hand.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../../src/engine/bars/bars.ts';
import type { EntryRule } from '../../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { configOf, constant, entryAt, exitAt, NO_RISK, pending, type Ohlc } from './input.ts';
import { barsAt, flatBars, instrumentOf, portfolioOf, summaryOf, tradesOf } from './portfolioInput.ts';

const SYMBOLS = ['A', 'B', 'C', 'D'];
const flat = (symbol: string, count = 6): Bars =>
  flatBars(
    symbol,
    Array.from({ length: count }, () => 100),
  );
const ranked = (value: number): Partial<EntryRule> => ({ rank: constant(value) });

/** One instrument per rank, all of which signal at the same close. */
function sameClose(ranks: readonly (number | undefined)[], more: Partial<PortfolioInput>) {
  const instruments = ranks.map((rank, index) => {
    const bars = flat(SYMBOLS[index]);
    return instrumentOf(bars, { entries: [entryAt(bars, [1], rank === undefined ? {} : ranked(rank))] });
  });
  return simulatePortfolio(portfolioOf(instruments, more));
}
const heldIn = (result: ReturnType<typeof sameClose>) => tradesOf(result).map(({ instrument }) => instrument);

describe('slots of the account', () => {
  it('go to the larger ranks, missing ones last, equal ones in the order of the list', () => {
    expect(heldIn(sameClose([1, 3, 2, 4], { slots: 2 }))).toEqual([3, 1]);
    expect(heldIn(sameClose([NaN, 1, NaN, -5], { slots: 3 }))).toEqual([1, 3, 0]);
    expect(heldIn(sameClose([7, 7, 7, 7], { slots: 2 }))).toEqual([0, 1]);
  });

  it('count what lost, its value and the lowest value that got in', () => {
    const result = sameClose([1, 3, 2, 4], { slots: 2 });
    expect(result.rankedOut).toEqual({
      count: 2,
      atClose: 2,
      atFill: 0,
      mostAtOnce: 2,
      largestLost: 2,
      smallestTaken: 3,
      isUnranked: false,
    });
    expect(result.byInstrument.map(({ rankedOut }) => rankedOut)).toEqual([1, 0, 1, 0]);
    expect(result.counts.entrySignals).toBe(4);
    expect(result.counts.entriesFilled).toBe(2);
  });

  it('say when the order of the list decided', () => {
    expect(sameClose([undefined, undefined, undefined], { slots: 2 }).rankedOut).toMatchObject({
      count: 1,
      isUnranked: true,
      largestLost: null,
    });
    expect(sameClose([undefined, undefined], { slots: 2 }).rankedOut).toMatchObject({ count: 0, isUnranked: false });
  });

  it('order the fills of one open by rank where there are enough of them', () => {
    const all = { sizing: { mode: 'fixed_cash', value: 6000 } } as const;
    const instruments = [1, 2].map((rank, index) => {
      const bars = flat(SYMBOLS[index]);
      return instrumentOf(bars, { entries: [entryAt(bars, [1], { ...all, ...ranked(rank) })] });
    });
    expect(heldIn(simulatePortfolio(portfolioOf(instruments)))).toEqual([1]);
  });

  it('are held by positions and pending orders, and freed by an exit that is ordered', () => {
    const [a, b, c] = SYMBOLS.map((symbol) => flat(symbol));
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0])], exits: [exitAt(a, [2])] }),
          instrumentOf(b, { entries: [entryAt(b, [0], pending('limit', 90))] }),
          instrumentOf(c, { entries: [entryAt(c, [1, 2])] }),
        ],
        { slots: 2 },
      ),
    );
    // At hour 1 both slots are taken; at hour 2 the exit of A is ordered, and both fill at hour 3.
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 3, 100, 'signal'],
      [2, 3, 100, 5, 100, 'end_of_data'],
    ]);
    expect(result.rankedOut.count).toBe(1);
  });

  it('are tested again at the fill, where an exit on another calendar may not have filled', () => {
    const a = barsAt('A', { 0: [9, 9, 9, 9], 1: [9, 9, 9, 9], 2: [9, 9, 9, 9], 5: [9, 9, 9, 9] });
    const b = flat('B');
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, { entries: [entryAt(a, [0])], exits: [exitAt(a, [2])] }),
          instrumentOf(b, { entries: [entryAt(b, [2, 3])] }),
        ],
        { slots: 1 },
      ),
    );
    expect(summaryOf(result)).toEqual([[0, 1, 9, 3, 9, 'signal']]);
    expect(result.byInstrument[1]).toMatchObject({ rankedOut: 2, counts: { blockedMaxPositions: 0 } });
    const refused = result.orders!.filter(({ instrument, status }) => instrument === 1 && status === 'cancelled');
    expect(refused.map(({ reason }) => reason)).toEqual(['slots', 'slots']);
  });

  it('are tested when the price of a resting order is reached', () => {
    const a = barsAt('A', { 0: [9, 9, 9, 9], 1: [9, 9, 9, 9], 5: [9, 9, 9, 9] });
    const dip: Ohlc = [100, 100, 90, 95];
    const still: Ohlc = [100, 100, 100, 100];
    const b = barsAt('B', { 0: still, 1: still, 2: dip, 3: still, 4: still, 5: still });
    const withSlots = (slots: number) =>
      simulatePortfolio(
        portfolioOf(
          [
            instrumentOf(a, { entries: [entryAt(a, [0])], exits: [exitAt(a, [1])] }),
            instrumentOf(b, { entries: [entryAt(b, [1], pending('limit', 92))] }),
          ],
          { slots },
        ),
      );
    // The exit of A is ordered, so that the order of B may rest, and has not filled when its price is reached.
    expect(heldIn(withSlots(1))).toEqual([0]);
    expect(withSlots(1).byInstrument[1].rankedOut).toBe(1);
    expect(heldIn(withSlots(2))).toEqual([0, 1]);
  });

  it('are not needed by an order that replaces a pending one or reverses', () => {
    const [a, b] = SYMBOLS.map((symbol) => flat(symbol));
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(a, {
            entries: [entryAt(a, [0]), entryAt(a, [2], { id: 'turn', side: -1, conflict: 'reverse' })],
          }),
          instrumentOf(b, { entries: [entryAt(b, [0, 2], pending('limit', 90))] }),
        ],
        { slots: 2 },
      ),
    );
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 3, 100, 'reverse'],
      [0, 3, 100, 5, 100, 'end_of_data'],
    ]);
    expect(result.byInstrument[1].counts).toMatchObject({ ordersReplaced: 1, ordersExpired: 1 });
    expect(result.rankedOut.count).toBe(0);
  });

  it('fill at the close under bar_close, exits before ranked entries', () => {
    const [a, b, c] = SYMBOLS.map((symbol) => flat(symbol));
    const result = simulatePortfolio(
      portfolioOf(
        [
          instrumentOf(b, { entries: [entryAt(b, [2], ranked(1))] }),
          instrumentOf(c, { entries: [entryAt(c, [2], ranked(2))] }),
          instrumentOf(a, { entries: [entryAt(a, [0])], exits: [exitAt(a, [2])] }),
        ],
        { slots: 1, config: configOf({ execution: { orderTiming: 'bar_close' } }) },
      ),
    );
    expect(summaryOf(result)).toEqual([
      [2, 0, 100, 2, 100, 'signal'],
      [1, 2, 100, 5, 100, 'end_of_data'],
    ]);
  });
});

describe('linked instruments', () => {
  const linked = [[0, 1]];
  const pair = (
    a: Partial<SimulationInput> & { readonly bars: Bars },
    b: Partial<SimulationInput> & { readonly bars: Bars },
    more: Partial<PortfolioInput> = {},
  ) => simulatePortfolio(portfolioOf([instrumentOf(a.bars, a), instrumentOf(b.bars, b)], { linked, ...more }));
  const [a, b] = SYMBOLS.map((symbol) => flat(symbol));

  it('are entered together or not at all', () => {
    const result = pair(
      { bars: a, entries: [entryAt(a, [0, 2])] },
      { bars: b, entries: [entryAt(b, [1, 2], { side: -1 })] },
    );
    expect(tradesOf(result).map(({ instrument, side, entryRow }) => [instrument, side, entryRow])).toEqual([
      [0, 1, 3],
      [1, -1, 3],
    ]);
  });

  it('need a slot for each and rank by the largest of their ranks', () => {
    const [, , c] = SYMBOLS.map((symbol) => flat(symbol));
    const instruments = [
      instrumentOf(a, { entries: [entryAt(a, [0], ranked(1))] }),
      instrumentOf(b, { entries: [entryAt(b, [0], ranked(9))] }),
      instrumentOf(c, { entries: [entryAt(c, [0], ranked(5))] }),
    ];
    const held = (slots: number) => heldIn(simulatePortfolio(portfolioOf(instruments, { linked, slots })));
    expect(held(3)).toEqual([0, 1, 2]);
    expect(held(2)).toEqual([0, 1]);
    // The pair does not fit, and the next one does.
    expect(held(1)).toEqual([2]);
  });

  it('are paid from the same account or both rejected', () => {
    const size = (value: number) => ({ sizing: { mode: 'percent_equity', value } }) as const;
    const enter = (value: number) =>
      pair({ bars: a, entries: [entryAt(a, [0], size(value))] }, { bars: b, entries: [entryAt(b, [0], size(value))] });
    // Half of the account each, whichever comes first.
    expect(tradesOf(enter(50)).map(({ quantity }) => quantity)).toEqual([50, 50]);
    const tooMuch = enter(60);
    expect(tooMuch.trades).toEqual([]);
    expect(tooMuch.counts.ordersRejected.INSUFFICIENT_BALANCE).toBe(2);
  });

  it('are all dropped when one is rejected, or has no bar at the first fill', () => {
    const small = { ...instrumentOf(b).instrument, minNotional: 1_000 };
    const one = pair(
      { bars: a, entries: [entryAt(a, [0])] },
      { bars: b, entries: [entryAt(b, [0])], instrument: small },
    );
    expect(one.trades).toEqual([]);
    expect(one.byInstrument.map(({ counts }) => counts.ordersRejected.MIN_NOTIONAL)).toEqual([0, 1]);
    const late = barsAt('B', { 0: [100, 100, 100, 100], 2: [100, 100, 100, 100], 3: [100, 100, 100, 100] });
    const absent = pair({ bars: a, entries: [entryAt(a, [0])] }, { bars: late, entries: [entryAt(late, [0])] });
    expect(absent.trades).toEqual([]);
    expect(absent.orders!.map(({ status, reason }) => [status, reason])).toEqual([
      ['cancelled', 'linked'],
      ['cancelled', 'linked'],
    ]);
  });

  it('are closed at the next open after one of them is closed', () => {
    const falls = barsAt('A', {
      0: [100, 100, 100, 100],
      1: [100, 100, 100, 100],
      2: [100, 100, 90, 95],
      3: [95, 95, 95, 95],
      4: [95, 95, 95, 95],
      5: [95, 95, 95, 95],
    });
    const stop = { risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: 5 } } } as const;
    const stopped = pair(
      { bars: falls, entries: [entryAt(falls, [0, 3])], ...stop },
      { bars: b, entries: [entryAt(b, [0, 3], { side: -1 })], exits: [exitAt(b, [2])], ...stop },
    );
    // The exit rule of B is true at the close of the same bar, after the stop of A: the linked exit was ordered before.
    expect(summaryOf(stopped).slice(0, 2)).toEqual([
      [0, 1, 100, 2, 95, 'stop_loss'],
      [1, 1, 100, 3, 100, 'linked'],
    ]);
    expect(summaryOf(stopped).slice(2)).toEqual([
      [0, 4, 95, 5, 95, 'end_of_data'],
      [1, 4, 100, 5, 100, 'end_of_data'],
    ]);
  });

  it('keep the reason of an exit that was ordered before', () => {
    const both = pair(
      { bars: a, entries: [entryAt(a, [0])], exits: [exitAt(a, [1])] },
      { bars: b, entries: [entryAt(b, [0])], exits: [exitAt(b, [1])] },
    );
    expect(summaryOf(both)).toEqual([
      [0, 1, 100, 2, 100, 'signal'],
      [1, 1, 100, 2, 100, 'signal'],
    ]);
    const first = pair(
      { bars: a, entries: [entryAt(a, [0])], exits: [exitAt(a, [1])] },
      { bars: b, entries: [entryAt(b, [0])] },
    );
    // A is sold at the open of hour 2, which is too late for that open of B.
    expect(summaryOf(first)).toEqual([
      [0, 1, 100, 2, 100, 'signal'],
      [1, 1, 100, 3, 100, 'linked'],
    ]);
  });

  it('are not closed by the exit of a position that has closed before it could fill', () => {
    const still: Ohlc = [100, 100, 100, 100];
    const falls = barsAt('A', { 0: still, 1: still, 2: [100, 100, 90, 95], 3: still, 4: still, 5: still });
    const result = pair(
      {
        bars: falls,
        entries: [entryAt(falls, [0, 4])],
        risk: { ...NO_RISK, stopLoss: { mode: 'percent', value: 5 } },
      },
      { bars: b, entries: [entryAt(b, [0, 4], { side: -1 })], exits: [exitAt(b, [2])] },
      { config: configOf({ execution: { orderTiming: 'bar_close' } }) },
    );
    // The stop of A orders the exit of B for hour 3, and a rule of B closes it at the close of hour 2.
    expect(summaryOf(result)).toEqual([
      [0, 0, 100, 2, 95, 'stop_loss'],
      [1, 0, 100, 2, 100, 'signal'],
      [0, 4, 100, 5, 100, 'end_of_data'],
      [1, 4, 100, 5, 100, 'end_of_data'],
    ]);
  });

  it('turn together', () => {
    const turn = (bars: Bars, side: 1 | -1) => [
      entryAt(bars, [0], { side }),
      entryAt(bars, [2], { id: 'turn', side: side > 0 ? -1 : 1, conflict: 'reverse' as const }),
    ];
    const result = pair({ bars: a, entries: turn(a, 1) }, { bars: b, entries: turn(b, -1) });
    expect(summaryOf(result)).toEqual([
      [0, 1, 100, 3, 100, 'reverse'],
      [1, 1, 100, 3, 100, 'reverse'],
      [0, 3, 100, 5, 100, 'end_of_data'],
      [1, 3, 100, 5, 100, 'end_of_data'],
    ]);
  });
});
