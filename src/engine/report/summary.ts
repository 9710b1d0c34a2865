// The summary: every key of summaryJson, flat, with the blocks and the trace (design §5, formulas semantics §5).
import { countBits } from '../columns/column.ts';
import { TIMEFRAME_MS } from '../columns/bars.ts';
import { EXIT_REASONS, type Trade } from '../simulate/program.ts';
import { dataQuality, type DataQuality } from './dataQuality.ts';
import { drawdownStatistics } from './drawdown.ts';
import { funnelOf } from './funnel.ts';
import { mean, sum } from './moments.ts';
import { positionsOf, positionStatistics, type Position, type PositionStatistics } from './positions.ts';
import type { Band, ReportInput } from './result.ts';
import { cagr, dailySeries, returnStatistics, type DailySeries, type ReturnStatistics } from './returns.ts';
import { ruleBits, ruleStatistics, ruleStatsSummary, soleBlockers, type RuleStatsSummary } from './rules.ts';
import { fitTrace, traceOf, type StrategyTrace } from './trace.ts';

/** Fractions for percents, quote units for money, ms for times; null is undefined. */
export interface Summary extends ReturnStatistics, PositionStatistics {
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
  /** totalFees / |net profit before fees|. */
  readonly feesPctOfGross: number | null;
  readonly slippageCost: number;
  readonly fundingPaid: number;
  readonly totalNotional: number;
  readonly byExitReason: Readonly<
    Record<string, { readonly trades: number; readonly pnl: number; readonly winRate: number | null }>
  >;
  readonly bySide: Readonly<
    Record<'long' | 'short', { readonly positions: number; readonly pnl: number; readonly winRate: number | null }>
  >;
  readonly byMonth: readonly { readonly month: string; readonly returnPct: number; readonly equity: number }[];
  readonly fees: {
    readonly total: number;
    readonly maker: number;
    readonly taker: number;
    readonly tiers: readonly object[];
  };
  readonly ambiguity: object;
  readonly dataQuality: DataQuality;
  readonly evaluationWindow: object;
  readonly conventions: object;
  /** At most 500 [time, equity] points: the last of each stretch. */
  readonly equityPreview: readonly (readonly [number, number])[];
  readonly strategyTrace?: StrategyTrace;
  readonly ruleStatsSummary?: RuleStatsSummary;
}

/** The summary and its JSON, which is written once: for the limit of the trace, and for the hash. */
export interface WrittenSummary {
  readonly summary: Summary;
  readonly json: string;
}

