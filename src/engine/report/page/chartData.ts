// Chart data: the columns that the charts draw, in buckets if a run has more bars than a browser draws smoothly.
import { asHeading, benchmarkName, BUY_AND_HOLD, buyAndHold } from '../buyAndHold.ts';
import { drawdowns } from '../drawdown.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import type { PortfolioRun } from '../reportInput.ts';
import type { NamedTradeRow } from '../tradeTable.ts';
import { chartedInstruments, instrumentPrices, mostPoints } from './instrumentPrices.ts';
import {
  chartConditions,
  chartLines,
  lineLayout,
  pointBits,
  type ChartCondition,
  type ChartLine,
  type LineLayout,
} from './strategyLines.ts';
import { tradeLevels, type PositionLevels } from './tradeLevels.ts';

/** A browser draws this many candles without stutter. */
const MAX_POINTS = 20_000;
/** Values of all lines of the strategy together: 8 bytes each. */
const MOST_LINE_VALUES = 120_000;

/** The levels of a position: its stop as [point, price, point, price …], its targets, and its last point. */
interface ChartLevels {
  readonly from: number;
  readonly to: number;
  readonly stops: readonly number[];
  readonly targets: readonly number[];
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
  /** Whether a position was open on any bar of each point; bits as those of conditions. */
  readonly held: string;
  readonly lines: readonly ChartLine[];
  readonly conditions: readonly ChartCondition[];
  /** Of each pane below the price, the numbers that conditions compare its lines with. */
  readonly thresholds: LineLayout['thresholds'];
  /** Values of the strategy that are not drawn. */
  readonly notDrawn: readonly string[];
  /** Entry and exit as [position among the points, price], the side, and whether the trade won. */
  readonly trades: readonly (readonly number[])[];
  /** By the index of the last trade of a position. */
  readonly levels: Readonly<Record<number, ChartLevels>>;
  /** Of a portfolio: the prices that can be chosen. Its trades end with the place of their instrument, -1: not here. */
  readonly instruments?: ReturnType<typeof instrumentPrices>;
}

/** @param trades the trades that are shown: the last ones of the run */
export function chartData(run: CompletedRun, trades: readonly NamedTradeRow[], maxPoints = MAX_POINTS): ChartData {
  const { portfolio, input } = run.report;
  const isNamed = portfolio?.isNamed === true;
  const name = benchmarkName(input.config, isNamed);
  const chart = isNamed
    ? portfolioChart(run, portfolio, trades, Math.min(maxPoints, mostPoints(portfolio)))
    : singleChart(run, trades, maxPoints);
  return name === BUY_AND_HOLD ? chart : { ...chart, benchmarkName: asHeading(name) };
}

/** The chart of an account that trades one instrument. */
function singleChart(run: CompletedRun, trades: readonly NamedTradeRow[], maxPoints: number): ChartData {
  const { report } = run;
  const { input, firstRow, strategy } = report;
  const chart = accountChart(run, maxPoints);
  const points = pointsOf(run, maxPoints).map(({ first, last }) => ({
    first: input.start + first,
    last: input.start + last,
  }));
  const layout = lineLayout(report, points, mostLines(points.length));
  /** The position of the middle of a bar among the points. */
  const pointOf = (bar: number): number =>
    (bar - (input.start - firstRow) - (chart.barsPerPoint - 1) / 2) / chart.barsPerPoint;
  const from = run.trades.length - trades.length;
  const fills = strategy.allocation === null ? [...report.simulation.trades.entries()] : [];
  return {
    ...chart,
    lines: chartLines(report, points, layout),
    conditions: chartConditions(report, points),
    thresholds: layout.thresholds,
    notDrawn: layout.left,
    trades: trades.map((trade) => tradeMark(trade, pointOf)),
    levels: chartLevels(tradeLevels(input, fills, from), from, (row) => pointOf(row - firstRow)),
  };
}

const mostLines = (values: number): number => Math.max(1, Math.floor(MOST_LINE_VALUES / Math.max(1, values)));

const tradeMark = (trade: NamedTradeRow, pointOf: (bar: number) => number): number[] => [
  shortPlace(pointOf(trade.entryBar)),
  trade.entryPrice,
  shortPlace(pointOf(trade.exitBar)),
  trade.exitPrice,
  trade.side === 'long' ? 1 : -1,
  trade.pnl > 0 ? 1 : 0,
];

/** @param from the first trade that is shown, from which the page counts */
function chartLevels(
  levels: ReadonlyMap<number, PositionLevels>,
  from: number,
  pointOf: (row: number) => number,
): Record<number, ChartLevels> {
  const shown = [...levels].map(([trade, { entryRow, exitRow, stops, targets }]) => {
    const corners = stops.flatMap(({ row, price }) => [shortPlace(pointOf(row)), shortened(price)]);
    const [first, last] = [entryRow, exitRow].map((row) => shortPlace(pointOf(row)));
    return [trade - from, { from: first, to: last, stops: corners, targets: targets.map(shortened) }] as const;
  });
  return Object.fromEntries(shown);
}

