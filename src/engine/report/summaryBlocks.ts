// The blocks of a summary that are not lists: results by exit and by side, the circumstances of a run, and conventions.
import type { Instrument } from '../bars/bars.ts';
import { closeOf } from '../bars/timeframes.ts';
import { periodsPerYear, periodsPerYearReason } from '../bars/periodsPerYear.ts';
import { hasDividends, type ResolvedConfig } from '../config.ts';
import { hasOrderFees } from '../definitions/fees/orderFees.ts';
import { lostIn } from '../kernels/compensatedSum.ts';
import type { FeeKinds } from '../simulate/costs.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import { dataQuality, type DataQuality } from './dataQuality.ts';
import type { ExitStatistics } from './exitStatistics.ts';
import type { Positions } from './positions.ts';
import { summedDataQuality } from './portfolio/summedDataQuality.ts';
import type { ReportInput } from './reportInput.ts';

interface SideResult {
  readonly positions: number;
  readonly pnl: number;
  readonly winRate: number | null;
}

export interface Breakdowns {
  readonly byExitReason: ExitStatistics['byReason'];
  readonly bySide: Readonly<Record<'long' | 'short', SideResult>>;
}

export interface Circumstances {
  readonly fees: {
    readonly total: number;
    readonly maker: number;
    readonly taker: number;
    readonly tiers: readonly object[];
    /** What they consist of; absent where the config has no fees per order. */
    readonly byKind?: FeeKinds;
  };
  /** What holding cost and earned beside funding; absent where the config has neither borrowing nor dividends. */
  readonly carry?: { readonly borrowPaid: number; readonly dividendsReceived: number };
  readonly ambiguity: Ambiguity;
  readonly dataQuality: DataQuality;
  readonly evaluationWindow: EvaluationWindow;
}

interface Ambiguity extends Readonly<SimulationResult['ambiguity']> {
  readonly resolution: ResolvedConfig['ambiguityResolution'];
  readonly fallback: ResolvedConfig['ambiguityFallback'];
  readonly exitsByMethod: ExitStatistics['byMethod'];
  readonly band: ReportInput['band'] & { readonly note: typeof BAND_NOTE };
  /** Fills refused for want of what another instrument freed inside the same bar; absent in runs of one instrument. */
  readonly contestedFunds?: number;
}

interface EvaluationWindow {
  readonly start: number | null;
  readonly end: number | null;
  readonly firstBar: number | null;
  readonly bars: number;
  readonly barsInRange: number;
  readonly warmupBars: number;
  readonly warmupSource: ReportInput['warmup']['source'];
}

/** Results by exit reason and by side. */
export const breakdownsOf = (positions: Positions, exits: ExitStatistics): Breakdowns => ({
  byExitReason: exits.byReason,
  bySide: { long: sideOf(positions, 1), short: sideOf(positions, -1) },
});

/** What the result depends on besides the rules: costs, ambiguous bars, data and window. */
export const circumstancesOf = (report: ReportInput, totalFees: number, exits: ExitStatistics): Circumstances => ({
  fees: feesBlock(report, totalFees),
  ...carryBlock(report),
  ambiguity: ambiguityBlock(report, exits.byMethod),
  dataQuality:
    report.portfolio === undefined
      ? dataQuality(report.input.bars, report.input.fine, report.firstRow, report.endRow, report.input.instrument)
      : summedDataQuality(report.portfolio),
  evaluationWindow: evaluationWindow(report),
});

function sideOf({ count, side, pnl }: Positions, wanted: 1 | -1): SideResult {
  let positions = 0;
  let wins = 0;
  // Compensated.
  let total = 0;
  let lost = 0;
  for (let index = 0; index < count; index++) {
    if (side[index] !== wanted) continue;
    const value = pnl[index];
    const next = total + value;
    lost += lostIn(total, value, next);
    total = next;
    positions++;
    wins += +(value > 0);
  }
  return { positions, pnl: total + lost, winRate: positions === 0 ? null : wins / positions };
}

