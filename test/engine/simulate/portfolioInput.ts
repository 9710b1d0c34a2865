// A portfolio input built from the inputs of its instruments, and short bars of several instruments for examples.
import type { Bars } from '../../../src/engine/bars/bars.ts';
import { TIMEFRAME_MS } from '../../../src/engine/bars/bars.ts';
import { timeAxisOf } from '../../../src/engine/bars/timeAxis.ts';
import type { PortfolioInput, PortfolioResult } from '../../../src/engine/simulate/portfolio/portfolioSimulation.ts';
import type { SimulationInput } from '../../../src/engine/simulate/simulation.ts';
import { barsFrom, configOf, INSTRUMENT, inputOf, type Ohlc } from './input.ts';

const START = Date.UTC(2024, 0, 1);

/** Hourly bars by the hour that they open at, counted from the first instant. */
export function barsAt(symbol: string, rows: Readonly<Record<number, Ohlc>>): Bars {
  const hours = Object.keys(rows).map(Number);
  return barsFrom(
    {
      time: hours.map((hour) => START + hour * TIMEFRAME_MS['1h']),
      open: hours.map((hour) => rows[hour][0]),
      high: hours.map((hour) => rows[hour][1]),
      low: hours.map((hour) => rows[hour][2]),
      close: hours.map((hour) => rows[hour][3]),
    },
    '1h',
    symbol,
  );
}

/** Bars of which each has one price, one after the other. */
export const flatBars = (symbol: string, prices: readonly number[]): Bars =>
  barsAt(symbol, Object.fromEntries(prices.map((price, hour) => [hour, [price, price, price, price] as const])));

/** The input of one instrument of a portfolio. */
export const instrumentOf = (bars: Bars, more: Partial<SimulationInput> = {}): SimulationInput =>
  inputOf(bars, { instrument: { ...INSTRUMENT, symbol: bars.symbol }, ...more });

/** A portfolio of these instruments, from the first instant at which one may signal to the last. */
export function portfolioOf(
  instruments: readonly SimulationInput[],
  more: Partial<PortfolioInput> = {},
): PortfolioInput {
  const axis = timeAxisOf(instruments.map(({ bars }) => bars));
  const trading = instruments.map((each, index) => ({ ...each, instants: axis.instants[index] }));
  const able = trading.filter(({ start, end }) => start < end);
  const config = more.config ?? configOf();
  return {
    instruments: instruments.map((each) => ({ ...each, config })),
    axis,
    start: Math.min(...able.map(({ instants, start }) => instants[start])),
    end: Math.max(...able.map(({ instants, end }) => instants[end - 1])) + 1,
    config,
    slots: null,
    linked: [],
    control: null,
    keepOrders: true,
    keepWeights: true,
    ...more,
  };
}

/** Each trade with the index of its instrument. */
export const tradesOf = ({ trades, tradeInstruments }: PortfolioResult) =>
  trades.map((trade, index) => ({ ...trade, instrument: tradeInstruments[index] }));

/** Of each trade: instrument, row and price of entry, row and price of exit, reason. */
export const summaryOf = (result: PortfolioResult) =>
  tradesOf(result).map(({ instrument, entryRow, entryPrice, exitRow, exitPrice, exitReason }) => [
    instrument,
    entryRow,
    entryPrice,
    exitRow,
    exitPrice,
    exitReason,
  ]);
