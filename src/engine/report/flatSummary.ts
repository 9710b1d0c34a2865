// The flat summary: every number of summaryJson outside its blocks, or only the requested ones.
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { countBits } from '../kernels/bits.ts';
import { newNumbers } from '../kernels/sharedBuffer.ts';
import type { Bars } from '../bars/bars.ts';
import { closeOf } from '../bars/timeframes.ts';
import type { ResultReads, SimulationInput, SimulationResult } from '../simulate/simulation.ts';
import { dayClosesOf, daysOf } from '../bars/days.ts';
import {
  BLOCK_NAMES,
  FLAT_KEYS,
  STATISTIC_POSITIONS,
  STATISTICS,
  type Block,
  type BlockValues,
  type FlatKey,
  type FlatSummary,
} from '../definitions/statistics/statistics.ts';
import { drawdownOf, type DrawdownStatistics } from './drawdown.ts';
import { mean, ROUNDING } from './moments.ts';
import { positionsOf, type Positions } from './positions.ts';
import { exitInstants } from './portfolio/tradeInstants.ts';
import { positionStatistics } from './positionStatistics.ts';
import type { ReportedSimulation } from './reportInput.ts';
import { cagr, dailySeries, returnStatistics, type DailySeries } from './returns.ts';

/** The keys of the statistics that satisfy `holds`. */
const keysWhere = (holds: (statistic: (typeof STATISTICS)[number]) => boolean): readonly FlatKey[] =>
  STATISTICS.filter(holds).map(({ key }) => key);

const EVERY_MARK_KEYS = keysWhere(({ reads }) => reads === 'everyMark');
const EXTREME_KEYS = keysWhere(({ reads }) => reads === 'extremes');
const TRADE_KEYS = keysWhere(({ reads }) => reads === 'trades' || reads === 'extremes');
const COUNT_KEYS = keysWhere(({ reads }) => reads === 'entries');
const RETURN_KEYS = keysWhere(({ block }) => block === 'returns');
/** Those that need the drawdowns, which growth per year does not. */
const DRAWDOWN_KEYS = keysWhere(({ block, reads }) => block === 'drawdown' && reads === 'everyMark');

/** What several statistics are computed from. */
interface MeasuredRun {
  readonly daily: DailySeries;
  readonly positions: Positions;
}

/** The daily series and the positions of a run, valid until the next call. */
export function measureRun(reported: ReportedSimulation): MeasuredRun {
  return { daily: dailyOf(reported), positions: reportedPositions(reported) };
}

const reportedPositions = ({ simulation, portfolio }: ReportedSimulation): Positions =>
  positionsOf(simulation.tradeLog, portfolio === undefined ? null : exitInstants(portfolio));

/** What the run is compared with. */
const benchmarkOf = ({ benchmark, input }: ReportedSimulation): Pick<Bars, 'open' | 'close'> => benchmark ?? input.bars;

/**
 * The marks of every row, or those of every day when equity was streamed. Either way, the last one is the last mark of
 * the run.
 */
const marksOf = ({ equity, streamed }: SimulationResult): Float64Array => streamed?.days ?? equity;

/** The daily series of a run; valid until the next call. */
export function dailyOf(reported: ReportedSimulation): DailySeries {
  const { start, end, bars, config } = reported.input;
  const marks = marksOf(reported.simulation);
  return dailySeries(bars, marks, start, Math.max(start, end), config.initialBalance, benchmarkOf(reported));
}

/**
 * The flat summary in parts, one per block of statistics. The object of all members is rarely needed, and it takes
 * longer to make than most statistics.
 */
export type FlatParts = { readonly [Name in Block]: BlockValues<Name> };

/** Computes every key of the flat summary (formulas: semantics §5). */
export function flatParts(reported: ReportedSimulation, measured: MeasuredRun): FlatParts {
  const drawdown = drawdownOf(reported);
  return {
    money: moneyKeys(reported),
    drawdown: drawdownKeys(reported, growthOf(reported), drawdown),
    returns: returnStatistics(measured.daily, periodsOf(reported), null, riskFreeOf(reported)),
    use: { exposurePct: exposure(reported), turnover: turnover(reported, drawdown.meanEquity) },
    positions: positionStatistics(measured.positions, reported.simulation.totals.totalNotional),
    costs: costKeys(reported),
  };
}

