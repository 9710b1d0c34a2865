// Chart data: the columns that the charts draw, in buckets if a run has more bars than a browser draws smoothly.
import type { EvaluatedPlan } from '../../evaluate/evaluatePlan.ts';
import { buyAndHold } from '../buyAndHold.ts';
import { drawdowns } from '../drawdown.ts';
import { asHeading, benchmarkName, BUY_AND_HOLD } from '../buyAndHold.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import type { PortfolioRun } from '../reportInput.ts';
import type { NamedTradeRow } from '../tradeTable.ts';
import { chartedInstruments, instrumentPrices, mostPoints } from './instrumentPrices.ts';

/** A browser draws this many candles without stutter. */
const MAX_POINTS = 20_000;
/** Most lines over the candles; more would hide them. */
const MAX_OVERLAYS = 4;
/** Most lines in the separate pane for nodes whose scale differs from the price. */
const MAX_OSCILLATORS = 2;
/** A node is drawn over the candles if nearly all of its values lie between half and twice the close. */
const PRICE_RATIO = 2;
const PRICE_SHARE = 0.9;

interface ChartLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface ChartData {
  readonly barsPerPoint: number;
  /** Open of each point, seconds UTC. */
  readonly time: readonly number[];
  readonly open: readonly number[];
  readonly high: readonly number[];
  readonly low: readonly number[];
  readonly close: readonly number[];
  /** Equity at the last bar of the point, or at a bar in it where equity is at an extreme of the run. */
  readonly equity: readonly number[];
  readonly benchmark: readonly number[];
  /** Absent: buy and hold. */
  readonly benchmarkName?: string;
  /** The deepest drawdown within the point, in percent, at most 0. */
  readonly drawdown: readonly number[];
  readonly overlays: readonly ChartLine[];
  readonly oscillators: readonly ChartLine[];
  /** Entry and exit as [position among the points, price], the side, and whether the trade won. */
  readonly trades: readonly (readonly number[])[];
  /** Of a portfolio: the prices that can be chosen. Its trades end with the place of their instrument, -1: not here. */
  readonly instruments?: ReturnType<typeof instrumentPrices>;
}

/** @param trades the trades that are shown. */
export function chartData(run: CompletedRun, trades: readonly NamedTradeRow[], maxPoints = MAX_POINTS): ChartData {
  const { portfolio, input } = run.report;
  const isNamed = portfolio?.isNamed === true;
  const name = benchmarkName(input.config, isNamed);
  const chart = isNamed
    ? portfolioChart(run, portfolio, trades, Math.min(maxPoints, mostPoints(portfolio)))
    : accountChart(run, trades, maxPoints, true);
  return name === BUY_AND_HOLD ? chart : { ...chart, benchmarkName: asHeading(name) };
}

function accountChart(
  run: CompletedRun,
  trades: readonly NamedTradeRow[],
  maxPoints: number,
  drawsNodes: boolean,
): ChartData {
  const { input, simulation, firstRow, benchmark } = run.report;
  const { bars, start } = input;
  const { equity } = simulation;
  const rows = equity.length;
  const every = Math.max(1, Math.ceil(rows / maxPoints));
  const points = Array.from({ length: Math.ceil(rows / every) }, (_, point) => ({
    first: point * every,
    last: Math.min(rows, (point + 1) * every) - 1,
  }));
  const drawdown = drawdowns(equity, input.config.initialBalance);
  const extremes = extremeIndexes(equity, drawdown);
  const held = buyAndHold(benchmark ?? bars, start, rows, input.config.initialBalance);
  /** The position of the middle of a bar among the points. */
  const pointOf = (bar: number): number => (bar - (start - firstRow) - (every - 1) / 2) / every;
  const column = (read: (first: number, last: number) => number): number[] =>
    points.map(({ first, last }) => read(first, last));
  const rounded = (read: (first: number, last: number) => number): number[] =>
    column((first, last) => shortened(read(first, last)));
  return {
    barsPerPoint: every,
    time: column((first) => bars.time[start + first] / 1000),
    open: rounded((first) => bars.open[start + first]),
    high: rounded((first, last) => most(bars.high, start + first, start + last)),
    low: rounded((first, last) => least(bars.low, start + first, start + last)),
    close: rounded((_, last) => bars.close[start + last]),
    equity: rounded((first, last) => equity[extremes.find((index) => index >= first && index <= last) ?? last]),
    benchmark: rounded((_, last) => held[last]),
    drawdown: rounded((first, last) => -100 * most(drawdown, first, last)),
    ...(drawsNodes ? linesOf(run, points) : { overlays: [], oscillators: [] }),
    trades: trades.map((trade) => [
      pointOf(trade.entryBar),
      trade.entryPrice,
      pointOf(trade.exitBar),
      trade.exitPrice,
      trade.side === 'long' ? 1 : -1,
      trade.pnl > 0 ? 1 : 0,
    ]),
  };
}

