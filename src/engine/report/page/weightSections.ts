// A portfolio over time: the weights of its instruments, its exposure and positions, and how often it was turned over.
import { previewIndexes } from '../equityPreview.ts';
import type { PortfolioRun, ReportInput } from '../reportInput.ts';
import type { CompletedRun } from '../simulatedRun.ts';
import { html, NOTHING, section, type Html } from '../kit/html.ts';
import { count, day, percent, trimmed } from '../kit/numberText.ts';
import { bars, lines, PLOT_COLORS, plotLegend, stackedAreas, type Plot, type PlotSeries } from '../kit/plot.ts';

/** More points are narrower than a pixel of a phone. */
const MOST_POINTS = 240;
const HEIGHT = 220;
const SMALL_HEIGHT = 120;
/** Runs of more years than this have a bar of turnover per year, shorter ones per month. */
const FEW_YEARS = 3;

const withSign = (fraction: number): string => `${percent(fraction, 0)} %`;

/** The time of each point, and the texts below a plot. */
function timesOf({ input }: ReportInput, points: readonly number[]): Plot['times'] {
  const at = (index: number): string => (points.length === 0 ? '' : day(input.bars.time[input.start + points[index]]));
  return [at(0), at(points.length >> 1), at(points.length - 1)];
}

/**
 * The weights as series: the instruments with the largest mean, and the sum of all others as the last one.
 * @param points the instants that are shown
 */
export function weightSeries(
  { instruments, simulation, bySymbol }: PortfolioRun,
  points: readonly number[],
): PlotSeries[] {
  const { weights, byInstrument } = simulation;
  if (weights === null) return [];
  const width = instruments.length;
  const held = bySymbol
    .filter((index) => byInstrument[index].weightSum > 0)
    .sort((a, b) => byInstrument[b].weightSum - byInstrument[a].weightSum);
  const named = held.length <= PLOT_COLORS ? held : held.slice(0, PLOT_COLORS - 1);
  const others = held.slice(named.length);
  const series = named.map((index) => ({
    name: instruments[index].symbol,
    values: points.map((point) => weights[point * width + index]),
  }));
  if (others.length === 0) return series;
  const values = points.map((point) => others.reduce((sum, index) => sum + weights[point * width + index], 0));
  return [...series, { name: `${others.length} others`, values }];
}

export function weightsSection({ report }: CompletedRun): Html {
  const { portfolio, simulation } = report;
  if (portfolio?.isNamed !== true) return NOTHING;
  const points = previewIndexes(simulation.equity.length, MOST_POINTS);
  const series = weightSeries(portfolio, points);
  if (series.length === 0) return NOTHING;
  const sums = points.map((_, point) => series.map(({ values }) => values[point]));
  const extent = (choose: (value: number) => number): number[] =>
    sums.map((values) => values.reduce((sum, value) => sum + choose(value), 0));
  const high = Math.max(1, ...extent((value) => Math.max(0, value)));
  const low = Math.min(0, ...extent((value) => Math.min(0, value)));
  const means = series.map(({ name, values }) => ({
    name,
    note: withSign(values.reduce((sum, value) => sum + value, 0) / values.length),
  }));
  const label = `Weights over time; on average ${means.map(({ name, note }) => `${name} ${note}`).join(', ')}`;
  const plot = { label, height: HEIGHT, times: timesOf(report, points), low, high, text: withSign };
  const note =
    'Value of each instrument as a share of equity, shorts below zero; the rest is cash. Names are listed with their ' +
    'mean, the largest first.';
  return section({ id: 'weights', title: 'Weights', note }, html`${stackedAreas(series, plot)}${plotLegend(means)}`);
}

