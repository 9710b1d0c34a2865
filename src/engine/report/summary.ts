// The summary: every key of summaryJson, flat, with the blocks and the trace (formulas: semantics §5).
import type { FlatSummary } from '../definitions/statistics/statistics.ts';
import { flatNumbersOf, flatParts, flatSummary, measureRun, type FlatParts } from './flatSummary.ts';
import { exitStatistics, type ExitStatistics } from './exitStatistics.ts';
import { extremes } from './positionStatistics.ts';
import type { Positions } from './positions.ts';
import type { Diagnosis } from './diagnosisFindings.ts';
import { instrumentRows, MOST_INSTRUMENTS, type InstrumentRow } from './portfolio/instrumentRows.ts';
import { portfolioBlock, type PortfolioBlock } from './portfolio/portfolioBlock.ts';
import { portfolioDiagnosis } from './portfolio/portfolioDiagnosis.ts';
import { tracedInstruments } from './portfolio/tracedInstruments.ts';
import { equityPreview } from './equityPreview.ts';
import { constantJson, JsonWriter, type JsonPiece } from './jsonWriter.ts';
import type { ReportInput } from './reportInput.ts';
import { monthMarks, monthRows, monthsOf, type MonthRow } from './months.ts';
import { breakdownsOf, circumstancesOf, conventionsOf, type Breakdowns, type Circumstances } from './summaryBlocks.ts';
import { ruleStatsSummary, type RuleStatsSummary } from './ruleStatsSummary.ts';
import { tracedConditions } from './tracedConditions.ts';
import { fitTrace, shownTrace, traceOf, type FittedTrace, type StrategyTrace } from './trace.ts';

/** Every key of summaryJson: the flat ones and the blocks. */
export interface Summary extends FlatSummary, Breakdowns, Circumstances {
  readonly byMonth: readonly MonthRow[];
  readonly conventions: object;
  /** At most 500 [time, equity] points: the last one of each interval. */
  readonly equityPreview: readonly (readonly [number, number])[];
  readonly strategyTrace?: StrategyTrace;
  readonly ruleStatsSummary?: RuleStatsSummary;
  /** At most MOST_INSTRUMENTS; absent in runs of one instrument, as is `portfolio`. */
  readonly instruments?: readonly InstrumentRow[];
  readonly portfolio?: PortfolioBlock;
}

/** The lists of a summary that are most of its text, as numbers. */
export interface ResultSeries {
  /** The points of the equity preview. Runs over the same range share `times`. */
  readonly times: Float64Array;
  readonly marks: Float64Array;
  /** The months of the monthly table, as in `Months`, which runs over the same range share. */
  readonly months: Float64Array;
  readonly monthEquity: Float64Array;
}

/**
 * The summary as it is hashed and stored: numbers, lists of numbers, and the rest as JSON. The object is made when it
 * is first asked for.
 */
export interface WrittenSummary {
  readonly summary: () => Summary;
  /** The members that are numbers or null, as doubles at their positions (definitions/statistics/statistics.ts). */
  readonly flatNumbers: Float64Array;
  /** The members that are objects or lists, in pieces. The lists that `series` holds as numbers are empty in it. */
  readonly thinBlocksJson: readonly JsonPiece[];
  readonly series: ResultSeries;
  /** The code of the first entry of the diagnosis. */
  readonly diagnosis: string | null;
}

const json = new JsonWriter();
const TEXTS = { comma: constantJson(','), byMonth: constantJson(',"byMonth":') } as const;

/** Computes the summary of a simulated run. When memory was lent, it is valid until the next run of this thread. */
export function summarize(report: ReportInput): WrittenSummary {
  const { initialBalance } = report.input.config;
  const measured = measureRun(report);
  const { daily, positions } = measured;
  const months = monthsOf(daily.day);
  const monthEquity = monthMarks(months, daily.equity);
  const flat = flatParts(report, measured);
  const exits = exitStatistics(report.simulation.tradeLog);
  const breakdowns = breakdownsOf(positions, exits);
  const circumstances = circumstancesOf(report, flat.costs.totalFees, exits);
  const conventions = conventionsOf(report);
  const ofPortfolio = portfolioParts(report, flat);
  const fitted = fittedTraceOf(report, flat, positions, exits, ofPortfolio);
  const preview = equityPreview(report);
  const beforeMonths = json.begin().members(breakdowns).add(TEXTS.byMonth).bytes();
  json.begin().add(TEXTS.comma).members(circumstances);
  const beforePreview = json.addText(`,"conventions":${conventions.json},"equityPreview":`).bytes();
  const portfolioJson = ofPortfolio === null ? '' : `,${JSON.stringify(ofPortfolio.blocks).slice(1, -1)}`;
  const flatNumbers = flatNumbersOf(flat);
  let summary: Summary | undefined;
  return {
    summary: () =>
      (summary ??= {
        ...flatSummary(flat),
        ...breakdowns,
        byMonth: monthRows(months.numbers, monthEquity, initialBalance),
        ...circumstances,
        conventions: conventions.block,
        equityPreview: preview.points(),
        strategyTrace: shownTrace(fitted.trace),
        ruleStatsSummary: fitted.rules,
        ...ofPortfolio?.blocks,
      }),
    diagnosis: fitted.trace.diagnosis[0]?.code ?? null,
    flatNumbers,
    thinBlocksJson: ['{', beforeMonths, '[]', beforePreview, '[]', fitted.json, `${portfolioJson}}`],
    series: { times: preview.times, marks: preview.marks, months: months.numbers, monthEquity },
  };
}

/** The trace and the rule statistics, cut to their limit of bytes. */
function fittedTraceOf(
  report: ReportInput,
  flat: FlatParts,
  positions: Positions,
  exits: ExitStatistics,
  ofPortfolio: PortfolioParts | null,
): FittedTrace {
  const { simulation, boundRules, portfolio } = report;
  const { netProfit, returnPct, buyHoldReturnPct } = flat.money;
  const { bits, stats, funnel, nearMisses, samples, searches } =
    portfolio === undefined
      ? tracedConditions(report, exits.counts)
      : tracedInstruments(report, portfolio, exits.counts);
  const entryIds = boundRules.entries.map((entry) => entry.id);
  const rules = ruleStatsSummary(bits, stats, entryIds, { simulation, positions }, searches.neverTogether);
  const diagnosed = {
    report,
    bits,
    stats,
    funnel,
    positions: flat.positions,
    netProfit,
    bestPnl: Math.max(0, extremes(positions.pnl)[1] ?? 0),
    costs: flat.costs,
    returnPct,
    buyHoldReturnPct,
    turnoverPerYear: ofPortfolio?.blocks.portfolio.turnoverPerYear ?? null,
    searches,
    ofPortfolio: ofPortfolio?.diagnosis ?? [],
  };
  return fitTrace(traceOf(diagnosed, nearMisses, samples), rules);
}

/** What only runs of several instruments have. */
interface PortfolioParts {
  readonly blocks: Required<Pick<Summary, 'instruments' | 'portfolio'>>;
  readonly diagnosis: readonly Diagnosis[];
}

/** null: a run of one instrument. */
function portfolioParts(report: ReportInput, flat: FlatParts): PortfolioParts | null {
  const { portfolio } = report;
  if (portfolio?.isNamed !== true) return null;
  const rows = instrumentRows(report, portfolio);
  const blocks = {
    instruments: rows.slice(0, MOST_INSTRUMENTS),
    portfolio: portfolioBlock(report, portfolio, flat.use.turnover),
  };
  return { blocks, diagnosis: portfolioDiagnosis(report, portfolio, rows, flat) };
}
