// The flat summary: every number of summaryJson outside its blocks, or only the requested ones.
import { periodsPerYear } from '../bars/periodsPerYear.ts';
import { countBits } from '../kernels/bits.ts';
import { newNumbers } from '../kernels/sharedBuffer.ts';
import { TIMEFRAME_MS } from '../bars/bars.ts';
import type { ResultReads, SimulationInput, SimulationResult } from '../simulate/simulation.ts';
import { dayClosesOf, daysOf } from '../bars/days.ts';
import { drawdownOf, type DrawdownStatistics } from './drawdown.ts';
import { mean, ROUNDING } from './moments.ts';
import { positionsOf, type Positions } from './positions.ts';
import { positionStatistics, type PositionStatistics } from './positionStatistics.ts';
import type { ReportedSimulation } from './reportInput.ts';
import { cagr, dailySeries, returnStatistics, type DailySeries, type ReturnStatistics } from './returns.ts';

/** Percents are fractions, money is in quote units, times are in ms; null means undefined. */
export interface FlatSummary extends ReturnStatistics, PositionStatistics {
  /** finalEquity / initialBalance - 1. */
  readonly returnPct: number;
  readonly netProfit: number;
  readonly initialBalance: number;
  readonly finalEquity: number;
  readonly equityPeak: number;
  /** Last close / first evaluated open - 1. */
  readonly buyHoldReturnPct: number | null;
  readonly excessReturnPct: number | null;
  readonly cagr: number | null;
  /** cagr / maxDrawdown. */
  readonly calmarRatio: number | null;
  /** netProfit / largest drawdown in money. */
  readonly recoveryFactor: number | null;
  readonly maxDrawdown: number;
  readonly avgDrawdown: number | null;
  readonly maxDrawdownDurationBars: number;
  readonly maxDrawdownStart: number | null;
  readonly maxDrawdownEnd: number | null;
  readonly maxDrawdownRecoveredAt: number | null;
  readonly timeUnderwaterPct: number | null;
  /** Bars with a position at any time / bars. */
  readonly exposurePct: number | null;
  /** totalNotional / mean equity. */
  readonly turnover: number | null;
  readonly totalFees: number;
  readonly makerFees: number;
  readonly takerFees: number;
  /** totalFees / |netProfit + totalFees|: the profit before fees, and not before the other costs. */
  readonly feesPctOfGross: number | null;
  readonly slippageCost: number;
  readonly fundingPaid: number;
  readonly totalNotional: number;
}

/**
 * Every key of the flat summary, in the order they are written. Results are stored as their values in this order, so a
 * new key goes to the end.
 */
export const FLAT_KEYS = [
  'returnPct', 'netProfit', 'initialBalance', 'finalEquity', 'buyHoldReturnPct', 'excessReturnPct',
  'equityPeak', 'cagr', 'calmarRatio', 'recoveryFactor', 'maxDrawdown', 'avgDrawdown', 'maxDrawdownDurationBars',
  'maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt', 'timeUnderwaterPct',
  'annualVolatility', 'sharpeRatio', 'sortinoRatio', 'omegaRatio', 'ulcerIndex', 'tailRatio', 'var95', 'cvar95', 'skew',
  'kurtosis', 'beta', 'alpha', 'probabilisticSharpe', 'minTrackRecordDays',
  'exposurePct', 'turnover',
  'totalPositions', 'longPositions', 'shortPositions', 'winRate', 'profitFactor', 'expectancy', 'expectancyR',
  'avgTradePct', 'medianTradePct', 'avgWin', 'avgLoss', 'winLossRatio', 'bestTradePct', 'worstTradePct',
  'maxConsecutiveWins',
  'maxConsecutiveLosses', 'avgBarsHeld', 'avgMaePct', 'avgMfePct', 'systemQualityNumber', 'kellyFraction',
  'totalFees', 'makerFees', 'takerFees', 'feesPctOfGross', 'slippageCost', 'fundingPaid', 'totalNotional',
] as const satisfies readonly (keyof FlatSummary)[]; // prettier-ignore
export type FlatKey = (typeof FLAT_KEYS)[number];