/** The flat summary as one object, with its keys in order. */
export function flatSummary({ money, drawdown, returns, use, positions, costs }: FlatParts): FlatSummary {
  const all: FlatSummary = { ...money, ...drawdown, ...returns, ...use, ...positions, ...costs };
  return Object.fromEntries(FLAT_KEYS.map((key) => [key, all[key]])) as unknown as FlatSummary;
}

const STORED_COUNT = STATISTICS[STATISTICS.length - 1].position + 1;
/** The keys block by block, each in the order of the definitions, and the position of each. */
const KEYS = BLOCK_NAMES.flatMap((block) => keysWhere((statistic) => statistic.block === block));
const POSITIONS = Int32Array.from(KEYS, (key) => STATISTIC_POSITIONS.get(key)!);

/**
 * The numbers of all statistics, each at its position, as they are read back from JSON; NaN stands for null. Members
 * are read in whatever order they stand, with a `for … in`, which takes a quarter of the time of reading them by key;
 * where they stand in the order of KEYS, none is looked up.
 */
export function flatNumbersOf(parts: FlatParts): Float64Array {
  const numbers = newNumbers(STORED_COUNT);
  let at = 0;
  for (const block of BLOCK_NAMES) {
    const part: Readonly<Record<string, number | null>> = parts[block];
    for (const key in part) {
      const position = key === KEYS[at] ? POSITIONS[at] : STATISTIC_POSITIONS.get(key);
      if (position === undefined) throw new Error(`There is no statistic ${key}.`);
      numbers[position] = readBack(part[key]);
      at++;
    }
  }
  return numbers;
}

/** JSON has neither infinities nor a negative zero. */
const readBack = (value: number | null): number => (value !== null && Number.isFinite(value) ? value + 0 : NaN);

const wantsAny = (wanted: ReadonlySet<FlatKey>, keys: readonly FlatKey[]): boolean =>
  keys.some((key) => wanted.has(key));

/** What `chosenSummary` and `dailyOf` read of a simulation for these keys. */
export function readsOf(wanted: ReadonlySet<FlatKey>, { bars, start, end }: SimulationInput): ResultReads {
  const isEveryMark = wantsAny(wanted, EVERY_MARK_KEYS);
  return {
    marks: isEveryMark ? null : { rows: daysOf(bars.time, start, end).lastRows, closes: dayClosesOf(bars, start, end) },
    extremes: wantsAny(wanted, EXTREME_KEYS),
    trades: wantsAny(wanted, TRADE_KEYS),
    blocked: false,
  };
}

/**
 * The values of some keys of the flat summary, without computing what none of them needs. `daily` is given if the
 * caller already has it. A sweep needs a dozen of the sixty keys, thousands of times.
 */
export function chosenSummary(
  reported: ReportedSimulation,
  daily: DailySeries | null,
  wanted: ReadonlySet<FlatKey>,
): Partial<FlatSummary> {
  const wants = (keys: readonly FlatKey[]): boolean => wantsAny(wanted, keys);
  const growth = wants(['cagr', 'calmarRatio']) ? growthOf(reported) : null;
  const { equity } = reported.simulation;
  const drawdown = wants(DRAWDOWN_KEYS) ? drawdownOf(reported) : null;
  return {
    ...moneyKeys(reported),
    ...(drawdown === null ? { cagr: growth } : drawdownKeys(reported, growth, drawdown)),
    ...(wants(RETURN_KEYS) &&
      returnStatistics(daily ?? dailyOf(reported), periodsOf(reported), wanted, riskFreeOf(reported))),
    ...(wanted.has('exposurePct') && { exposurePct: exposure(reported) }),
    ...(wanted.has('turnover') && { turnover: turnover(reported, drawdown?.meanEquity ?? mean(equity)) }),
    ...(wants(TRADE_KEYS) || (wants(COUNT_KEYS) && !hasRules(reported))
      ? positionStatistics(reportedPositions(reported), reported.simulation.totals.totalNotional)
      : wants(COUNT_KEYS) && countKeys(reported)),
    ...costKeys(reported),
  };
}

/** An allocation has no rules by whose fills its positions could be counted. */
const hasRules = ({ input }: ReportedSimulation): boolean => input.entries.length > 0;