/** The chart of the account, with the prices of each instrument and the trades at the instants of their fills. */
function portfolioChart(
  run: CompletedRun,
  portfolio: PortfolioRun,
  trades: readonly NamedTradeRow[],
  maxPoints: number,
): ChartData {
  const { input } = run.report;
  const { instruments, axis } = portfolio;
  // The bars of the account are those of its benchmark, and no node is drawn: each instrument has its own values.
  const chart = accountChart(run, [], maxPoints, false);
  const places = chartedInstruments(portfolio);
  const indexes = new Map(instruments.map(({ symbol }, index) => [symbol, index]));
  /** The position of a bar of an instrument among the points. */
  const pointOf = (index: number, bar: number): number =>
    (axis.instants[index][bar + instruments[index].firstRow] - input.start - (chart.barsPerPoint - 1) / 2) /
    chart.barsPerPoint;
  return {
    ...chart,
    instruments: instrumentPrices(portfolio, input.start, chart.barsPerPoint, chart.time.length),
    trades: trades.map(({ symbol, entryBar, entryPrice, exitBar, exitPrice, side, pnl }) => {
      const index = indexes.get(symbol!)!;
      return [
        pointOf(index, entryBar),
        entryPrice,
        pointOf(index, exitBar),
        exitPrice,
        side === 'long' ? 1 : -1,
        pnl > 0 ? 1 : 0,
        places.indexOf(index),
      ];
    }),
  };
}

/** Nine digits are more than a screen shows and take half the bytes of a full double. */
const shortened = (value: number): number => Number(value.toPrecision(9));

function most(values: Float64Array, first: number, last: number): number {
  let found = -Infinity;
  for (let index = first; index <= last; index++) if (values[index] > found) found = values[index];
  return found;
}

function least(values: Float64Array, first: number, last: number): number {
  let found = Infinity;
  for (let index = first; index <= last; index++) if (values[index] < found) found = values[index];
  return found;
}

/**
 * The bars that the chart must show at any bucket width: the bottom of the deepest drawdown, and the highest and lowest
 * equity.
 */
function extremeIndexes(equity: Float64Array, drawdown: Float64Array): number[] {
  return [indexOfMost(drawdown), indexOfMost(equity), indexOfMost(equity.map((value) => -value))];
}

function indexOfMost(values: Float64Array): number {
  let found = 0;
  for (let index = 1; index < values.length; index++) if (values[index] > values[found]) found = index;
  return found;
}

interface Point {
  readonly first: number;
  readonly last: number;
}

/** Named values as lines, with those on the scale of the price separated from the others. */
function linesOf({ report }: CompletedRun, points: readonly Point[]): Pick<ChartData, 'overlays' | 'oscillators'> {
  const { evaluated, input } = report;
  const { bars, start } = input;
  const overlays: ChartLine[] = [];
  const oscillators: ChartLine[] = [];
  const shortClose = (row: number): number => Number(bars.close[row].toPrecision(7));
  for (const { nodeId, type, slot } of evaluated.plan.named) {
    const read = type === 'value' ? readerOf(evaluated, slot) : null;
    if (read === null) continue;
    const values = points.map(({ last }) => {
      const value = read(start + last);
      return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
    });
    // The close is already drawn, and a node without values has nothing to draw.
    if (points.every(({ last }, point) => values[point] === null || values[point] === shortClose(start + last)))
      continue;
    const near = points.filter(({ last }, point) => isNearPrice(values[point], bars.close[start + last])).length;
    const isOnPrice = near >= points.length * PRICE_SHARE;
    const group = isOnPrice ? overlays : oscillators;
    if (group.length < (isOnPrice ? MAX_OVERLAYS : MAX_OSCILLATORS)) group.push({ name: nodeId, values });
  }
  return { overlays, oscillators };
}

const isNearPrice = (value: number | null, close: number): boolean =>
  value === null || (value > close / PRICE_RATIO && value < close * PRICE_RATIO);

/** null for a constant, which is not worth a line. */
function readerOf(evaluated: EvaluatedPlan, slot: number): ((row: number) => number) | null {
  if (evaluated.numberAt(slot) !== undefined) return null;
  const { values } = evaluated.value(slot);
  return (row) => values[row];
}