export function summarise(report: ReportInput): WrittenSummary {
  const { simulation, input, config, evaluated, program } = report;
  const { start, end, bars, instrument } = input;
  const { equity, totals, trades } = simulation;
  const initialBalance = config.initialBalance;
  const finalEquity = equity.length > 0 ? equity[equity.length - 1] : initialBalance;
  const rows = Math.max(0, end - start);
  const firstOpen = rows > 0 ? bars.open[start] : NaN;
  const daily = dailySeries(bars.time, bars.close, firstOpen, equity, start, Math.max(start, end), initialBalance);
  const periods = instrument.tradesAllDay ? 365 : 252;
  const positions = positionsOf(trades);
  const positionStats = positionStatistics(positions);
  const returnPct = finalEquity / initialBalance - 1;
  const totalFees = totals.makerFees + totals.takerFees;
  const netProfit = finalEquity - initialBalance;
  const money = { returnPct, netProfit, initialBalance, finalEquity };
  const buyHoldReturnPct = rows > 0 && firstOpen > 0 ? bars.close[end - 1] / firstOpen - 1 : null;
  const exposed = countBits(simulation.inPosition, 0, rows);
  const averageEquity = mean(equity);
  const summary: Summary = {
    ...money,
    buyHoldReturnPct,
    excessReturnPct: buyHoldReturnPct === null ? null : returnPct - buyHoldReturnPct,
    ...drawdownKeys(report, finalEquity),
    ...returnStatistics(daily, initialBalance, periods),
    exposurePct: rows === 0 ? null : exposed / rows,
    turnover: averageEquity === null || averageEquity <= 0 ? null : totals.totalNotional / averageEquity,
    ...positionStats,
    totalFees,
    makerFees: totals.makerFees,
    takerFees: totals.takerFees,
    feesPctOfGross: netProfit + totalFees === 0 ? null : totalFees / Math.abs(netProfit + totalFees),
    slippageCost: totals.slippageCost,
    fundingPaid: totals.fundingPaid,
    totalNotional: totals.totalNotional,
    byExitReason: byExitReason(trades),
    bySide: { long: sideOf(positions, 1), short: sideOf(positions, -1) },
    byMonth: byMonth(daily, initialBalance),
    fees: feesBlock(report, totalFees),
    ambiguity: ambiguityBlock(report),
    dataQuality: dataQuality(bars, input.fine, report.firstRow, report.lastRow),
    evaluationWindow: evaluationWindow(report),
    conventions: conventions(periods),
    equityPreview: preview(report),
  };
  const bits = ruleBits(evaluated.plan.rules, evaluated, program.recorded);
  const blockers = soleBlockers(bits, { start, end: Math.max(start, end) });
  const stats = ruleStatistics(bits, blockers, evaluated, { start, end: Math.max(start, end) });
  const entryIds = program.entries.map((entry) => entry.id);
  const rules = ruleStatsSummary(bits, stats, entryIds, simulation, { start, end: Math.max(start, end) });
  const bestPnl = positions.reduce((best, position) => Math.max(best, position.pnl), 0);
  const funnel = funnelOf(report, bits);
  const trace = traceOf({
    report,
    bits,
    blockers,
    stats,
    funnel,
    positions: positionStats,
    netProfit,
    bestPnl,
    totalFees,
    returnPct,
  });
  const { strategyTrace, ruleStatsSummary: ruleStats, traceJson, rulesJson } = fitTrace(trace, rules);
  // What JSON.stringify gives for the whole, its two largest members being written already.
  const json = `${JSON.stringify(summary).slice(0, -1)},"strategyTrace":${traceJson},"ruleStatsSummary":${rulesJson}}`;
  return { summary: { ...summary, strategyTrace, ruleStatsSummary: ruleStats }, json };
}

function drawdownKeys(
  { simulation, input, config }: ReportInput,
  finalEquity: number,
): Pick<
  Summary,
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
  const { start, end, bars } = input;
  const drawdown = drawdownStatistics(simulation.equity, config.initialBalance);
  const timeAt = (index: number | null): number | null =>
    index === null ? null : bars.time[start + Math.max(0, index)];
  const growth =
    end > start
      ? cagr(config.initialBalance, finalEquity, bars.time[start], bars.time[end - 1] + TIMEFRAME_MS[bars.timeframe])
      : null;
  const { maxDrawdown, maxDrawdownMoney } = drawdown;
  return {
    equityPeak: drawdown.equityPeak,
    cagr: growth,
    calmarRatio: growth === null || maxDrawdown === 0 ? null : growth / maxDrawdown,
    recoveryFactor: maxDrawdownMoney === 0 ? null : (finalEquity - config.initialBalance) / maxDrawdownMoney,
    maxDrawdown,
    avgDrawdown: drawdown.avgDrawdown,
    maxDrawdownDurationBars: drawdown.maxDrawdownDurationBars,
    maxDrawdownStart: timeAt(drawdown.peakIndex),
    maxDrawdownEnd: timeAt(drawdown.troughIndex),
    maxDrawdownRecoveredAt: timeAt(drawdown.recoveredIndex),
    timeUnderwaterPct: end > start ? drawdown.underwaterBars / (end - start) : null,
  };
}