/** Computed from equity at every close. */
const DRAWDOWN_KEYS: readonly FlatKey[] = [
  'equityPeak', 'calmarRatio', 'recoveryFactor', 'maxDrawdown', 'avgDrawdown', 'maxDrawdownDurationBars',
  'maxDrawdownStart', 'maxDrawdownEnd', 'maxDrawdownRecoveredAt', 'timeUnderwaterPct',
]; // prettier-ignore
const RETURN_KEYS: readonly FlatKey[] = FLAT_KEYS.slice(
  FLAT_KEYS.indexOf('annualVolatility'),
  FLAT_KEYS.indexOf('exposurePct'),
);
const COUNT_KEYS: readonly FlatKey[] = ['totalPositions', 'longPositions', 'shortPositions'];
/** Computed from the trades. */
const TRADE_KEYS: readonly FlatKey[] = FLAT_KEYS.slice(FLAT_KEYS.indexOf('winRate'), FLAT_KEYS.indexOf('totalFees'));

/** What several statistics are computed from. */
interface MeasuredRun {
  readonly daily: DailySeries;
  readonly positions: Positions;
}

/** The daily series and the positions of a run, valid until the next call. */
export function measureRun(reported: ReportedSimulation): MeasuredRun {
  return { daily: dailyOf(reported), positions: positionsOf(reported.simulation.tradeLog) };
}

/**
 * The marks of every row, or those of every day when equity was streamed. Either way, the last one is the last mark of
 * the run.
 */
const marksOf = ({ equity, streamed }: SimulationResult): Float64Array => streamed?.days ?? equity;

/** The daily series of a run; valid until the next call. */
export function dailyOf({ simulation, input }: ReportedSimulation): DailySeries {
  const { start, end, bars, config } = input;
  return dailySeries(bars, marksOf(simulation), start, Math.max(start, end), config.initialBalance);
}

/**
 * The flat summary in parts, with their members in the order of FLAT_KEYS. The object of all members is rarely needed,
 * and it takes longer to make than most statistics.
 */
export interface FlatParts {
  readonly money: ReturnType<typeof moneyKeys>;
  readonly drawdown: ReturnType<typeof drawdownKeys>;
  readonly returns: Pick<FlatSummary, keyof ReturnStatistics>;
  readonly use: Pick<FlatSummary, 'exposurePct' | 'turnover'>;
  readonly positions: Pick<FlatSummary, keyof PositionStatistics>;
  readonly costs: ReturnType<typeof costKeys>;
}

/** Computes every key of the flat summary (formulas: semantics §5). */
export function flatParts(reported: ReportedSimulation, measured: MeasuredRun): FlatParts {
  const drawdown = drawdownOf(reported);
  return {
    money: moneyKeys(reported),
    drawdown: drawdownKeys(reported, growthOf(reported), drawdown),
    returns: returnStatistics(measured.daily, periodsOf(reported)),
    use: { exposurePct: exposure(reported), turnover: turnover(reported, drawdown.meanEquity) },
    positions: positionStatistics(measured.positions, reported.simulation.totals.totalNotional),
    costs: costKeys(reported),
  };
}

/** The flat summary as one object, with its keys in order. */
export const flatSummary = ({ money, drawdown, returns, use, positions, costs }: FlatParts): FlatSummary => ({
  ...money,
  ...drawdown,
  ...returns,
  ...use,
  ...positions,
  ...costs,
});

/**
 * The values of FLAT_KEYS in their order, as they are read back from JSON; NaN stands for null. The loop is a
 * `for … in`, which takes half as long as `Object.values`.
 */