/** Bars of a run, counted from its first evaluated one. */
function pointsOf({ report }: CompletedRun, maxPoints: number): { readonly first: number; readonly last: number }[] {
  const rows = report.simulation.equity.length;
  const every = Math.max(1, Math.ceil(rows / maxPoints));
  return Array.from({ length: Math.ceil(rows / every) }, (_, point) => ({
    first: point * every,
    last: Math.min(rows, (point + 1) * every) - 1,
  }));
}

/** What the charts show of any account. */
function accountChart(run: CompletedRun, maxPoints: number): ChartData {
  const { input, simulation, benchmark } = run.report;
  const { bars, start } = input;
  const { equity } = simulation;
  const points = pointsOf(run, maxPoints);
  const drawdown = drawdowns(equity, input.config.initialBalance);
  const extremes = extremeIndexes(equity, drawdown);
  const held = buyAndHold(benchmark ?? bars, start, equity.length, input.config.initialBalance);
  const column = (read: (first: number, last: number) => number): number[] =>
    points.map(({ first, last }) => read(first, last));
  const rounded = (read: (first: number, last: number) => number): number[] =>
    column((first, last) => shortened(read(first, last)));
  return {
    barsPerPoint: Math.max(1, Math.ceil(equity.length / maxPoints)),
    time: column((first) => bars.time[start + first] / 1000),
    open: rounded((first) => bars.open[start + first]),
    high: rounded((first, last) => most(bars.high, start + first, start + last)),
    low: rounded((first, last) => least(bars.low, start + first, start + last)),
    close: rounded((_, last) => bars.close[start + last]),
    equity: rounded((first, last) => equity[extremes.find((index) => index >= first && index <= last) ?? last]),
    benchmark: rounded((_, last) => held[last]),
    drawdown: rounded((first, last) => -100 * most(drawdown, first, last)),
    held: pointBits(simulation.inPosition, points),
    lines: [],
    conditions: [],
    thresholds: [],
    notDrawn: [],
    trades: [],
    levels: {},
  };
}

/** The chart of the account, with the prices of each instrument and the trades at the instants of their fills. */
function portfolioChart(
  run: CompletedRun,
  portfolio: PortfolioRun,
  trades: readonly NamedTradeRow[],
  maxPoints: number,
): ChartData {
  const { input, simulation, strategy } = run.report;
  const { instruments, axis } = portfolio;
  // The bars of the account are those of its benchmark: each instrument has its own prices, lines and conditions.
  const chart = accountChart(run, maxPoints);
  const places = chartedInstruments(portfolio);
  const prices = instrumentPrices(portfolio, input.start, chart.barsPerPoint, chart.time.length);
  const rows = prices.map((each) => each.rows);
  const [first] = places;
  const layout =
    first === undefined
      ? { lines: [], thresholds: [], left: [] }
      : lineLayout(instruments[first], rows[0], mostLines(places.length * chart.time.length));
  const indexes = new Map(instruments.map(({ symbol }, index) => [symbol, index]));
  /** The position of a row of an instrument among the points. */
  const pointOf = (index: number, row: number): number =>
    (axis.instants[index][row] - input.start - (chart.barsPerPoint - 1) / 2) / chart.barsPerPoint;
  const from = run.trades.length - trades.length;
  const fills = Map.groupBy(simulation.trades.entries(), ([trade]) => portfolio.simulation.tradeInstruments[trade]);
  const budget = { corners: MOST_LINE_VALUES / 6 };
  const levels = places.map((index) => {
    const found = tradeLevels(
      instruments[index].input,
      strategy.allocation === null ? (fills.get(index) ?? []) : [],
      from,
      budget,
    );
    return chartLevels(found, from, (row) => pointOf(index, row));
  });
  return {
    ...chart,
    instruments: prices.map((each, at) => ({
      ...each,
      rows: [],
      lines: chartLines(instruments[places[at]], rows[at], layout),
      conditions: chartConditions(instruments[places[at]], rows[at]),
    })),
    thresholds: layout.thresholds,
    notDrawn: layout.left,
    levels: Object.assign({}, ...levels) as Record<number, ChartLevels>,
    trades: trades.map((trade) => {
      const index = indexes.get(trade.symbol!)!;
      const mark = tradeMark(trade, (bar) => pointOf(index, bar + instruments[index].firstRow));
      return [...mark, places.indexOf(index)];
    }),
  };
}

/** A hundredth of a point is narrower than a pixel, however far one zooms in. */
const shortPlace = (point: number): number => Math.round(point * 100) / 100;

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
