// The summary: every key of summaryJson, flat, with the blocks and the trace (formulas: semantics §5).
import { TIMEFRAME_MS, type Instrument } from '../bars/bars.ts';
import { periodsPerYear, periodsPerYearReason } from '../bars/periodsPerYear.ts';
import { dataQuality, type DataQuality } from './dataQuality.ts';
import { flatParts, flatSummary, measureRun, type FlatSummary } from './flatSummary.ts';
import { flatJsonOf, numbersOfParts } from './flatJson.ts';
import { funnelOf } from './funnel.ts';
import { type Exits, exitsOf } from './exits.ts';
import { extremes, type Positions } from './positions.ts';
import { equityPreview } from './equityPreview.ts';
import type { JsonPiece } from './jsonWriter.ts';
import type { ReportInput } from './reportInput.ts';
import type { Band } from '../simulate/band.ts';
import { monthMarks, monthRows, monthsJson, monthsOf, type MonthRow } from './months.ts';
import type { ResultSeries } from './writtenResult.ts';
import { ruleBits, ruleStatistics, soleBlockers } from './ruleStatistics.ts';
import { ruleStatsSummary, type RuleStatsSummary } from './ruleStatsSummary.ts';
import { fitTrace, shownTrace, traceOf, type StrategyTrace } from './trace.ts';

/** Every key of summaryJson: the flat ones and the blocks. */
export interface Summary extends FlatSummary {
  readonly byExitReason: Exits['byReason'];
  readonly bySide: Readonly<
    Record<'long' | 'short', { readonly positions: number; readonly pnl: number; readonly winRate: number | null }>
  >;
  readonly byMonth: readonly MonthRow[];
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
  /** At most 500 [time, equity] points: the last one of each interval. */
  readonly equityPreview: readonly (readonly [number, number])[];
  readonly strategyTrace?: StrategyTrace;
  readonly ruleStatsSummary?: RuleStatsSummary;
}

/**
 * The summary as JSON.stringify writes it, in two parts: each is written once, for the size limit of the trace, for the
 * hash and for storage. The object is made when it is first asked for.
 */
export interface WrittenSummary {
  readonly summary: () => Summary;
  /** The members that are numbers or null (flatJson.ts). */
  readonly flatNumbers: Float64Array;
  /** All members, in pieces. */
  readonly jsonPieces: readonly JsonPiece[];
  /** The members that are objects or lists, in pieces, with nothing in the lists that `series` holds as numbers. */
  readonly thinBlocksJson: readonly (string | Uint8Array)[];
  readonly series: ResultSeries;
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
}

/** Without the lists that are written as numbers. */
type Blocks = Omit<Summary, keyof FlatSummary | 'byMonth' | 'equityPreview' | 'strategyTrace' | 'ruleStatsSummary'>;

