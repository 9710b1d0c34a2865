// The report of a portfolio run as a whole: its account on the axis, from which all flat statistics are computed as
// they are for one instrument.
import type { Bars, CalendarBasis, Instrument } from '../../bars/bars.ts';
import { periodsPerYear } from '../../bars/periodsPerYear.ts';
import type { TimeAxis } from '../../bars/timeAxis.ts';
import type { PortfolioResult } from '../../simulate/portfolio/portfolioSimulation.ts';
import type { InstrumentRun, PortfolioRun, ReportedSimulation, ReportInput } from '../reportInput.ts';
import { alignedBenchmark, equalMoney, withDividends } from './benchmark.ts';

/** A simulated portfolio and what it was given. */
export interface SimulatedPortfolio extends Pick<ReportInput, 'strategy' | 'warmup' | 'band'> {
  /** In the order of the list. */
  readonly instruments: readonly InstrumentRun[];
  readonly axis: TimeAxis;
  /** The first instant at which any instrument may signal, and one past the last of the run. */
  readonly start: number;
  readonly end: number;
  readonly simulation: PortfolioResult;
  /** The bars of `config.benchmark`; null: equal money in each instrument. */
  readonly benchmark: Bars | null;
}

export function portfolioReport(run: SimulatedPortfolio): ReportInput & { readonly portfolio: PortfolioRun } {
  const { strategy, warmup, band, instruments, axis } = run;
  const [first] = instruments;
  const present = instruments.filter(({ firstRow, endRow }) => endRow > firstRow);
  const instantOf = (instrument: InstrumentRun, row: number): number =>
    axis.instants[instruments.indexOf(instrument)][row];
  const firstRow = present.reduce((least, each) => Math.min(least, instantOf(each, each.firstRow)), Infinity);
  return {
    strategy,
    evaluated: first.evaluated,
    boundRules: first.boundRules,
    firstRow: present.length === 0 ? 0 : firstRow,
    endRow: present.reduce((most, each) => Math.max(most, instantOf(each, each.endRow - 1) + 1), 0),
    warmup,
    band,
    ...reportedPortfolio(run),
  };
}

/** All that the flat summary of a portfolio is computed from. */
export function reportedPortfolio(
  run: Omit<SimulatedPortfolio, 'warmup' | 'band'>,
): ReportedSimulation & { readonly portfolio: PortfolioRun } {
  const { strategy, instruments, axis, start, end, simulation } = run;
  const [first] = instruments;
  const bars = accountBars(run);
  const bySymbol = instruments
    .map((_, index) => index)
    .sort((a, b) => (instruments[a].symbol < instruments[b].symbol ? -1 : 1));
  return {
    simulation,
    input: {
      ...first.input,
      bars,
      instrument: accountInstrument(instruments.map(({ input }) => input.instrument)),
      start,
      end,
      fine: null,
      slippageAtr: null,
    },
    ...(run.benchmark !== null && { benchmark: { open: bars.open, close: bars.close, source: run.benchmark } }),
    portfolio: {
      instruments,
      bySymbol,
      axis,
      simulation,
      // A rotation of one instrument is no single run.
      isNamed: instruments.length > 1 || strategy.allocation !== null,
    },
  };
}

/** Bars on the axis whose prices are those of the benchmark. The axis of one instrument has its own bars. */
function accountBars({ instruments, axis, start, end, benchmark }: Omit<SimulatedPortfolio, 'warmup' | 'band'>): Bars {
  const [{ input }] = instruments;
  const { time } = axis;
  const isOne = instruments.length === 1;
  if (isOne && benchmark === null) return input.bars;
  const prices =
    benchmark === null
      ? equalMoney(
          instruments.map(({ input }) => input),
          axis,
          start,
          end,
        )
      : withDividends(alignedBenchmark(benchmark, time, start), instruments[0].input.config, benchmark, time, start);
  return {
    symbol: isOne ? input.bars.symbol : '',
    timeframe: input.bars.timeframe,
    length: time.length,
    time,
    open: prices.open,
    high: prices.close,
    low: prices.close,
    close: prices.close,
    volume: new Float64Array(0),
    series: new Map(),
    sha256: '',
    isResampled: false,
    partialBars: 0,
  };
}

/**
 * The instrument of the account. The axis has every day on which any instrument trades, so its periods per year are the
 * most of any.
 */
function accountInstrument(instruments: readonly Instrument[]): Instrument {
  const [first] = instruments;
  if (instruments.length === 1) return first;
  const busiest = instruments.reduce((most, each) => (periodsPerYear(each) > periodsPerYear(most) ? each : most));
  const basis: CalendarBasis | undefined = busiest.calendarBasis;
  return {
    symbol: '',
    base: null,
    quote: instruments.find(({ quote }) => quote !== null)?.quote ?? null,
    tickSize: null,
    qtyStep: 0,
    minNotional: 0,
    tradesAllDay: busiest.tradesAllDay,
    periodsPerYear: periodsPerYear(busiest),
    ...(basis !== undefined && { calendarBasis: basis }),
    synthetic: instruments.some(({ synthetic }) => synthetic),
  };
}