function byExitReason(trades: readonly Trade[]): Summary['byExitReason'] {
  const rows = EXIT_REASONS.map((reason) => [reason, trades.filter((trade) => trade.exitReason === reason)] as const);
  return Object.fromEntries(
    rows
      .filter(([, found]) => found.length > 0)
      .map(([reason, found]) => [
        reason,
        {
          trades: found.length,
          pnl: sum(found.map((trade) => trade.pnl)),
          winRate: found.filter((trade) => trade.pnl > 0).length / found.length,
        },
      ]),
  );
}

function sideOf(positions: readonly Position[], side: 1 | -1): Summary['bySide']['long'] {
  const found = positions.filter((position) => position.side === side);
  return {
    positions: found.length,
    pnl: sum(found.map((position) => position.pnl)),
    winRate: found.length === 0 ? null : found.filter((position) => position.pnl > 0).length / found.length,
  };
}

/** Return of each UTC month that has bars, from its last mark against the one before. */
function byMonth({ day, equity }: DailySeries, initialBalance: number): Summary['byMonth'] {
  const months: { month: string; returnPct: number; equity: number }[] = [];
  let before = initialBalance;
  for (let index = 0; index < day.length;) {
    const first = new Date(day[index]);
    const year = first.getUTCFullYear();
    const month = first.getUTCMonth();
    const nextMonth = Date.UTC(year, month + 1, 1);
    while (index < day.length && day[index] < nextMonth) index++;
    const last = equity[index - 1];
    months.push({
      // By hand: toISOString takes longer than all statistics of a month.
      month: `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`,
      returnPct: before > 0 ? last / before - 1 : 0,
      equity: last,
    });
    before = last;
  }
  return months;
}

function feesBlock({ simulation, config }: ReportInput, total: number): Summary['fees'] {
  const { totals } = simulation;
  const tiers = config.execution.feeModel.tiers.map((tier, index) => ({ ...tier, ...totals.tiers[index] }));
  return { total, maker: totals.makerFees, taker: totals.takerFees, tiers };
}

function ambiguityBlock({ simulation, config, band }: ReportInput): object {
  const exits: Record<string, number> = { direct: 0, gap: 0, drill: 0, fallback: 0 };
  for (const trade of simulation.trades) exits[trade.exitMethod]++;
  const { ambiguityResolution: resolution, ambiguityFallback: fallback } = config;
  return { resolution, fallback, ...simulation.ambiguity, exitsByMethod: exits, band: bandBlock(band) };
}

const bandBlock = (band: Band): object => ({
  ...band,
  note: 'Returns with the fallback replaced by each extreme reading: a sensitivity, not a bound.',
});

function evaluationWindow({ input, firstRow, lastRow, warmup }: ReportInput): object {
  const { start, end, bars } = input;
  const hasRows = end > start;
  return {
    start: hasRows ? bars.time[start] : null,
    end: hasRows ? bars.time[end - 1] + TIMEFRAME_MS[bars.timeframe] : null,
    firstBar: hasRows ? start - firstRow : null,
    bars: Math.max(0, end - start),
    barsInRange: lastRow - firstRow,
    warmupBars: warmup.bars,
    warmupSource: warmup.source,
  };
}

const conventions = (periods: number): object => ({
  dailyEquity: 'last mark of each UTC day that has bars',
  periodsPerYear: periods,
  riskFreeRate: 0,
  deviation: 'sample (ddof 1)',
  cagr: 'calendar years of 365.25 days',
  benchmark: 'buy and hold of the signal instrument from the first evaluated open',
  fractions: 'results are fractions (0.125 = 12.5 %)',
  undefined: 'null',
});

const PREVIEW_POINTS = 500;

function preview({ simulation, input }: ReportInput): [number, number][] {
  const { equity } = simulation;
  const count = Math.min(PREVIEW_POINTS, equity.length);
  return Array.from({ length: count }, (_, point) => {
    const index = Math.floor(((point + 1) * equity.length) / count) - 1;
    return [input.bars.time[input.start + index], equity[index]];
  });
}