function feesBlock({ simulation, input }: ReportInput, total: number): Circumstances['fees'] {
  const { totals } = simulation;
  const { feeModel } = input.config.execution;
  const tiers = feeModel.tiers.map((tier, index) => ({ ...tier, ...totals.tiers[index] }));
  const byKind = hasOrderFees(feeModel) ? totals.feeKinds : undefined;
  return { total, maker: totals.makerFees, taker: totals.takerFees, tiers, ...(byKind && { byKind }) };
}

function carryBlock({ simulation, input }: ReportInput): Pick<Circumstances, 'carry'> {
  if (input.config.borrowRatePerYear === undefined && !hasDividends(input.config)) return {};
  const { borrowPaid, dividendsReceived } = simulation.totals;
  return { carry: { borrowPaid, dividendsReceived } };
}

const BAND_NOTE = 'Returns with the fallback replaced by each extreme reading: a sensitivity, not a bound.';

function ambiguityBlock(
  { simulation, input, band, portfolio }: ReportInput,
  exitsByMethod: ExitStatistics['byMethod'],
): Ambiguity {
  const { ambiguityResolution: resolution, ambiguityFallback: fallback } = input.config;
  const { undecidedBars, drilledBars, fallbackBars, childrenMissingBars } = simulation.ambiguity;
  const { low, high, pessimistic, optimistic } = band;
  return {
    resolution,
    fallback,
    undecidedBars,
    drilledBars,
    fallbackBars,
    childrenMissingBars,
    exitsByMethod,
    band: { low, high, pessimistic, optimistic, note: BAND_NOTE },
    ...(portfolio?.isNamed && { contestedFunds: portfolio.simulation.contestedFunds }),
  };
}

function evaluationWindow({ input, firstRow, endRow, warmup }: ReportInput): EvaluationWindow {
  const { start, end, bars } = input;
  const hasRows = end > start;
  return {
    start: hasRows ? bars.time[start] : null,
    end: hasRows ? closeOf(bars.timeframe, bars.time[end - 1]) : null,
    firstBar: hasRows ? start - firstRow : null,
    bars: Math.max(0, end - start),
    barsInRange: endRow - firstRow,
    warmupBars: warmup.bars,
    warmupSource: warmup.source,
  };
}

interface Conventions {
  readonly block: object;
  readonly json: string;
}
const knownConventions = new WeakMap<Instrument, Conventions>();

const OWN_BENCHMARK = 'buy and hold of the signal instrument from the first evaluated open';

/** All runs of an instrument with its own benchmark share them. */
export function conventionsOf({ input, benchmark, portfolio }: ReportInput): Conventions {
  const { instrument, config } = input;
  const { riskFreeRatePerYear = 0 } = config;
  const kept = hasDividends(config) ? ', dividends kept in cash' : '';
  const write = (text: string): Conventions => written(instrument, `${text}${kept}`, riskFreeRatePerYear);
  if (benchmark !== undefined) return write(`buy and hold of ${benchmark.source.symbol} from its first open`);
  if (portfolio?.isNamed === true) return write('equal money in each instrument from its first evaluated open, held');
  if (riskFreeRatePerYear !== 0 || hasDividends(config)) return write(OWN_BENCHMARK);
  let known = knownConventions.get(instrument);
  if (known === undefined) knownConventions.set(instrument, (known = written(instrument, OWN_BENCHMARK, 0)));
  return known;
}

function written(instrument: Instrument, benchmark: string, riskFreeRate: number): Conventions {
  const block = conventions(instrument, benchmark, riskFreeRate);
  return { block, json: JSON.stringify(block) };
}

const conventions = (instrument: Instrument, benchmark: string, riskFreeRate: number): object => ({
  dailyEquity: 'last mark of each UTC day that has bars',
  periodsPerYear: periodsPerYear(instrument),
  periodsPerYearReason: periodsPerYearReason(instrument),
  riskFreeRate,
  deviation: 'sample (ddof 1)',
  cagr: 'calendar years of 365.25 days',
  benchmark,
  fractions: 'results are fractions (0.125 = 12.5 %)',
  undefined: 'null',
});
