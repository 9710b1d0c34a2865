// What holds for every portfolio, whatever its rules: its books, its slots, the order of the list, silent instruments,
// and nothing that looks ahead.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../src/engine/bars/timeAxis.ts';
import type { PortfolioInput, PortfolioResult } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import { barsFrom, bitsAt, flatFee } from '../engine/simulate/input.ts';
import { portfolioOf, tradesOf } from '../engine/simulate/portfolioInput.ts';
import { diceOf } from '../support/dice.ts';
import { scaled } from '../support/scale.ts';
import { randomPortfolio } from './universeInputs.ts';

function forSeeds(count: number, law: (seed: number) => void): void {
  for (let seed = 1; seed <= scaled(count); seed++) {
    try {
      law(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-7 * Math.max(1, Math.abs(a), Math.abs(b));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('the books of a portfolio', () => {
  it('mark the balance and every holding at its last close', () => {
    let shared = 0;
    forSeeds(3_000, (seed) => {
      const made = randomPortfolio(seed);
      const input = { ...made, config: { ...made.config, fundingRate: 0, borrowRatePerYear: 0, dividends: [] } };
      const { axis, start, end, instruments } = input;
      const result = simulatePortfolio(input);
      const trades = tradesOf(result).map((trade) => ({
        ...trade,
        entry: axis.instants[trade.instrument][trade.entryRow],
        // What ends within seven days of the others is closed with them, at its last close.
        exit: trade.exitReason === 'end_of_data' ? end - 1 : axis.instants[trade.instrument][trade.exitRow],
      }));
      for (let instant = start; instant < end; instant++) {
        let equity = input.config.initialBalance;
        const held = new Set<number>();
        let gross = 0;
        for (const { exit, entry, pnl, side, quantity, entryPrice, entryFee, instrument, positionId } of trades) {
          if (exit <= instant) equity += pnl;
          else if (entry <= instant) {
            const { close } = instruments[instrument].bars;
            const row = axis.instants[instrument].findLastIndex((each) => each <= instant);
            equity += side * quantity * (close[row] - entryPrice) - entryFee;
            gross += quantity * close[row];
            held.add(positionId);
          }
        }
        const at = instant - start;
        if (!isNear(result.equity[at], equity))
          expect.fail(`equity at ${instant}: ${result.equity[at]}, not ${equity}`);
        if (!isNear(result.grossExposure[at], gross)) expect.fail(`gross at ${instant}: ${result.grossExposure[at]}`);
        if (result.openPositions[at] !== held.size) expect.fail(`open at ${instant}: ${result.openPositions[at]}`);
        if (held.size > 1) shared++;
      }
    });
    expect(shared).toBeGreaterThan(scaled(3_000) * 5);
  });

  it('add up by instrument', () => {
    forSeeds(2_000, (seed) => {
      const input = randomPortfolio(seed);
      const result = simulatePortfolio(input);
      const { byInstrument, totals, counts, trades, orders } = result;
      const each = (key: 'makerFees' | 'takerFees' | 'slippageCost' | 'fundingPaid' | 'totalNotional') =>
        sum(byInstrument.map((instrument) => instrument[key]));
      for (const key of ['makerFees', 'takerFees', 'slippageCost', 'fundingPaid', 'totalNotional'] as const)
        if (!isNear(each(key), totals[key])) expect.fail(`${key}: ${each(key)}, not ${totals[key]}`);
      expect(isNear(result.finalBalance, input.config.initialBalance + sum(trades.map(({ pnl }) => pnl)))).toBe(true);
      expect(sum(byInstrument.map((instrument) => instrument.counts.entriesFilled))).toBe(counts.entriesFilled);
      const filled = orders!.filter(({ status }) => status === 'filled');
      expect(filled.filter(({ purpose }) => purpose === 'entry')).toHaveLength(counts.entriesFilled);
      expect(filled.filter(({ purpose }) => purpose === 'exit')).toHaveLength(trades.length);
      expect(new Set(orders!.map(({ orderId }) => orderId)).size).toBe(orders!.length);
      expect(result.tradeInstruments).toHaveLength(trades.length);
    });
  });

  it('never hold more positions than there are slots, and use them all', () => {
    const most = new Map<number, number>();
    forSeeds(2_000, (seed) => {
      const input = randomPortfolio(seed);
      if (input.slots === null) return;
      const open = Math.max(...simulatePortfolio(input).openPositions);
      expect(open).toBeLessThanOrEqual(input.slots);
      most.set(input.slots, Math.max(most.get(input.slots) ?? 0, open));
    });
    expect([1, 2, 3].map((slots) => most.get(slots))).toEqual([1, 2, 3]);
  });
});

/** What happened, by symbol: without numbers of positions, which follow the order of execution. */
function eventsOf(result: PortfolioResult, input: PortfolioInput): string[] {
  return tradesOf(result)
    .map((trade) =>
      [
        input.instruments[trade.instrument].bars.symbol,
        trade.entryRow,
        trade.exitRow,
        trade.side,
        trade.exitReason,
        trade.entryPrice,
        trade.exitPrice,
        trade.quantity.toPrecision(10),
      ].join(' '),
    )
    .toSorted();
}

describe('the order of the list', () => {
  it('changes nothing where it breaks no tie', () => {
    let trades = 0;
    forSeeds(1_500, (seed) => {
      const made = randomPortfolio(seed);
      const plain = {
        ...made,
        // Funds for everything, one tier of fees, and a rank of its own for every order.
        config: {
          ...made.config,
          leverage: 20,
          maintenanceMarginRate: 0,
          execution: { ...made.config.execution, feeModel: flatFee(0.001) },
        },
        instruments: made.instruments.map((instrument, index) => ({
          ...instrument,
          entries: instrument.entries.map((rule, entryIndex) => ({
            ...rule,
            order: { type: 'market' } as const,
            sizing: { mode: 'percent_equity', value: 1 + entryIndex } as const,
            rank: rule.rank ?? { kind: 'constant' as const, value: index },
          })),
        })),
      };
      const { config, slots, linked } = plain;
      const forwards = portfolioOf(plain.instruments, { config, slots, linked });
      const last = plain.instruments.length - 1;
      const backwards = portfolioOf(plain.instruments.toReversed(), {
        config,
        slots,
        linked: linked.map((group) => group.map((index) => last - index)),
      });
      const [one, other] = [simulatePortfolio(forwards), simulatePortfolio(backwards)];
      expect(eventsOf(other, backwards)).toEqual(eventsOf(one, forwards));
      one.equity.forEach((equity, at) => {
        if (!isNear(equity, other.equity[at])) expect.fail(`equity at ${at}: ${other.equity[at]}, not ${equity}`);
      });
      trades += one.trades.length;
    });
    expect(trades).toBeGreaterThan(scaled(1_500) * 5);
  });
});

describe('an instrument that is silent', () => {
  it('changes no fill and no equity', () => {
    forSeeds(1_500, (seed) => {
      const dice = diceOf(seed);
      const made = randomPortfolio(seed);
      const { config, slots, instruments } = made;
      const alone = simulatePortfolio(portfolioOf(instruments, { config, slots }));
      const template = instruments[0];
      // More instants than the others have between them, within the same range.
      const { start, end, axis } = portfolioOf(instruments);
      const [from, to] = [axis.time[start], axis.time[end - 1]];
      const time = Array.from({ length: (to - from) / 300_000 + 1 }, (_, row) => from + row * 300_000);
      const prices = time.map(() => dice.number(1, 500));
      const bars = barsFrom({ time, open: prices, high: prices, low: prices, close: prices }, '15m', 'BBB');
      const never = { kind: 'bits', isTrue: bitsAt(bars.length, []) } as const;
      const silent = {
        ...template,
        bars,
        fine: null,
        start: 0,
        end: bars.length,
        instrument: { ...template.instrument, symbol: 'BBB' },
        entries: template.entries.map((rule) => ({ ...rule, signal: never })),
        exits: [],
        slippageAtr: bars.close,
      };
      const at = dice.whole(0, instruments.length);
      const input = portfolioOf(instruments.toSpliced(at, 0, silent), { config, slots });
      const both = simulatePortfolio(input);
      expect(both.trades).toEqual(alone.trades);
      expect([...both.tradeInstruments].map((index) => (index > at ? index - 1 : index))).toEqual([
        ...alone.tradeInstruments,
      ]);
      const equityAt = new Map(
        Array.from(both.equity, (equity, index) => [input.axis.time[input.start + index], equity]),
      );
      alone.equity.forEach((equity, index) => expect(equityAt.get(axis.time[start + index])).toBe(equity));
    });
  });
});

describe('prices after an instant', () => {
  it('change nothing before it, on any instrument', () => {
    let compared = 0;
    forSeeds(1_500, (seed) => {
      const dice = diceOf(seed);
      const made = randomPortfolio(seed);
      const { axis, start, end } = made;
      const cut = dice.whole(start + 5, end - 2);
      const changed = (bars: Bars): Bars => {
        const moved = (column: Float64Array) =>
          column.map((value, row) => (bars.time[row] > axis.time[cut] ? value * 1.5 + 7 : value));
        return {
          ...bars,
          open: moved(bars.open),
          high: moved(bars.high),
          low: moved(bars.low),
          close: moved(bars.close),
        };
      };
      const instruments = made.instruments.map((instrument) => ({
        ...instrument,
        bars: changed(instrument.bars),
        fine: null,
      }));
      const before = { ...made, instruments: made.instruments.map((instrument) => ({ ...instrument, fine: null })) };
      const after = { ...made, instruments, axis: timeAxisOf(instruments.map(({ bars }) => bars)) };
      const [one, other] = [simulatePortfolio(before), simulatePortfolio(after)];
      const until = (result: PortfolioResult) =>
        tradesOf(result).filter(
          ({ instrument, exitRow, exitReason }) =>
            axis.instants[instrument][exitRow] <= cut && exitReason !== 'end_of_data',
        );
      expect(until(other)).toEqual(until(one));
      expect(other.equity.subarray(0, cut - start + 1)).toEqual(one.equity.subarray(0, cut - start + 1));
      compared += until(one).length;
    });
    expect(compared).toBeGreaterThan(scaled(1_500) * 2);
  });
});