export function summarize(report: ReportInput): WrittenSummary {
  const { simulation, input, evaluated, boundRules } = report;
  const { start, end, bars, instrument } = input;
  const { initialBalance } = input.config;
  const measured = measureRun(report);
  const { daily, positions } = measured;
  const months = monthsOf(daily.day);
  const monthEquity = monthMarks(months, daily.equity);
  const flat = flatParts(report, measured);
  const { netProfit, returnPct, buyHoldReturnPct } = flat.money;
  const { totalFees } = flat.costs;
  const exits = exitsOf(simulation.tradeLog);
  const blocks: Blocks = {
    byExitReason: exits.byReason,
    bySide: { long: sideOf(positions, 1), short: sideOf(positions, -1) },
    fees: feesBlock(report, totalFees),
    ambiguity: ambiguityBlock(report, exits.byMethod),
    dataQuality: dataQuality(bars, input.fine, report.firstRow, report.endRow),
    evaluationWindow: evaluationWindow(report),
    conventions: conventions(instrument),
  };
  const bits = ruleBits(evaluated.plan.conditions, evaluated, boundRules.recorded);
  const blockers = soleBlockers(bits, { start, end: Math.max(start, end) });
  const stats = ruleStatistics(bits, blockers, evaluated, { start, end: Math.max(start, end) });
  const entryIds = boundRules.entries.map((entry) => entry.id);
  const rules = ruleStatsSummary(
    bits,
    stats,
    entryIds,
    { simulation, positions },
    { start, end: Math.max(start, end) },
  );
  const bestPnl = Math.max(0, extremes(positions.pnl)[1] ?? 0);
  const funnel = funnelOf(report, bits, exits.counts);
  const trace = traceOf({
    report,
    bits,
    blockers,
    stats,
    funnel,
    positions: flat.positions,
    netProfit,
    bestPnl,
    totalFees,
    returnPct,
    buyHoldReturnPct,
  });
  const fitted = fitTrace(trace, rules);
  const preview = equityPreview(report);
  const { byExitReason: byReason, bySide, ...others } = blocks;
  const firstJson = `${JSON.stringify({ byExitReason: byReason, bySide }).slice(0, -1)},"byMonth":`;
  const othersJson = `,${JSON.stringify(others).slice(1, -1)},"equityPreview":`;
  const flatNumbers = numbersOfParts(flat);
  let summary: Summary | undefined;
  return {
    summary: () =>
      (summary ??= {
        ...flatSummary(flat),
        byExitReason: byReason,
        bySide,
        byMonth: monthRows(months.names, monthEquity, initialBalance),
        ...others,
        equityPreview: preview.points(),
        strategyTrace: shownTrace(fitted.trace),
        ruleStatsSummary: fitted.rules,
      }),
    diagnosis: fitted.trace.diagnosis[0]?.code ?? null,
    flatNumbers,
    jsonPieces: [
      flatJsonOf(flatNumbers),
      `,${firstJson.slice(1)}`,
      ...monthsJson(months, monthEquity, initialBalance),
      othersJson,
      ...preview.json,
      fitted.json,
      '}',
    ],
    thinBlocksJson: [`${firstJson}[]${othersJson}[]`, fitted.json, '}'],
    series: { times: preview.times, marks: preview.marks, months: months.numbers, monthEquity },
  };
}

function sideOf({ count, side, pnl }: Positions, wanted: 1 | -1): Summary['bySide']['long'] {
  let positions = 0;
  let wins = 0;
  // Compensated as in `compensatedSum`.
  let total = 0;
  let lost = 0;
  for (let index = 0; index < count; index++) {
    if (side[index] !== wanted) continue;
    const value = pnl[index];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
    positions++;
    wins += +(value > 0);
  }
  return { positions, pnl: total + lost, winRate: positions === 0 ? null : wins / positions };
}

function feesBlock({ simulation, input }: ReportInput, total: number): Summary['fees'] {
  const { totals } = simulation;
  const tiers = input.config.execution.feeModel.tiers.map((tier, index) => ({ ...tier, ...totals.tiers[index] }));
  return { total, maker: totals.makerFees, taker: totals.takerFees, tiers };
}

function ambiguityBlock({ simulation, input, band }: ReportInput, exitsByMethod: Exits['byMethod']): object {
  const { ambiguityResolution: resolution, ambiguityFallback: fallback } = input.config;
  return { resolution, fallback, ...simulation.ambiguity, exitsByMethod, band: bandBlock(band) };
}

const bandBlock = (band: Band): object => ({
  ...band,
  note: 'Returns with the fallback replaced by each extreme reading: a sensitivity, not a bound.',
});

function evaluationWindow({ input, firstRow, endRow, warmup }: ReportInput): object {
  const { start, end, bars } = input;
  const hasRows = end > start;
  return {
    start: hasRows ? bars.time[start] : null,
    end: hasRows ? bars.time[end - 1] + TIMEFRAME_MS[bars.timeframe] : null,
    firstBar: hasRows ? start - firstRow : null,
    bars: Math.max(0, end - start),
    barsInRange: endRow - firstRow,
    warmupBars: warmup.bars,
    warmupSource: warmup.source,
  };
}

const conventions = (instrument: Instrument): object => ({
  dailyEquity: 'last mark of each UTC day that has bars',
  periodsPerYear: periodsPerYear(instrument),
  periodsPerYearReason: periodsPerYearReason(instrument),
  riskFreeRate: 0,
  deviation: 'sample (ddof 1)',
  cagr: 'calendar years of 365.25 days',
  benchmark: 'buy and hold of the signal instrument from the first evaluated open',
  fractions: 'results are fractions (0.125 = 12.5 %)',
  undefined: 'null',
});