/** Every entry is a position that has closed, at the end of the run at the latest. */
function countKeys({ simulation, input }: ReportedSimulation) {
  const { fillsByRule, entriesFilled } = simulation.counts;
  const longPositions = fillsByRule.reduce((sum, fills, rule) => (input.entries[rule].side > 0 ? sum + fills : sum), 0);
  return { totalPositions: entriesFilled, longPositions, shortPositions: entriesFilled - longPositions };
}

const riskFreeOf = ({ input }: ReportedSimulation): number => input.config.riskFreeRatePerYear ?? 0;

const periodsOf = ({ input }: ReportedSimulation): number => periodsPerYear(input.instrument);

function finalEquityOf({ simulation, input }: ReportedSimulation): number {
  const marks = marksOf(simulation);
  return marks.length > 0 ? marks[marks.length - 1] : input.config.initialBalance;
}

function moneyKeys(reported: ReportedSimulation): BlockValues<'money'> {
  const { start, end } = reported.input;
  const { open, close } = benchmarkOf(reported);
  const { initialBalance } = reported.input.config;
  const finalEquity = finalEquityOf(reported);
  const firstOpen = end > start ? open[start] : NaN;
  const returnPct = finalEquity / initialBalance - 1;
  const buyHoldReturnPct = firstOpen > 0 ? close[end - 1] / firstOpen - 1 : null;
  return {
    returnPct,
    netProfit: finalEquity - initialBalance,
    initialBalance,
    finalEquity,
    buyHoldReturnPct,
    excessReturnPct: buyHoldReturnPct === null ? null : returnPct - buyHoldReturnPct,
  };
}

function growthOf(reported: ReportedSimulation): number | null {
  const { start, end, bars } = reported.input;
  if (end <= start) return null;
  const endMs = closeOf(bars.timeframe, bars.time[end - 1]);
  return cagr(reported.input.config.initialBalance, finalEquityOf(reported), bars.time[start], endMs);
}

function drawdownKeys(
  reported: ReportedSimulation,
  growth: number | null,
  drawdown: DrawdownStatistics,
): BlockValues<'drawdown'> {
  const { config } = reported.input;
  const { start, end, bars } = reported.input;
  const timeAt = (index: number | null): number | null =>
    index === null ? null : bars.time[start + Math.max(0, index)];
  const { maxDrawdown, maxDrawdownMoney } = drawdown;
  return {
    equityPeak: drawdown.equityPeak,
    cagr: growth,
    calmarRatio: growth === null || maxDrawdown <= ROUNDING ? null : growth / maxDrawdown,
    recoveryFactor:
      maxDrawdownMoney <= ROUNDING * drawdown.equityPeak
        ? null
        : (finalEquityOf(reported) - config.initialBalance) / maxDrawdownMoney,
    maxDrawdown,
    avgDrawdown: drawdown.avgDrawdown,
    maxDrawdownDurationBars: drawdown.maxDrawdownDurationBars,
    maxDrawdownStart: timeAt(drawdown.peakIndex),
    maxDrawdownEnd: timeAt(drawdown.troughIndex),
    maxDrawdownRecoveredAt: timeAt(drawdown.recoveredIndex),
    timeUnderwaterPct: end > start ? drawdown.underwaterBars / (end - start) : null,
  };
}

function exposure({ simulation, input }: ReportedSimulation): number | null {
  const rows = Math.max(0, input.end - input.start);
  return rows === 0 ? null : countBits(simulation.inPosition, 0, rows) / rows;
}

function turnover({ simulation }: ReportedSimulation, average: number | null): number | null {
  return average === null || average <= 0 ? null : simulation.totals.totalNotional / average;
}

function costKeys(reported: ReportedSimulation): BlockValues<'costs'> {
  const { totals } = reported.simulation;
  const { initialBalance } = reported.input.config;
  const totalFees = totals.makerFees + totals.takerFees;
  const beforeFees = finalEquityOf(reported) - initialBalance + totalFees;
  const isNothing = Math.abs(beforeFees) <= ROUNDING * (initialBalance + totals.totalNotional);
  return {
    totalFees,
    makerFees: totals.makerFees,
    takerFees: totals.takerFees,
    feesPctOfGross: isNothing ? null : totalFees / Math.abs(beforeFees),
    slippageCost: totals.slippageCost,
    fundingPaid: totals.fundingPaid,
    totalNotional: totals.totalNotional,
  };
}
