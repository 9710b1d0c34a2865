// Generated portfolios: one set of rules on several instruments, whose bars begin, end and pause at different times.
import type { Bars } from '../../src/engine/bars/bars.ts';
import type { EntryRule, LevelRule, ValueSource } from '../../src/engine/evaluate/tradingRules.ts';
import type { PortfolioInput } from '../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput } from '../../src/engine/simulate/simulation.ts';
import { barsFrom, bitsAt } from '../engine/simulate/input.ts';
import { portfolioOf } from '../engine/simulate/portfolioInput.ts';
import { diceOf, type Dice } from '../support/dice.ts';
import { bucketMinutes, randomInput, randomMinutes } from './simulationInputs.ts';

const START = Date.UTC(2024, 0, 1);
const ROWS = 60;
/** Not in the order of the list, so that sums in the order of symbols differ from sums in that order. */
const SYMBOLS = ['DD', 'AA', 'CC', 'BB', 'EE'];

/** Bars of which some are missing, at the start, at the end or between. */
function barsWithHoles(dice: Dice, symbol: string): { bars: Bars; minutes: Bars } {
  const shifted = (bars: Bars, rows: (row: number) => boolean): Bars => {
    const kept = Array.from(bars.time.keys()).filter(rows);
    const cut = (column: Float64Array): number[] => kept.map((row) => column[row]);
    const moved = bars.time.map((time) => time - bars.time[0] + START);
    const { timeframe, open, high, low, close } = bars;
    return barsFrom(
      { time: cut(moved), open: cut(open), high: cut(high), low: cut(low), close: cut(close) },
      timeframe,
      symbol,
    );
  };
  const minutes = randomMinutes(dice, ROWS * 15);
  const first = dice.chance(0.3) ? dice.whole(0, 20) : 0;
  const last = dice.chance(0.3) ? dice.whole(35, ROWS - 1) : ROWS - 1;
  const gaps = dice.pick([0, 0, 0.1, 0.4]);
  const all = bucketMinutes(minutes);
  const rows = Array.from({ length: ROWS }, (_, row) => row >= first && row <= last && !dice.chance(gaps));
  return { bars: shifted(all, (row) => rows[row]), minutes: shifted(minutes, () => true) };
}

/** The rules of `made` on other bars: the same numbers, other signals, and prices as far from the close. */
function onBars(dice: Dice, made: SimulationInput, bars: Bars, minutes: Bars): SimulationInput {
  const signals = (probability: number) => ({
    kind: 'bits' as const,
    isTrue: bitsAt(
      bars.length,
      Array.from({ length: bars.length }, (_, row) => row).filter(() => dice.chance(probability)),
    ),
  });
  const cycled = (column: Float64Array): Float64Array => bars.close.map((_, row) => column[row % column.length]);
  const price = (source: ValueSource): ValueSource =>
    source.kind === 'column'
      ? {
          kind: 'column',
          values: bars.close.map((close, row) => {
            const at = row % source.values.length;
            return close + source.values[at] - made.bars.close[at];
          }),
        }
      : source;
  const level = <L extends LevelRule>(rule: L): L => {
    if ('atr' in rule) return { ...rule, atr: cycled(rule.atr) };
    return 'price' in rule ? { ...rule, price: price(rule.price) } : rule;
  };
  const { stopLoss, takeProfits, trailingStop } = made.risk;
  return {
    ...made,
    bars,
    instrument: { ...made.instrument, symbol: bars.symbol },
    fine: made.fine && minutes,
    start: Math.min(bars.length, dice.whole(0, 5)),
    end: bars.length,
    entries: made.entries.map((rule): EntryRule => ({
      ...rule,
      signal: signals(0.12),
      order: rule.order.type === 'market' ? rule.order : { ...rule.order, price: price(rule.order.price) },
      sizing: rule.sizing.atr === undefined ? rule.sizing : { ...rule.sizing, atr: cycled(rule.sizing.atr) },
    })),
    exits: made.exits.map((rule) => ({ ...rule, when: signals(0.1) })),
    risk: {
      ...made.risk,
      stopLoss: stopLoss && level(stopLoss),
      takeProfits: takeProfits.map((step) => ({ ...step, trigger: level(step.trigger) })),
      trailingStop: trailingStop && { ...trailingStop, distance: level(trailingStop.distance) },
    },
    slippageAtr: made.slippageAtr && cycled(made.slippageAtr),
  };
}

/** A portfolio of two to five instruments. */
export function randomPortfolio(seed: number): PortfolioInput {
  const dice = diceOf(seed + 5_000_000);
  const made = randomInput(seed);
  const count = dice.whole(2, SYMBOLS.length);
  const ranks = dice.chance(0.5);
  const instruments = SYMBOLS.slice(0, count).map((symbol) => {
    const { bars, minutes } = barsWithHoles(dice, symbol);
    const input = onBars(dice, made, bars, minutes);
    const rank = { kind: 'column' as const, values: bars.close.map(() => dice.number(0, 100)) };
    return ranks ? { ...input, entries: input.entries.map((rule) => ({ ...rule, rank })) } : input;
  });
  return portfolioOf(instruments, {
    config: made.config,
    slots: dice.pick([null, 1, 2, 3]),
    linked: dice.chance(0.15) ? [[0, 1]] : [],
  });
}