export function flatNumbersOf({ money, drawdown, returns, use, positions, costs }: FlatParts): Float64Array {
  const numbers = newNumbers(FLAT_KEYS.length);
  const parts: readonly Readonly<Record<string, number | null>>[] = [money, drawdown, returns, use, positions, costs];
  let at = 0;
  for (const part of parts) for (const key in part) numbers[at++] = readBack(part[key]);
  return numbers;
}

/** JSON has neither infinities nor a negative zero. */
const readBack = (value: number | null): number => (value !== null && Number.isFinite(value) ? value + 0 : NaN);

const wantsAny = (wanted: ReadonlySet<FlatKey>, keys: readonly FlatKey[]): boolean =>
  keys.some((key) => wanted.has(key));

/** What `chosenSummary` and `dailyOf` read of a simulation for these keys. */
export function readsOf(wanted: ReadonlySet<FlatKey>, { bars, start, end }: SimulationInput): ResultReads {
  const isEveryMark = wantsAny(wanted, DRAWDOWN_KEYS) || wanted.has('turnover');
  return {
    marks: isEveryMark ? null : { rows: daysOf(bars.time, start, end).lastRows, closes: dayClosesOf(bars, start, end) },
    extremes: wantsAny(wanted, ['avgMaePct', 'avgMfePct']),
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
    ...(wants(RETURN_KEYS) && returnStatistics(daily ?? dailyOf(reported), periodsOf(reported), wanted)),
    ...(wanted.has('exposurePct') && { exposurePct: exposure(reported) }),
    ...(wanted.has('turnover') && { turnover: turnover(reported, drawdown?.meanEquity ?? mean(equity)) }),
    ...(wants(TRADE_KEYS)
      ? positionStatistics(positionsOf(reported.simulation.tradeLog), reported.simulation.totals.totalNotional)
      : wants(COUNT_KEYS) && countKeys(reported)),
    ...costKeys(reported),
  };
}

/** Every entry is a position that has closed, at the end of the run at the latest. */
function countKeys({ simulation, input }: ReportedSimulation) {
  const { fillsByRule, entriesFilled } = simulation.counts;
  const longPositions = fillsByRule.reduce((sum, fills, rule) => (input.entries[rule].side > 0 ? sum + fills : sum), 0);
  return { totalPositions: entriesFilled, longPositions, shortPositions: entriesFilled - longPositions };
}

const periodsOf = ({ input }: ReportedSimulation): number => periodsPerYear(input.instrument);

function finalEquityOf({ simulation, input }: ReportedSimulation): number {
  const marks = marksOf(simulation);
  return marks.length > 0 ? marks[marks.length - 1] : input.config.initialBalance;
}

function moneyKeys(reported: ReportedSimulation) {
  const { start, end, bars } = reported.input;
  const { initialBalance } = reported.input.config;
  const finalEquity = finalEquityOf(reported);
  const firstOpen = end > start ? bars.open[start] : NaN;
  const returnPct = finalEquity / initialBalance - 1;
  const buyHoldReturnPct = firstOpen > 0 ? bars.close[end - 1] / firstOpen - 1 : null;
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
  const endMs = bars.time[end - 1] + TIMEFRAME_MS[bars.timeframe];
  return cagr(reported.input.config.initialBalance, finalEquityOf(reported), bars.time[start], endMs);
}

function drawdownKeys(
  reported: ReportedSimulation,
  growth: number | null,
  drawdown: DrawdownStatistics,
): Pick<
  FlatSummary,
  | 'equityPeak'
  | 'cagr'
  | 'calmarRatio'
  | 'recoveryFactor'
  | 'maxDrawdown'
  | 'avgDrawdown'
  | 'maxDrawdownDurationBars'
  | 'maxDrawdownStart'
  | 'maxDrawdownEnd'
  | 'maxDrawdownRecoveredAt'
  | 'timeUnderwaterPct'
> {
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

function costKeys(reported: ReportedSimulation) {
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
