// Laws of portfolios on generated universes: the order of the list, an instrument that is silent, and prices that come
// later.
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../src/engine/bars/bars.ts';
import type { LegRule, ValueSource } from '../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput, PortfolioResult } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import { simulatePortfolio } from '../../src/engine/simulate/portfolio/simulatePortfolio.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { flatFee } from '../engine/simulate/input.ts';
import { diceOf } from '../support/dice.ts';
import { isClose } from '../support/reference/difference.ts';
import { scaled } from '../support/scale.ts';
import { portfolioOf, randomPortfolio } from './portfolioInputs.ts';
import { randomRotation } from './rotationInputs.ts';

/** Generated strategies with rules, and with an allocation. */
const GENERATED = [
  { what: 'rules', inputOf: (seed: number) => randomPortfolio(seed) },
  { what: 'an allocation', inputOf: (seed: number) => randomRotation(seed, { isUntied: true, hasRisk: true }) },
] as const;
type InputOf = (seed: number) => PortfolioInput;

/** Runs a law for seeds 1 to `count`, those without a bar to trade left out; a failure names its seed. */
function forPortfolios(count: number, inputOf: InputOf, law: (input: PortfolioInput, seed: number) => void): void {
  for (let seed = 1; seed <= scaled(count); seed++) {
    const input = inputOf(seed);
    if (input.start === input.end) continue;
    try {
      law(input, seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

/** An addition that is worth less than this is what is left of an account of 1e9: a difference of sums of its size. */
const LEFTOVER = 1_000;

/** The rows of one instrument, in order, as text: numbers to nine digits, the size and profit of leftovers to six. */
function rowsOf({ trades, tradeInstruments }: PortfolioResult, instrument: number): string[] {
  const own = trades.filter((_, at) => tradeInstruments[at] === instrument);
  return own.map(({ entryRow, exitRow, exitReason, entryPrice, exitPrice, quantity, pnl }) => {
    const digits = quantity * entryPrice < LEFTOVER ? 6 : 9;
    return [
      entryRow,
      exitRow,
      exitReason,
      ...[entryPrice, exitPrice].map((value) => value.toPrecision(9)),
      ...[quantity, pnl].map((value) => value.toPrecision(digits)),
    ].join();
  });
}

describe('the order of the list', { timeout: 600_000 }, () => {
  /** No tie that the order of the list breaks: enough money, sizes that do not read it, one fee, ranks that differ. */
  function withoutTies(input: PortfolioInput, seed: number): PortfolioInput {
    const config = {
      ...input.config,
      initialBalance: 1e9,
      execution: { ...input.config.execution, feeModel: flatFee(0.001) },
    };
    const instruments = input.instruments.map((instrument, index): SimulationInput => {
      const dice = diceOf(seed * 64 + index);
      const rank: ValueSource = { kind: 'column', values: instrument.bars.close.map(() => dice.number(0, 1)) };
      const entries = instrument.entries.map((entry) => ({
        ...entry,
        rank,
        sizing: { mode: 'fixed', value: 3 } as const,
        // What waits at a price is reached inside a bar, where slots go by the list.
        order: input.slots === null ? entry.order : ({ type: 'market' } as const),
      }));
      return { ...instrument, config, entries };
    });
    return portfolioOf(instruments, input);
  }

  it.each(GENERATED)('changes nothing where it breaks no tie, with $what', ({ inputOf }) => {
    let trades = 0;
    let differently = 0;
    forPortfolios(5_000, inputOf, (made, seed) => {
      const input = withoutTies(made, seed);
      const order = input.instruments.map((_, index) => index).toReversed();
      const linked = input.linked.map((group) => group.map((index) => order.indexOf(index)).toSorted((a, b) => a - b));
      const turned = portfolioOf(
        order.map((index) => input.instruments[index]),
        { slots: input.slots, linked },
      );
      const [one, other] = [simulatePortfolio(input), simulatePortfolio(turned)];
      for (const index of order) expect(rowsOf(other, order.indexOf(index))).toEqual(rowsOf(one, index));
      expect(one.equity.findIndex((value, at) => !isClose(value, other.equity[at]))).toBe(-1);
      trades += one.trades.length;
      if (one.trades.some(({ positionId }, at) => other.trades[at].positionId !== positionId)) differently++;
    });
    expect(trades).toBeGreaterThan(scaled(5_000) * 5);
    expect(differently).toBeGreaterThan(0);
  });
});

describe('an instrument that is silent', { timeout: 600_000 }, () => {
  it.each(GENERATED)('changes no fill, whatever bars it has, with $what', ({ inputOf }) => {
    let trades = 0;
    forPortfolios(5_000, inputOf, (input, seed) => {
      const dice = diceOf(seed + 7);
      const at = dice.whole(0, input.instruments.length);
      const silent = silentIn(input, seed, dice.chance(0.5));
      const instruments = input.instruments.toSpliced(at, 0, silent);
      const linked = input.linked.map((group) => group.map((index) => (index < at ? index : index + 1)));
      const [without, withIt] = [input, portfolioOf(instruments, { slots: input.slots, linked })].map(
        simulatePortfolio,
      );
      expect(withIt.trades).toEqual(without.trades);
      expect(withIt.finalBalance).toBe(without.finalBalance);
      expect([...withIt.tradeInstruments]).toEqual([...without.tradeInstruments].map((of) => (of < at ? of : of + 1)));
      trades += without.trades.length;
    });
    expect(trades).toBeGreaterThan(scaled(5_000) * 5);
  });

  /** Prices of another universe, between the first and the last instant of this run, that never signal. */
  function silentIn(input: PortfolioInput, seed: number, isOnAxis: boolean): SimulationInput {
    const [of] = input.instruments;
    const { time } = input.axis;
    const shift = isOnAxis ? 0 : 60_000;
    const times = Array.from(time.subarray(input.start, input.end - 1), (open) => open + shift);
    if (times.length === 0) times.push(time[input.start]);
    const dice = diceOf(seed + 11);
    const prices = times.map(() => dice.whole(1, 500));
    const column = Float64Array.from(prices);
    const bars: Bars = {
      ...of.bars,
      symbol: 'SILENT',
      length: times.length,
      time: Float64Array.from(times),
      open: column,
      high: column,
      low: column,
      close: column,
      volume: column,
    };
    const silence = { kind: 'bits', isTrue: new Uint32Array((times.length + 31) >>> 5) } as const;
    const entries = of.entries.map((entry) => ({ ...entry, signal: silence }));
    const exits = of.exits.map((exit) => ({ ...exit, when: silence }));
    const unknown = { kind: 'constant', value: NaN } as const;
    const leg = <L extends LegRule>(rule: L | null): L | null =>
      rule && { ...rule, by: unknown, where: silence.isTrue };
    const allocation = of.allocation && {
      ...of.allocation,
      when: silence.isTrue,
      long: leg(of.allocation.long),
      short: leg(of.allocation.short),
      weights: { ...of.allocation.weights, by: of.allocation.weights.by && unknown },
    };
    const instrument = { ...of.instrument, symbol: bars.symbol };
    const own = { instrument, entries, exits, allocation, slippageAtr: column };
    return { ...of, bars, start: 0, end: times.length, fine: null, ...own };
  }
});

describe('prices after an instant', { timeout: 600_000 }, () => {
  it.each(GENERATED)('change nothing up to it, on any instrument, with $what', ({ inputOf }) => {
    let compared = 0;
    let changed = 0;
    forPortfolios(10_000, inputOf, (input, seed) => {
      const dice = diceOf(seed + 3);
      const instant = dice.whole(input.start, input.end - 1);
      const which = dice.whole(0, input.instruments.length - 1);
      const after = input.axis.time[instant] + 1;
      const instruments = input.instruments.map((each, index) => (index === which ? pricedFrom(each, after) : each));
      const [one, other] = [input, portfolioOf(instruments, input)].map(simulatePortfolio);
      const marks = instant - input.start + 1;
      // The end of the data is known beforehand, and so is the close at it of what ends within a week of the run.
      const isBefore = (result: PortfolioResult, at: number): boolean => {
        const of = result.tradeInstruments[at];
        const { exitReason, exitRow } = result.trades[at];
        return exitReason !== 'end_of_data' && input.axis.instants[of][exitRow] <= instant;
      };
      const until = (result: PortfolioResult) => result.trades.filter((_, at) => isBefore(result, at));
      expect(until(other)).toEqual(until(one));
      expect([...other.equity.subarray(0, marks)]).toEqual([...one.equity.subarray(0, marks)]);
      compared += until(one).length;
      if (other.finalBalance !== one.finalBalance) changed++;
    });
    expect(compared).toBeGreaterThan(scaled(10_000) * 3);
    expect(changed).toBeGreaterThan(scaled(10_000) / 10);
  });

  /** Every price from a time on twice as high: whether children contradict their bar stays as it was. */
  function pricedFrom(input: SimulationInput, time: number): SimulationInput {
    const doubled = (bars: Bars): Bars => {
      const column = (values: Float64Array): Float64Array =>
        values.map((value, row) => (bars.time[row] < time ? value : 2 * value));
      const { open, high, low, close } = bars;
      return { ...bars, open: column(open), high: column(high), low: column(low), close: column(close) };
    };
    const bars = doubled(input.bars);
    // A child belongs to a bar by its time: those of the last bar that stays are later than its open.
    const lastKept = bars.time.findLast((open) => open < time) ?? -Infinity;
    const nextBar = bars.time.find((open) => open >= time) ?? Infinity;
    const { fine } = input;
    if (fine === null) return { ...input, bars };
    const isKept = (open: number): boolean => open < nextBar && open >= lastKept;
    const column = (values: Float64Array): Float64Array =>
      values.map((value, row) => (fine.time[row] < time || isKept(fine.time[row]) ? value : 2 * value));
    const { open, high, low, close } = fine;
    const children = { ...fine, open: column(open), high: column(high), low: column(low), close: column(close) };
    return { ...input, bars, fine: children };
  }
});