export function exposureSection({ report, summary }: CompletedRun): Html {
  const { portfolio, simulation } = report;
  const block = summary.portfolio;
  if (portfolio?.isNamed !== true || block === undefined || simulation.equity.length === 0) return NOTHING;
  const points = previewIndexes(simulation.equity.length, MOST_POINTS);
  const times = timesOf(report, points);
  const { grossExposure, netExposure, openPositions } = portfolio.simulation;
  const shareOf = (values: Float64Array): number[] => points.map((point) => values[point] / simulation.equity[point]);
  const series = [
    { name: 'Gross', values: shareOf(grossExposure) },
    { name: 'Net', values: shareOf(netExposure) },
  ];
  const all = series.flatMap(({ values }) => values);
  const notes = [
    { name: 'Gross', note: `${percent(block.averageGrossExposurePct, 0)} % on average` },
    { name: 'Net', note: `${percent(block.averageNetExposurePct, 0)} % on average` },
  ];
  const exposure = lines(series, {
    label: `Exposure over time; ${notes.map(({ name, note }) => `${name} ${note}`).join(', ')}`,
    height: HEIGHT,
    times,
    low: Math.min(0, ...all),
    high: Math.max(1, ...all),
    text: withSign,
  });
  const mean = trimmed(block.averagePositions ?? 0, 1);
  const positions = lines([{ name: 'Positions', values: points.map((point) => openPositions[point]) }], {
    label: `Number of positions over time; ${mean} on average, ${block.maxPositions} at most`,
    height: SMALL_HEIGHT,
    times,
    low: 0,
    high: Math.max(1, block.maxPositions),
    text: count,
  });
  const note = 'Share of equity in positions, at the end of each instant.';
  const most = `${count(block.maxPositions)} at most; ${count(block.daysInCash)} days in cash.`;
  const lead = `Positions: ${mean} on average, ${most}`;
  return section(
    { id: 'exposure', title: 'Exposure and positions', note },
    html`${exposure}${plotLegend(notes)}
      <p class="lead">${lead}</p>
      ${positions}`,
  );
}

/** Notional of all fills in each period / mean equity of the period, by the fills of the trades. */
export function turnoverByPeriod({ report, trades }: Pick<CompletedRun, 'report' | 'trades'>) {
  const { input, simulation } = report;
  const { time } = input.bars;
  const years = (time[input.end - 1] - time[input.start]) / (365.25 * 86_400_000);
  const nameOf = (ms: number): string => new Date(ms).toISOString().slice(0, years > FEW_YEARS ? 4 : 7);
  const periods = new Map<string, { notional: number; equity: number; marks: number }>();
  simulation.equity.forEach((mark, at) => {
    const name = nameOf(time[input.start + at]);
    const period = periods.get(name) ?? { notional: 0, equity: 0, marks: 0 };
    periods.set(name, { ...period, equity: period.equity + mark, marks: period.marks + 1 });
  });
  const add = (ms: number, notional: number): void => {
    const period = periods.get(nameOf(ms));
    if (period !== undefined) period.notional += notional;
  };
  for (const { entryTime, entryPrice, exitTime, exitPrice, quantity } of trades) {
    add(entryTime, quantity * entryPrice);
    add(exitTime, quantity * exitPrice);
  }
  return [...periods].map(([name, { notional, equity, marks }]) => ({
    name,
    value: equity > 0 ? notional / (equity / marks) : 0,
  }));
}

export function turnoverSection(run: CompletedRun): Html {
  const { report, summary } = run;
  if (report.portfolio?.isNamed !== true || report.simulation.equity.length === 0) return NOTHING;
  const periods = turnoverByPeriod(run);
  const yearly = summary.portfolio?.turnoverPerYear ?? null;
  const text = (value: number): string => `${trimmed(value, 1)}×`;
  const last = periods.length - 1;
  const plot = {
    label: `Turnover per period${yearly === null ? '' : `; ${text(yearly)} a year`}`,
    height: SMALL_HEIGHT,
    times: [periods[0].name, '', last === 0 ? '' : periods[last].name] as const,
    low: 0,
    high: periods.reduce((most, { value }) => Math.max(most, value), 0.1),
    text,
  };
  const rate = yearly === null ? '' : `; ${text(yearly)} a year`;
  const note = `What was bought and sold in each period, as a multiple of its mean equity${rate}.`;
  return section({ id: 'turnover', title: 'Turnover', note }, bars(periods, plot));
}
